import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import type { Diagnosis } from '../../src/delivery/diagnosis/diagnosis.ts';
import { withServiceName } from '../../src/delivery/diagnosis/explain.ts';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import { SampleGameServer } from '../../src/demo/game-server.ts';
import type { Behaviour } from '../../src/demo/votifier-listener.ts';
import { OTHER_SERVICES } from '../../src/listeners/outcomes/other-services.ts';
import { type Fault, OUTCOMES, type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';
import { listen, startFakeHttpListener, testCertificate } from '../support/fake-http-listener.ts';
import { useFastClock } from '../support/fast-clock.ts';
import { deafTarget } from './remote-peer.ts';

const deliveryBench = deliveryBenchesOfFile();

/** The faults that the tests of this file have produced with real connections. */
const made = new Set<string>();

/** A server whose listener can be set to anything and then diagnosed. */
async function clinic() {
  const bench: DeliveryBench = await deliveryBench();
  const { deps, serverId } = bench;
  // Many of these faults are noticed by a time-out.
  useFastClock();
  const diagnose = async (): Promise<Diagnosis> => {
    const diagnosis = await diagnoseListener({ ...deps, send: createVoteSender(deps.config) }, serverId);
    if (!diagnosis) throw new Error('there is no listener');
    if (diagnosis.fault) made.add(diagnosis.fault);
    return diagnosis;
  };
  return { ...bench, diagnose };
}

const rawPeer = (behave: (socket: Socket) => void) => listen(net.createServer(behave));

describe('a working listener', () => {
  it('gets a diagnosis without a fault', async () => {
    const { diagnose, listener } = await clinic();
    expect(await diagnose()).toEqual({
      outcome: 'delivered',
      confirmed: true,
      fault: null,
      step: 'acknowledgement',
      cause: 'The listener took the vote and said so.',
      advice: expect.stringMatching(/^There is nothing to do; if .* server behind the proxy/),
    });
    expect(listener.votes.map(({ username }) => username)).toEqual(['TallyportTest']);
  });

  it('cannot be confirmed with v1, and the diagnosis says so', async () => {
    const { diagnose, listener, set } = await clinic();
    await set({ protocol: 'votifier-v1', secret: listener.publicKeyLine });
    expect(await diagnose()).toMatchObject({
      outcome: 'sent-not-confirmed',
      confirmed: false,
      fault: null,
      step: 'key-or-token',
      cause: expect.stringContaining(
        'many Votifier v1 listeners say no more than that, even when the key is wrong',
      ),
    });
  });
});

describe('a fault on the way to the listener', () => {
  it('dns-not-found', async () => {
    const { diagnose, set } = await clinic();
    await set({ host: 'nowhere.invalid' });
    expect(await diagnose()).toMatchObject({ fault: 'dns-not-found', step: 'name-resolution' });
  });

  it('address-refused', async () => {
    const { diagnose, set } = await clinic();
    await set({ host: '10.0.0.7' });
    expect(await diagnose()).toMatchObject({
      fault: 'address-refused',
      step: 'address-policy',
      outcome: 'configuration',
    });
  });

  it('connection-refused', async () => {
    const { diagnose, listener } = await clinic();
    await listener.stop();
    expect(await diagnose()).toMatchObject({ fault: 'connection-refused', step: 'connecting' });
  });

  it('unreachable: there is no route', async () => {
    const { diagnose, set } = await clinic();
    // The broadcast address of loopback: the system cannot connect to it.
    await set({ host: '127.255.255.255' });
    expect(await diagnose()).toMatchObject({ fault: 'unreachable', step: 'connecting' });
  });

  it('firewall-rejected', async () => {
    const { deps, serverId } = await clinic();
    const send = async () => outcome('firewall-rejected', 'resolved');
    expect(await diagnoseListener({ ...deps, send }, serverId)).toMatchObject({
      fault: 'firewall-rejected',
      step: 'connecting',
      ...OUTCOMES['firewall-rejected'].text,
    });
    made.add('firewall-rejected');
  });

  it('connect-timeout', async () => {
    const { diagnose, set } = await clinic();
    const { port } = await deafTarget();
    await set({ port });
    expect(await diagnose()).toMatchObject({ fault: 'connect-timeout', step: 'connecting' });
  });
});

describe('another service on the port', () => {
  it('silent: it sends nothing in any protocol', async () => {
    const { diagnose, set } = await clinic();
    await set({ port: await rawPeer(() => undefined) });
    expect(await diagnose()).toMatchObject({ fault: 'silent', step: 'greeting' });
  });

  it('http-server', async () => {
    const { diagnose, set } = await clinic();
    const site = await startFakeHttpListener();
    site.answer = (response) => response.writeHead(404).end('Not here');
    await set({ port: site.port });
    expect(await diagnose()).toMatchObject({
      fault: 'http-server',
      step: 'greeting',
      reply: expect.stringMatching(/^HTTP\/1.1 404/),
    });
  });

  it('minecraft-server: it is the port of the game itself', async () => {
    const { diagnose, set } = await clinic();
    const game = new SampleGameServer(() => ({ motd: 'Welcome', version: '1.21.4', online: 3, max: 20 }));
    await game.start();
    onTestFinished(() => game.stop());
    await set({ port: game.port });
    expect(await diagnose()).toMatchObject({
      fault: 'minecraft-server',
      reply: expect.stringContaining('Welcome'),
    });
  });

  it('tls-server', async () => {
    const { diagnose, set } = await clinic();
    const pem = testCertificate('votes');
    await set({ port: await listen(tls.createServer({ key: pem, cert: pem })) });
    expect(await diagnose()).toMatchObject({ fault: 'tls-server', step: 'greeting' });
  });

  it.each([
    ['the text header', 'PROXY TCP4 192.0.2.1 192.0.2.2 40000 8192\r\nVOTIFIER 2 abc\n'],
    ['the binary header', Buffer.from('0d0a0d0a000d0a515549540a2000 0000'.replace(' ', ''), 'hex')],
  ])('proxy-protocol: the service sends %s first', async (_what, header) => {
    const { diagnose, set } = await clinic();
    await set({ port: await rawPeer((socket) => socket.write(header)) });
    expect(await diagnose()).toMatchObject({ fault: 'proxy-protocol', step: 'greeting' });
  });

  it('proxy-protocol: the service expects the header', async () => {
    const { diagnose, set } = await clinic();
    const port = await rawPeer((socket) => {
      socket.once('data', (bytes) => {
        if (bytes.toString('latin1').startsWith('PROXY ')) socket.write('VOTIFIER 2 abc\n');
        else socket.destroy();
      });
    });
    await set({ port });
    expect(await diagnose()).toMatchObject({ fault: 'proxy-protocol', step: 'greeting' });
  });

  it.each([
    'SSH-2.0-OpenSSH_9.2p1 Debian-2',
    '220 mail.example.org ESMTP Postfix',
    '* OK IMAP4rev1 ready',
  ])('other-protocol: %s', async (banner) => {
    const { diagnose, set } = await clinic();
    await set({ port: await rawPeer((socket) => socket.write(`${banner}\r\n`)) });
    expect(await diagnose()).toMatchObject({ fault: 'other-protocol', reply: banner });
  });

  it('shows at most 200 printable characters of an answer', async () => {
    const { diagnose, set } = await clinic();
    await set({ port: await rawPeer((socket) => socket.write(`\u001b[2J\u202e${'x'.repeat(900)}\n`)) });
    const { reply = '' } = await diagnose();
    expect([...reply]).toHaveLength(200);
    expect(reply).not.toMatch(/\p{C}/u);
  });
});

describe('a Votifier listener that does not take the vote', () => {
  type Case = {
    fault: Fault;
    code: OutcomeCode;
    step: Diagnosis['step'];
    behaviour?: Behaviour;
    secret?: string;
  };
  const error = (cause: string, text: string) => JSON.stringify({ status: 'error', cause, error: text });

  it.each<Case>([
    { fault: 'v1-only', code: 'v1-only', step: 'protocol-version', behaviour: { v1Only: true } },
    {
      fault: 'bad-signature',
      code: 'bad-signature',
      step: 'key-or-token',
      secret: 'another-token-than-the-listener-has',
    },
    {
      fault: 'challenge-refused',
      code: 'challenge-refused',
      step: 'acknowledgement',
      behaviour: { answer: error('CorruptedFrameException', 'Challenge is not valid') },
    },
    {
      fault: 'name-too-long',
      code: 'name-too-long',
      step: 'acknowledgement',
      behaviour: { answer: error('CorruptedFrameException', 'Username too long') },
    },
    {
      fault: 'closed-without-answer',
      code: 'closed-without-answer',
      step: 'acknowledgement',
      behaviour: { onFrame: 'close' },
    },
    {
      fault: 'closed-without-answer',
      code: 'closed-before-greeting',
      step: 'greeting',
      behaviour: { onConnect: 'close' },
    },
    {
      fault: 'garbage-answer',
      code: 'garbage-answer',
      step: 'acknowledgement',
      behaviour: { answer: '{"status":"perhaps"}' },
    },
    {
      fault: 'listener-error',
      code: 'unknown-error',
      step: 'acknowledgement',
      behaviour: { answer: error('java.lang.Exception', 'disk full') },
    },
    { fault: 'too-slow', code: 'no-answer', step: 'acknowledgement', behaviour: { onFrame: 'silence' } },
    { fault: 'too-slow', code: 'too-slow', step: 'greeting', behaviour: { dripMs: 150 } },
  ])('$fault at $step', async ({ fault, code, step, behaviour = {}, secret }) => {
    const { diagnose, listener, set } = await clinic();
    if (secret) await set({ secret });
    listener.behaviour = behaviour;
    const explained = withServiceName(OUTCOMES[code].text, 'Tallyport');
    expect(await diagnose()).toMatchObject({ fault, step, ...explained });
  });

  it('unknown-service', async () => {
    const { diagnose, listener } = await clinic();
    listener.tokens = { 'another-site': 'token' };
    expect(await diagnose()).toMatchObject({ fault: 'unknown-service', step: 'key-or-token' });
  });

  it('key-invalid: a v1 listener sends this error', async () => {
    const { diagnose, listener, set } = await clinic();
    await set({ protocol: 'votifier-v1', secret: listener.publicKeyLine });
    listener.behaviour = {
      answer: error('java.lang.RuntimeException', 'Could not decrypt data from 127.0.0.1'),
    };
    expect(await diagnose()).toMatchObject({ fault: 'key-invalid', step: 'key-or-token' });
  });

  it('v2-only: the server has a v1 key', async () => {
    const { diagnose, listener, set } = await clinic();
    await set({ protocol: 'votifier-v1', secret: listener.publicKeyLine });
    listener.behaviour = {
      answer: error('CorruptedFrameException', 'This server only accepts well-formed Votifier v2 packets.'),
    };
    expect(await diagnose()).toMatchObject({ fault: 'v2-only', step: 'protocol-version' });
  });

  it.each([
    ['token-malformed', 'votifier-v2', 'two words'],
    ['key-invalid', 'votifier-v1', 'abcdef0123456789'],
  ] as const)('%s is refused when it is entered', async (code, protocol, secret) => {
    const { set } = await clinic();
    await expect(set({ protocol, secret })).rejects.toMatchObject({ code });
  });
});

describe('a website', () => {
  it.each([
    [401, 'bad-signature', 'key-or-token', /does not accept our signature/],
    [404, 'http-server', 'acknowledgement', /nothing at this URL/],
    [302, 'http-server', 'acknowledgement', /redirect/],
    [405, 'http-server', 'acknowledgement', /takes no POST/],
    [400, 'vote-refused', 'acknowledgement', /acknowledged none/],
    [422, 'vote-refused', 'acknowledgement', /refused this player/],
    [500, 'http-server', 'acknowledgement', /cannot take votes now/],
  ] as const)('that answers %s', async (status, fault, step, cause) => {
    const { deps, serverId, diagnose } = await clinic();
    const site = await startFakeHttpListener();
    site.answer = (response) => response.writeHead(status, { location: '/' }).end();
    const url = `http://127.0.0.1:${site.port}/votes`;
    await setHttpListener(deps, serverId, { url, serviceName: 'Tallyport' }, 'test');
    expect(await diagnose()).toMatchObject({ fault, step, cause: expect.stringMatching(cause) });
  });

  it('http-unverified, when it does not repeat the challenge; the listener has the same state', async () => {
    const { deps, serverId, diagnose } = await clinic();
    const site = await startFakeHttpListener();
    site.answerChallenge = (response) => response.end('{}');
    const url = `http://127.0.0.1:${site.port}/votes`;
    await setHttpListener(deps, serverId, { url, serviceName: 'Tallyport' }, 'test');
    expect(await diagnose()).toMatchObject({
      fault: 'http-unverified',
      cause: expect.stringContaining('did not repeat it'),
    });
    made.add('http-unverified');
  });
});

it('not-fetched: nothing takes the votes of a listener that fetches for 40 s', async () => {
  const { deps, serverId } = await deliveryBench();
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  const now = performance.now.bind(performance);
  onTestFinished(() => void vi.restoreAllMocks());
  // Called when the wait has begun: then the time passes at once.
  const announceDueVotes = async () => {
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 41 * SECOND);
    return true;
  };
  const waiting = {
    ...deps,
    producer: { ...deps.producer, announceDueVotes },
    send: createVoteSender(deps.config),
  };
  const diagnosis = await diagnoseListener(waiting, serverId);
  expect(diagnosis).toMatchObject({
    outcome: 'transient',
    fault: 'not-fetched',
    step: 'acknowledgement',
    ...OUTCOMES['not-fetched'].text,
  });
  expect((await deps.listeners.findOne({ serverId }))?.tested?.code).toBe('not-fetched');
  made.add('not-fetched');
});

it('every fault was produced above with real connections', () => {
  const faults = Object.values(OUTCOMES).flatMap(({ fault }) => fault ?? []);
  expect(made).toEqual(new Set([...faults, ...Object.keys(OTHER_SERVICES)]));
});
