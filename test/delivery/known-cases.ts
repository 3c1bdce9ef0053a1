import net, { type Socket } from 'node:net';
import type { ListenerSettings } from '../../src/delivery/change-listener.ts';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { connectFailure } from '../../src/delivery/peer-connection.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import type { DeliveryBench } from '../support/delivering.ts';
import { listen, startFakeHttpListener, trustTestAuthority } from '../support/fake-http-listener.ts';
import type { Case } from './known-case.ts';
import {
  behindProxyHeader,
  closing,
  goVotifier,
  hytaleVotifier,
  type KnownListener,
  keyLine,
  nuVotifier,
  OTHER,
  RIGHT,
  start,
  TOKEN,
  votifier19,
  votifierPlus,
} from './known-listeners.ts';
import { WEBSITE_CASES } from './known-website-cases.ts';

type Credential = 'right' | 'wrong';

/** Sets a Votifier v2 listener, with the right token or a wrong one. */
export const v2 = (listener: KnownListener, token: Credential) => async (bench: DeliveryBench) =>
  bench.set({ port: await start(listener), secret: token === 'right' ? TOKEN : 'an0ther-t0ken-0123456789' });

const v1 = (listener: KnownListener, key: Credential) => async (bench: DeliveryBench) => {
  const protocol: ListenerSettings['protocol'] = 'votifier-v1';
  return bench.set({
    protocol,
    port: await start(listener),
    secret: keyLine(key === 'right' ? RIGHT : OTHER),
  });
};

const raw = (behave: (socket: Socket) => void) => async (bench: DeliveryBench) =>
  bench.set({ port: await listen(net.createServer(behave)) });

const website =
  (url: (port: number) => string, port: () => Promise<number>) => async (bench: DeliveryBench) =>
    setHttpListener(bench.deps, bench.serverId, { url: url(await port()), serviceName: 'Tallyport' }, 'test');

const plain = (port: number) => `http://127.0.0.1:${port}/votes`;

const CONFIRMED = { code: 'acknowledged', fault: null, cause: /said so/, advice: /nothing to do/ } as const;
const UNCONFIRMED = {
  code: 'sent-not-confirmed',
  fault: null,
  cause:
    /closed the connection without an error; many Votifier v1 listeners say no more than that, even when the key is wrong, .* or a proxy puts a PROXY header before the vote/,
  advice:
    /compare the public key .* \(restart the game server if it is the same\), .* see that the plugin takes v1 .* or change to Votifier v2/,
  reply: null,
} as const;
const BAD_SIGNATURE = {
  code: 'bad-signature',
  fault: 'bad-signature',
  cause:
    /refused the signature: its token for our service name “Tallyport” is different, or it has none for it/,
  advice:
    /^Copy the token for our service name “Tallyport”, or for “default”.* add one if there is neither, .* restart the game server or reload/,
} as const;
const WRONG_KEY_UNSAID = {
  code: 'no-answer',
  fault: 'key-invalid',
  cause: /kept the connection open without an answer, as some listeners do when they cannot decrypt/,
  advice: /^Compare the public key/,
  reply: null,
} as const;
const WRONG_TOKEN_UNSAID = {
  code: 'closed-without-answer',
  fault: 'closed-without-answer',
  cause:
    /without an answer, as some listeners do on a wrong token or without one for our service name, when a plugin .* fails, at a limit .* PROXY header/,
  advice:
    /^Look for an error in the game server’s log first; .* token for our service name or “default”, add one if there is neither/,
  reply: null,
} as const;
const V1_ONLY = {
  code: 'v1-only',
  fault: 'v1-only',
  cause: /speaks Votifier v1 only/,
  advice: /as Votifier v1 with its public key/,
} as const;

/** MySQL's first packet: a version between bytes that are not text. */
const MYSQL = Buffer.concat([
  Buffer.from([0x4a, 0, 0, 0, 0x0a]),
  Buffer.from('8.0.36-debian'),
  Buffer.from([0, 0x0c, 0xff, 0x81, 0]),
  Buffer.from('caching_sha2_password'),
  Buffer.from([0]),
]);

