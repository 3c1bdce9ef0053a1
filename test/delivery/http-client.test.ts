import net from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, test } from 'vitest';
import { type HttpTarget, postVote } from '../../src/delivery/http/http-client.ts';
import { newSigningSecret } from '../../src/delivery/http/http-message.ts';
import type { SendOptions } from '../../src/delivery/votifier/votifier-client.ts';
import { DAY, HOUR } from '../../src/platform/clock.ts';
import {
  listen,
  startFakeHttpListener,
  testCertificate,
  trustTestAuthority,
} from '../support/fake-http-listener.ts';

const VOTE = {
  id: '01998a3e-7e4b-7000-8000-0123456789ab',
  username: 'Stève 🐑',
  votedAt: new Date('2026-11-21T08:00:00.000Z'),
};
const SERVER_ID = '0123456789abcdef01234567';

const OPTIONS: SendOptions = {
  ranges: { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8')], REFUSED_RANGES: [] },
  timeoutMs: 500,
  mayWrite: () => true,
  lookup: async () => [{ address: '127.0.0.1' }],
};

function targetAt(url: string): HttpTarget {
  return { protocol: 'http', url, serverId: SERVER_ID, secret: newSigningSecret(), previous: null };
}

const plain = (port: number, path = '/votes') => targetAt(`http://votes.example.org:${port}${path}`);

function send(target: HttpTarget, options: Partial<SendOptions> = {}, now = new Date()) {
  return postVote(target, VOTE, { ...OPTIONS, ...options }, now);
}

/** A remote peer that handles each connection with `behave`. */
const rawPeer = (behave: (socket: net.Socket) => void) => listen(net.createServer(behave));

/** Answers with these bytes when it has received something. */
const answering = (bytes: string) => rawPeer((socket) => void socket.once('data', () => socket.write(bytes)));

describe('what is sent', () => {
  it('is one signed message that the published library verifies', async () => {
    const listener = await startFakeHttpListener();
    const target = plain(listener.port, '/votes?for=alpha');
    expect(await send(target)).toMatchObject({
      code: 'acknowledged',
      class: 'delivered',
      reached: 'acknowledged',
    });
    const [received] = listener.received;
    expect(listener.received).toHaveLength(1);
    expect(received).toMatchObject({ method: 'POST', path: '/votes?for=alpha' });
    expect(received?.headers).toMatchObject({
      host: `votes.example.org:${listener.port}`,
      'content-type': 'application/json',
      'webhook-id': VOTE.id,
    });
    const headers = received?.headers as Record<string, string>;
    expect(new Webhook(target.secret).verify(received?.body ?? '', headers)).toEqual({
      type: 'vote.cast',
      data: {
        vote_id: VOTE.id,
        server_id: SERVER_ID,
        username: 'Stève 🐑',
        voted_at: '2026-11-21T08:00:00.000Z',
      },
    });
    expect(() => new Webhook(newSigningSecret()).verify(received?.body ?? '', headers)).toThrow();
  });

  it('is signed with both secrets for a day after a rotation, and with the new one alone later', async () => {
    const listener = await startFakeHttpListener();
    const now = new Date();
    const until = new Date(now.getTime() + DAY);
    const previous = { secret: newSigningSecret(), until };
    const target = { ...plain(listener.port), previous };
    await send(target, {}, now);
    await send(target, {}, until);
    const [during, later] = listener.received;
    for (const secret of [target.secret, previous.secret]) {
      new Webhook(secret).verify(during?.body ?? '', during?.headers as Record<string, string>);
    }
    expect(later?.headers['webhook-signature']).not.toContain(' ');
  });
});

describe('what an answer means', () => {
  test.each([
    [200, 'acknowledged', 'delivered'],
    [202, 'acknowledged', 'delivered'],
    [301, 'http-redirected', 'configuration'],
    [308, 'http-redirected', 'configuration'],
    [400, 'vote-refused', 'vote-only'],
    [401, 'http-forbidden', 'configuration'],
    [403, 'http-forbidden', 'configuration'],
    [404, 'http-not-found', 'configuration'],
    [405, 'http-method-refused', 'configuration'],
    [408, 'http-unavailable', 'transient'],
    [409, 'vote-refused', 'vote-only'],
    [410, 'http-not-found', 'configuration'],
    [413, 'vote-refused', 'vote-only'],
    [422, 'vote-refused', 'vote-only'],
    [429, 'http-limited', 'transient'],
    [500, 'http-unavailable', 'transient'],
    [501, 'http-method-refused', 'configuration'],
    [503, 'http-unavailable', 'transient'],
    [799, 'garbage-answer', 'ambiguous'],
  ])('%s', async (status, code, outcomeClass) => {
    const listener = await startFakeHttpListener();
    listener.answer = (response) =>
      response.writeHead(status, { location: 'http://127.0.0.1/' }).end('Because');
    const end = await send(plain(listener.port));
    expect(end).toMatchObject({ code, class: outcomeClass });
    if (code !== 'acknowledged')
      expect(end).toMatchObject({ words: `HTTP ${status} Because`, reached: 'written' });
    // A redirect is not followed.
    expect(listener.received).toHaveLength(1);
  });

  test.each([
    ['120', 120_000],
    ['7200', HOUR],
    [new Date(Date.now() + DAY).toUTCString(), HOUR],
    [new Date(Date.now() - DAY).toUTCString(), 0],
    ['soon', undefined],
  ])('Retry-After: %s', async (header, expected) => {
    const listener = await startFakeHttpListener();
    listener.answer = (response) => response.writeHead(503, { 'retry-after': header }).end();
    expect((await send(plain(listener.port))).retryAfterMs).toBe(expected);
  });

  it('is a success as soon as its status has arrived, whatever happens to the body', async () => {
    const port = await answering('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel');
    expect((await send(plain(port))).code).toBe('acknowledged');
  });

  it('may come after two informational responses', async () => {
    const port = await answering(`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2)}HTTP/1.1 200 OK\r\n\r\n`);
    expect((await send(plain(port))).code).toBe('acknowledged');
  });

  it('counts when its status arrived, even if its body arrives slowly, of which only 4 KiB are read', async () => {
    const port = await answering('HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\nout of');
    expect(await send(plain(port))).toMatchObject({ code: 'http-unavailable', words: 'HTTP 500 out of' });

    const flood = await rawPeer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n');
        const pour = () => {
          while (!socket.destroyed && socket.write('400\r\n'.concat('x'.repeat(0x400), '\r\n')));
        };
        socket.on('drain', pour);
        pour();
      });
    });
    expect((await send(plain(flood), { timeoutMs: 20_000 })).code).toBe('http-unavailable');
  });
});

