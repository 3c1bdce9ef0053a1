import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import zlib from 'node:zlib';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import type { Fault, OutcomeCode } from '../../src/listeners/outcomes.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import type { DeliveryBench } from '../support/delivering.ts';
import {
  type HttpListener,
  listen,
  startFakeHttpListener,
  testCertificate,
  trustTestAuthority,
} from '../support/fake-http-listener.ts';
import type { Case } from './known-case.ts';

const setUrl = (url: string) => (bench: DeliveryBench) =>
  setHttpListener(bench.deps, bench.serverId, { url, serviceName: 'Tallyport' }, 'test');

type Said = Pick<Case, 'cause' | 'advice'> & Partial<Pick<Case, 'reply' | 'detail' | 'timeoutMs'>>;

/** A website that answers a challenge so. */
function challenged(
  name: string,
  [code, fault]: [OutcomeCode, Fault],
  answerChallenge: HttpListener['answerChallenge'],
  said: Said,
): Case {
  const set = async (bench: DeliveryBench) => {
    const site = await startFakeHttpListener();
    site.answerChallenge = answerChallenge;
    return setUrl(`http://127.0.0.1:${site.port}/votes`)(bench);
  };
  return { name: `HTTP, ${name}`, set, code, fault, ...said };
}

/** A website that repeats the challenge and answers a vote with this status. */
function answering(name: string, status: number, [code, fault]: [OutcomeCode, Fault], said: Said): Case {
  const set = async (bench: DeliveryBench) => {
    const site = await startFakeHttpListener();
    site.answer = (response) => void response.writeHead(status).end('no');
    return setUrl(`http://127.0.0.1:${site.port}/votes`)(bench);
  };
  return { name: `HTTP, ${name}`, set, code, fault, reply: `HTTP ${status} no`, ...said };
}

/** A website with a certificate of test/support/certificates. */
function certified(
  name: string,
  certificate: string,
  authority: string,
  code: OutcomeCode,
  said: Said,
): Case {
  const set = async (bench: DeliveryBench) => {
    trustTestAuthority(authority);
    const { port } = await startFakeHttpListener({ certificate });
    return setUrl(`https://127.0.0.1:${port}/votes`)(bench);
  };
  return { name: `HTTPS, ${name}`, set, code, fault: 'tls-server', reply: null, detail: /./, ...said };
}

const UNVERIFIED = 'http-unverified';
const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';
const longHeaders = `HTTP/1.1 200 OK\r\nset-cookie: ${'x'.repeat(20_000)}\r\n\r\n`;