/** Each case that real listeners, or the network before them, have produced. */
export const CASES: Case[] = [
  { name: 'NuVotifier, v2', set: v2(nuVotifier(), 'right'), ...CONFIRMED },
  { name: 'NuVotifier, v1', set: v1(nuVotifier(), 'right'), ...UNCONFIRMED },
  {
    name: 'NuVotifier, wrong token',
    set: v2(nuVotifier(), 'wrong'),
    ...BAD_SIGNATURE,
    reply: 'CorruptedFrameException: Signature is not valid (invalid token?)',
  },
  { name: 'NuVotifier, wrong key', set: v1(nuVotifier(), 'wrong'), ...UNCONFIRMED },
  {
    name: 'NuVotifier, no token for our service',
    set: v2(nuVotifier({ tokens: { elsewhere: TOKEN } }), 'right'),
    code: 'unknown-service',
    fault: 'unknown-service',
    cause: /no token for our service name “Tallyport”/,
    advice: /^Add a token for our service name “Tallyport”/,
    reply: "RuntimeException: Unknown service 'Tallyport'",
  },
  {
    name: 'NuVotifier, the handler takes 7 s',
    set: v2(nuVotifier({ handler: { stallsFor: 500 } }), 'right'),
    timeoutMs: 300,
    ...CONFIRMED,
  },
  {
    name: 'NuVotifier, the handler hangs',
    set: v2(nuVotifier({ handler: { stallsFor: 60_000 } }), 'right'),
    timeoutMs: 300,
    code: 'no-answer',
    fault: 'too-slow',
    cause: /no answer came in time, as when a plugin .* is slow, or a filter drops the vote or the answer/,
    advice: /^Look in the game server’s log .* hangs or is slow, check the server’s load/,
    reply: null,
  },
  {
    name: 'NuVotifier, the handler throws',
    set: v2(nuVotifier({ handler: 'throws' }), 'right'),
    code: 'unknown-error',
    fault: 'listener-error',
    cause: /answered with an error of its own/,
    advice: /^Look for the listener’s words in the game server’s log/,
    reply: 'java.lang.IllegalStateException',
  },
  { name: 'VotifierPlus, v2', set: v2(votifierPlus(), 'right'), ...CONFIRMED },
  { name: 'VotifierPlus, v1', set: v1(votifierPlus(), 'right'), ...CONFIRMED },
  { name: 'VotifierPlus, wrong token', set: v2(votifierPlus(), 'wrong'), ...WRONG_TOKEN_UNSAID },
  { name: 'VotifierPlus, wrong key', set: v1(votifierPlus(), 'wrong'), ...UNCONFIRMED },
  {
    name: 'VotifierPlus, tokens switched off',
    set: v2(votifierPlus({ tokens: null }), 'right'),
    ...V1_ONLY,
    reply: 'VOTIFIER 1',
  },
  { name: 'VotifierPlus, v1 switched off', set: v1(votifierPlus({ v1: false }), 'right'), ...UNCONFIRMED },
  { name: 'Votifier 1.9', set: v1(votifier19(), 'right'), ...UNCONFIRMED },
  { name: 'Votifier 1.9, wrong key', set: v1(votifier19(), 'wrong'), ...WRONG_KEY_UNSAID },
  { name: 'Votifier 1.9, a token is set', set: v2(votifier19(), 'right'), ...V1_ONLY, reply: 'VOTIFIER 1.9' },
  { name: 'a standalone one, wrong key', set: v1(votifier19('1.0'), 'wrong'), ...WRONG_KEY_UNSAID },
  {
    name: 'VanillaVotifier, a token is set',
    set: v2(closing('2.9'), 'right'),
    ...V1_ONLY,
    reply: 'VOTIFIER 2.9',
  },
  { name: 'VanillaVotifier, wrong key', set: v1(closing('2.9'), 'wrong'), ...UNCONFIRMED },
  { name: 'VotifierNukkit, wrong key', set: v1(closing('1.0'), 'wrong'), ...UNCONFIRMED },
  { name: 'a Hytale one, v1', set: v1(hytaleVotifier(), 'right'), ...CONFIRMED },
  {
    name: 'a Hytale one, wrong token',
    set: v2(hytaleVotifier(), 'wrong'),
    ...BAD_SIGNATURE,
    reply: 'Signature verification failed',
  },
  {
    name: 'a Hytale one, wrong key',
    set: v1(hytaleVotifier(), 'wrong'),
    code: 'key-invalid',
    fault: 'key-invalid',
    cause: /could not decrypt the vote/,
    advice: /^Copy the public key .* restart the game server/,
    reply: 'Decryption failed',
  },
  {
    name: 'a Hytale one, v1 switched off',
    set: v1(hytaleVotifier({ v1: false }), 'right'),
    code: 'v2-only',
    fault: 'v2-only',
    cause: /takes Votifier v2 only/,
    advice: /^Set the listener as Votifier v2/,
    reply: 'V1 protocol is disabled',
  },
  { name: 'one in Go, v1', set: v1(goVotifier(), 'right'), ...CONFIRMED },
  { name: 'one in Go, wrong token', set: v2(goVotifier(), 'wrong'), ...WRONG_TOKEN_UNSAID },
  {
    name: 'VotifierPlus, no token for our service',
    set: v2(votifierPlus({ tokens: { elsewhere: TOKEN } }), 'right'),
    ...WRONG_TOKEN_UNSAID,
  },
  {
    name: 'a Hytale one, no token for our service',
    set: v2(hytaleVotifier({ tokens: { elsewhere: TOKEN } }), 'right'),
    ...BAD_SIGNATURE,
    reply: 'Signature verification failed',
  },
  {
    name: 'one in Go, no token for our service',
    set: v2(goVotifier({ elsewhere: TOKEN }), 'right'),
    ...WRONG_TOKEN_UNSAID,
  },
  {
    name: 'NuVotifier, v1, the handler takes 7 s',
    set: v1(nuVotifier({ handler: { stallsFor: 500 } }), 'right'),
    timeoutMs: 300,
    code: 'no-answer',
    fault: 'too-slow',
    cause:
      /open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, a filter .*, or its key has changed/,
    advice:
      /^Look in the game server’s log for a plugin that takes votes and is slow .* compare the public key/,
    reply: null,
    detail: /^It greets as Votifier v2\.$/,
  },
  {
    name: 'a filter drops the vote, v2',
    set: v2({ ...nuVotifier(), take: () => null }, 'right'),
    timeoutMs: 300,
    code: 'no-answer',
    fault: 'too-slow',
    cause: /or a filter drops the vote or the answer/,
    advice: /let no filter hold back what is sent or answered/,
    reply: null,
  },
  {
    name: 'a proxy that sends a PROXY header, v2',
    set: v2(behindProxyHeader(nuVotifier()), 'right'),
    ...WRONG_TOKEN_UNSAID,
  },
  {
    name: 'a proxy that sends a PROXY header, v1',
    set: v1(behindProxyHeader(nuVotifier()), 'right'),
    ...UNCONFIRMED,
  },
  {
    name: 'a full accept queue after a vote had arrived',
    set: async (bench) => {
      await v2(nuVotifier(), 'right')(bench);
      await diagnoseListener({ ...bench.deps, send: createVoteSender(bench.deps.config) }, bench.serverId);
    },
    send: async () => outcome('connect-timeout', 'resolved'),
    code: 'connect-timeout',
    fault: 'connect-timeout',
    cause: /which has taken votes before: the game server hangs or is overloaded/,
    advice: /^Check the game server’s load, and its log for a hang/,
    reply: null,
  },
  {
    name: 'a firewall rejects (ICMP: host prohibited, in 6 ms)',
    set: (bench) => bench.set({}),
    send: async () => outcome(connectFailure('EHOSTUNREACH', 6), 'resolved'),
    code: 'firewall-rejected',
    fault: 'firewall-rejected',
    cause: /^A firewall rejects connections/,
    advice: /^Allow the listener’s port in the firewall/,
    reply: null,
  },
  {
    name: 'no route to the network',
    set: (bench) => bench.set({ host: '127.255.255.255' }),
    code: 'unreachable',
    fault: 'unreachable',
    cause: /no way through the network/,
    advice: /^Check the address/,
    reply: null,
  },
  {
    name: 'closed before the greeting',
    set: raw((socket) => socket.destroy()),
    code: 'closed-before-greeting',
    fault: 'closed-without-answer',
    cause:
      /closed before the listener greeted: mostly it is the port of a container or tunnel with nothing behind it/,
    advice: /that the container or tunnel leads to the plugin’s port, and that no proxy, DDoS filter/,
    reply: null,
  },
  {
    name: 'a database answers',
    set: raw((socket) => socket.write(MYSQL)),
    code: 'not-votifier',
    fault: 'other-protocol',
    cause: /^Something other than a Votifier listener answers/,
    advice: /^Set the port of the vote plugin .* another program has taken it/,
    reply: '8.0.36-debian … caching_sha2_password',
  },
  ...(
    [
      ['an SSH server', 'SSH-2.0-OpenSSH_9.6\r\n'],
      ['an FTP server', '220 (vsFTPd 3.0.5)\r\n'],
    ] as const
  ).map(([service, greeting]) => ({
    name: `${service} answers`,
    set: raw((socket) => socket.write(greeting)),
    code: 'not-votifier' as const,
    fault: 'other-protocol' as const,
    cause: /^Something other than a Votifier listener answers/,
    advice: /^Set the port of the vote plugin .* another program has taken it/,
    reply: greeting.trim(),
  })),
  {
    name: 'a Redis answers',
    set: raw((socket) =>
      socket.on('data', (bytes) => {
        const [word = ''] = bytes.toString('latin1').split(' ');
        if (/^[A-Z]+$/.test(word)) socket.write(`-ERR unknown command '${word}'\r\n`);
      }),
    ),
    timeoutMs: 300,
    code: 'silent',
    fault: 'other-protocol',
    cause: /^Something other than a Votifier listener answers/,
    advice: /^Set the port of the vote plugin .* another program has taken it/,
    reply: "-ERR unknown command 'GET'",
  },
  {
    name: 'a service that says nothing',
    set: raw((socket) => void socket.resume()),
    timeoutMs: 200,
    code: 'silent',
    fault: 'silent',
    cause: /another service, the vote plugin hangs, or a filter holds the connection back/,
    advice: /^Check that the port is the vote plugin’s/,
    reply: null,
  },
  {
    name: 'a listener that answers with capital keys',
    set: async (bench) => {
      const error = { Status: 'error', Cause: 'CorruptedFrameException', Error: 'Signature is not valid' };
      const plugin: KnownListener = {
        ...nuVotifier(),
        take: (received) => (received.length < 200 ? null : { say: JSON.stringify(error), ends: 'close' }),
      };
      return v2(plugin, 'right')(bench);
    },
    ...BAD_SIGNATURE,
    reply: 'CorruptedFrameException: Signature is not valid',
  },
  {
    name: 'VotifierPlus, wrong key after it confirmed votes',
    set: async (bench) => {
      const plugin = { now: votifierPlus() };
      const changing: KnownListener = {
        greeting: (challenge) => plugin.now.greeting(challenge),
        take: (received, challenge) => plugin.now.take(received, challenge),
      };
      await v1(changing, 'right')(bench);
      await diagnoseListener({ ...bench.deps, send: createVoteSender(bench.deps.config) }, bench.serverId);
      plugin.now = votifierPlus({ pair: OTHER });
    },
    code: 'closed-without-answer',
    fault: 'closed-without-answer',
    cause: /which confirmed votes before, closed the connection without an answer/,
    advice: /^Compare the public key .* look for an error/,
    reply: null,
  },
  {
    name: 'nothing listens over IPv6',
    set: async (bench) => bench.set({ host: '::1', port: await freePort() }),
    code: 'refused-over-ipv6',
    fault: 'connection-refused',
    cause: /^The machine answers over IPv6, but nothing listens .* there, or a firewall rejects/,
    advice: /listens over IPv6 too, .* or remove the IPv6 address \(AAAA record\)/,
    reply: null,
  },
  {
    name: 'HTTP, nothing listens',
    set: website(plain, freePort),
    code: 'connection-refused',
    fault: 'connection-refused',
    cause: /nothing listens on the port in the URL/,
    advice: /^Check that the website runs/,
    reply: null,
  },
  {
    name: 'HTTP, the website closes without an answer',
    set: website(plain, async () => {
      const site = await startFakeHttpListener();
      site.answer = (response) => response.socket?.end();
      return site.port;
    }),
    code: 'closed-without-answer',
    fault: 'closed-without-answer',
    cause: /the website closed the connection without an answer/,
    advice: /^Look for an error in the log of the website/,
    reply: null,
  },
  {
    name: 'HTTP, a redirect',
    set: website(plain, async () => {
      const site = await startFakeHttpListener();
      site.answer = (response) =>
        response.writeHead(301, { location: 'https://www.example.org/votes' }).end('Moved');
      return site.port;
    }),
    code: 'http-redirected',
    fault: 'http-server',
    cause: /answers with a redirect/,
    advice: /^Open the URL in a browser to see where the redirect leads, and set the listener to that URL/,
    reply: 'HTTP 301 Moved',
    detail: /^The redirect leads to https:\/\/www\.example\.org\/votes$/,
  },
  {
    name: 'HTTPS, a certificate of another name',
    set: website(
      (port) => `https://127.0.0.1:${port}/votes`,
      async () => {
        trustTestAuthority();
        return (await startFakeHttpListener({ certificate: 'other' })).port;
      },
    ),
    code: 'certificate-other-name',
    fault: 'tls-server',
    cause: /certificate of the website is for another name/,
    advice: /^Set the URL to the name in the certificate/,
    reply: null,
    detail: /^The certificate is for other\.example\.org$/,
  },
  ...WEBSITE_CASES,
];