describe('a remote peer that does not answer as it should', () => {
  test.each([
    ['closes', (socket: net.Socket) => socket.end(), 'closed-without-answer'],
    ['resets', (socket: net.Socket) => socket.resetAndDestroy(), 'reset'],
    ['says nothing', () => undefined, 'no-answer'],
    [
      'sends an answer that is not HTTP',
      (socket: net.Socket) => socket.write('VOTIFIER 2 abc\n'),
      'garbage-answer',
    ],
    [
      'sends endless headers',
      (socket: net.Socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(40_000)}`),
      'http-headers-too-long',
    ],
    [
      'wants another protocol',
      (socket: net.Socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      'http-upgraded',
    ],
    [
      'sends endless informational responses',
      (socket: net.Socket) =>
        socket.write(`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(10_000)}HTTP/1.1 200 OK\r\n\r\n`),
      'garbage-answer',
    ],
  ])('%s after it received the message: ambiguous', async (_what, act, code) => {
    const port = await rawPeer((socket) => void socket.once('data', () => act(socket)));
    expect(await send(plain(port))).toMatchObject({ code, class: 'ambiguous', reached: 'written' });
  });

  it('sends data before the request: no vote is sent', async () => {
    let heard = 0;
    const port = await rawPeer((socket) => {
      socket.write('VOTIFIER 2 abc\n');
      socket.on('data', (bytes) => {
        heard += bytes.length;
      });
    });
    // The data may arrive after the message was written. Then the outcome is ambiguous, and never delivered.
    const end = await send(plain(port));
    expect(['not-http', 'garbage-answer']).toContain(end.code);
    if (end.code === 'not-http') expect(heard).toBe(0);
  });

  it('does not exist', async () => {
    const listener = net.createServer();
    const port = await listen(listener);
    await new Promise((resolve) => listener.close(resolve));
    expect(await send(plain(port))).toMatchObject({ code: 'connection-refused', reached: 'resolved' });
  });

  it('has a refused address', async () => {
    const target = targetAt('http://votes.example.org:8080/');
    const lookup = async () => [{ address: '10.0.0.7' }];
    expect(await send(target, { lookup })).toMatchObject({ code: 'address-refused', class: 'configuration' });
    expect(await send(targetAt('http://[::1]:8080/'))).toMatchObject({ code: 'address-refused' });
  });
});

describe('https', () => {
  const secure = (port: number, host = 'votes.example.org') => targetAt(`https://${host}:${port}/votes`);

  it('delivers if the certificate is valid for the name or for the address', async () => {
    trustTestAuthority();
    const listener = await startFakeHttpListener({ certificate: 'votes' });
    expect((await send(secure(listener.port))).code).toBe('acknowledged');
    expect((await send(secure(listener.port, '127.0.0.1'))).code).toBe('acknowledged');
    expect(listener.received).toHaveLength(2);
  });

  test.each([
    ['of another name', 'other', 'certificate-other-name'],
    ['whose time is over', 'expired', 'certificate-expired'],
    ['whose time has not begun', 'not-yet-valid', 'certificate-not-yet-valid'],
    ['that signed itself', 'self-signed', 'certificate-self-signed'],
    ['whose intermediate one is not sent', 'without-intermediate', 'certificate-incomplete'],
  ])('refuses a certificate %s, and sends nothing', async (_what, certificate, code) => {
    trustTestAuthority();
    if (code === 'certificate-not-yet-valid' || code === 'certificate-incomplete')
      trustTestAuthority('second-authority');
    const listener = await startFakeHttpListener({ certificate });
    expect(await send(secure(listener.port))).toMatchObject({
      code,
      class: 'configuration',
      reached: 'connected',
    });
    expect(listener.received).toEqual([]);
  });

  it('refuses a certificate whose signer is not trusted', async () => {
    const listener = await startFakeHttpListener({ certificate: 'own-authority' });
    const end = await send(secure(listener.port));
    expect(end).toMatchObject({ code: 'certificate-self-signed', detail: expect.any(String) });
    // The advice of the TLS library is for those who run Tallyport.
    expect(end.detail).not.toMatch(/Node|--use|root CA/i);
  });

  it('accepts the same certificate when it comes with its intermediate certificate', async () => {
    trustTestAuthority('second-authority');
    const listener = await startFakeHttpListener({ certificate: 'with-intermediate' });
    expect((await send(secure(listener.port))).code).toBe('acknowledged');
  });

  test.each(['TLSv1', 'TLSv1.1'] as const)('refuses %s and names it', async (maxVersion) => {
    const pem = testCertificate('votes');
    const ciphers = 'DEFAULT:@SECLEVEL=0';
    const old = tls.createServer({ key: pem, cert: pem, minVersion: 'TLSv1', maxVersion, ciphers });
    const port = await listen(old.on('tlsClientError', () => undefined));
    expect(await send(secure(port))).toMatchObject({ code: 'tls-too-old', class: 'configuration' });
  });

  it('recognises a remote peer that does not speak TLS, sends nothing, or closes', async () => {
    const http = await startFakeHttpListener();
    expect(await send(secure(http.port))).toMatchObject({ code: 'tls-failed', class: 'configuration' });
    const silent = await rawPeer(() => undefined);
    expect(await send(secure(silent))).toMatchObject({ code: 'silent', class: 'transient' });
    const closing = await rawPeer((socket) => void socket.once('data', () => socket.destroy()));
    expect(await send(secure(closing))).toMatchObject({ code: 'closed-before-greeting', class: 'transient' });
  });
});

describe('stopping', () => {
  it('sends nothing if it may not write', async () => {
    const listener = await startFakeHttpListener();
    expect((await send(plain(listener.port), { mayWrite: () => false })).code).toBe('our-fault');
    const stopped = await send(plain(listener.port), { signal: AbortSignal.abort() });
    expect(stopped.code).toBe('stopped-before-written');
    expect(listener.received).toEqual([]);
  });

  it('ends the wait for an answer, and says that the vote may have arrived', async () => {
    const listener = await startFakeHttpListener();
    const stop = new AbortController();
    listener.answer = () => stop.abort();
    const end = await send(plain(listener.port), { timeoutMs: 20_000, waitSignal: stop.signal });
    expect(end).toMatchObject({ code: 'stopped-while-waiting', class: 'ambiguous' });
  });
});