/** The cases of websites: what they answer to the challenge, to a vote, and their certificates. */
export const WEBSITE_CASES: Case[] = [
  {
    name: 'HTTP, nothing listens over IPv6',
    set: async (bench) => setUrl(`http://[::1]:${await freePort()}/votes`)(bench),
    code: 'refused-over-ipv6',
    fault: 'connection-refused',
    cause: /^The machine answers over IPv6, but nothing listens .* there, or a firewall rejects/,
    advice: /listens over IPv6 too, .* or remove the IPv6 address \(AAAA record\)/,
    reply: null,
  },
  challenged(
    'the challenge compressed',
    ['challenge-compressed', UNVERIFIED],
    (response, challenge) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync(challenge)),
    { cause: /is compressed/, advice: /^Switch the compression off for this URL/ },
  ),
  challenged(
    'the challenge as a JSON string',
    ['challenge-quoted', UNVERIFIED],
    (response, challenge) => void response.end(JSON.stringify(challenge)),
    { cause: /in quotes, as a JSON string/, advice: /without quotes/ },
  ),
  challenged(
    'the challenge after a notice',
    ['challenge-surrounded', UNVERIFIED],
    (response, challenge) => void response.end(`Warning: x in vote.php\n${challenge}`),
    { cause: /beside other text, such as a notice of PHP/, advice: /switch off the output of notices/ },
  ),
  challenged(
    'the challenge in UTF-16',
    ['challenge-utf16', UNVERIFIED],
    (response, challenge) => void response.end(Buffer.from(challenge, 'utf16le')),
    { cause: /in UTF-16/, advice: /^Answer in UTF-8\.$/ },
  ),
  challenged(
    'the challenge dripped',
    ['too-slow', 'too-slow'],
    (response, challenge) =>
      void response.writeHead(200, { 'content-length': 43 }).write(challenge.slice(0, 9)),
    {
      cause: /took the challenge and did not answer it in time/,
      advice: /^Let the website answer a challenge at once/,
      timeoutMs: 100,
    },
  ),
  challenged(
    'another answer to the challenge',
    [UNVERIFIED, UNVERIFIED],
    (response) => void response.end('Hello'),
    {
      cause: /did not repeat it/,
      advice: /^Check that the URL leads to the program .* listener\.challenge with its challenge/,
      reply: 'HTTP 200 Hello',
    },
  ),
  challenged(
    '101 to the challenge',
    ['challenge-upgraded', UNVERIFIED],
    (response) => void response.socket?.end(upgrade),
    { cause: /changes the protocol \(HTTP 101\)/, advice: /not to a WebSocket/ },
  ),
  challenged(
    'headers of 20 KB to the challenge',
    ['challenge-headers-too-long', UNVERIFIED],
    (response) => void response.socket?.end(longHeaders),
    { cause: /longer than 16 KiB/, advice: /fewer or shorter headers/ },
  ),
  challenged(
    '429 to the challenge',
    ['challenge-limited', 'http-server'],
    (response) => void response.writeHead(429).end(),
    { cause: /takes no more requests for now \(HTTP 429, or 503/, advice: /^Raise the limit of the website/ },
  ),
  challenged(
    '400 to the challenge',
    ['http-challenge-refused', 'http-unverified'],
    (response) => void response.writeHead(400).end(),
    {
      cause: /^The website refused the challenge with HTTP 400; no vote was posted/,
      advice: /listener\.challenge/,
    },
  ),
  challenged(
    '503 to the challenge',
    ['http-not-ready', 'http-server'],
    (response) => void response.writeHead(503).end(),
    { cause: /answered a challenge that it cannot take votes now/, advice: /^Look into the log/ },
  ),
  challenged(
    'a redirect to a sign-in',
    ['http-sign-in', 'http-server'],
    (response) => void response.writeHead(302, { location: '/login' }).end(),
    { cause: /redirects to a page to sign in/, advice: /^Let the URL need no session/, detail: /\/login$/ },
  ),
  answering('405', 405, ['http-method-refused', 'http-server'], {
    cause: /takes no POST requests \(HTTP 405 or 501\)/,
    advice: /^Check the path of the URL/,
  }),
  answering('404', 404, ['http-not-found', 'http-server'], {
    cause: /nothing at this URL/,
    advice: /^Check the path of the URL/,
  }),
  answering('400 before it took a vote', 400, ['http-votes-refused', 'vote-refused'], {
    cause: /has acknowledged none with its current settings/,
    advice: /^Look into the website’s log for the reason/,
  }),
  answering('422 before it took a vote', 422, ['http-votes-refused', 'vote-refused'], {
    cause: /answered the challenge and refused this player, “TallyportTest” \(HTTP 422\)/,
    advice: /^Let the website take the player TallyportTest, or wait/,
  }),
  answering('401', 401, ['http-forbidden', 'bad-signature'], {
    cause: /does not accept our signature, or a filter blocks it/,
    advice: /^Compare the secret there/,
  }),
  answering('429', 429, ['http-limited', 'http-server'], {
    cause: /takes no more requests for now \(HTTP 429, or 503/,
    advice: /^Raise the limit of the website/,
  }),
  answering('502', 502, ['http-unavailable', 'http-server'], {
    cause: /cannot take votes now \(HTTP 5xx or 408\)/,
    advice: /^Look into the log/,
  }),
  {
    name: 'HTTP, the port speaks TLS',
    set: async (bench) => {
      const pem = testCertificate('votes');
      const port = await listen(https.createServer({ key: pem, cert: pem }));
      return setUrl(`http://127.0.0.1:${port}/votes`)(bench);
    },
    code: 'tls-expected',
    fault: 'tls-server',
    cause: /^The URL begins with http:\/\/, and what answers there speaks TLS/,
    advice: /^Begin the URL with https:\/\/\.$/,
    reply: null,
  },
  {
    name: 'HTTPS, the port speaks no TLS',
    set: async (bench) => {
      const { port } = await startFakeHttpListener();
      return setUrl(`https://127.0.0.1:${port}/votes`)(bench);
    },
    code: 'tls-failed',
    fault: 'tls-server',
    cause: /^The URL begins with https:\/\/, and what answers there does not speak TLS/,
    advice: /begin the URL with http:\/\/ if it has none/,
    detail: /./,
  },
  {
    name: 'HTTP, an SSH server answers',
    set: async (bench) => {
      const port = await listen(net.createServer((socket) => void socket.write('SSH-2.0-OpenSSH_9.6\r\n')));
      return setUrl(`http://127.0.0.1:${port}/votes`)(bench);
    },
    code: 'not-http',
    fault: 'other-protocol',
    cause: /does not speak HTTP/,
    advice: /^Check the port in the URL/,
  },
  {
    name: 'HTTPS, TLS 1.1 only',
    set: async (bench) => {
      const pem = testCertificate('votes');
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
      const server = tls.createServer({ key: pem, cert: pem, ...old });
      const port = await listen(server.on('tlsClientError', () => undefined));
      return setUrl(`https://127.0.0.1:${port}/votes`)(bench);
    },
    code: 'tls-too-old',
    fault: 'tls-server',
    cause: /only TLS 1\.1 or older/,
    advice: /^Enable TLS 1\.2 or 1\.3/,
    detail: /./,
  },
  certified('an expired certificate', 'expired', 'authority', 'certificate-expired', {
    cause: /has expired/,
    advice: /^Renew the certificate/,
  }),
  certified(
    'a certificate that is not valid yet',
    'not-yet-valid',
    'second-authority',
    'certificate-not-yet-valid',
    { cause: /not valid yet/, advice: /^Wait until its first day/ },
  ),
  certified('a self-signed certificate', 'self-signed', 'authority', 'certificate-self-signed', {
    cause: /is self-signed/,
    advice: /^Install a certificate of a public authority/,
  }),
  certified('an authority of its own', 'own-authority', 'authority', 'certificate-self-signed', {
    cause: /signed by an authority of its own/,
    advice: /^Install a certificate of a public authority/,
  }),
  certified('an incomplete chain', 'without-intermediate', 'second-authority', 'certificate-incomplete', {
    cause: /chain .* is incomplete/,
    advice: /^Let the website send the intermediate certificates too/,
  }),
];
