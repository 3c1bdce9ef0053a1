import https from 'node:https';
import net from 'node:net';
import zlib from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import type { Destination } from '../../src/delivery/destination.ts';
import { explain } from '../../src/delivery/diagnosis/explain.ts';
import { type HttpTarget, postVote } from '../../src/delivery/http/http-client.ts';
import { newSigningSecret } from '../../src/delivery/http/http-message.ts';
import { t } from '../../src/language/t.ts';
import { OUTCOMES, type OutcomeCode } from '../../src/listeners/outcomes.ts';
import {
  type HttpListener,
  listen,
  startFakeHttpListener,
  testCertificate,
} from '../support/fake-http-listener.ts';

const VOTE = {
  id: '01998a3e-7e4b-7000-8000-0123456789ab',
  username: 'Steve',
  votedAt: new Date('2026-11-21T08:00:00.000Z'),
};

/** Posts to a website that must repeat a challenge first, unless it is proven. */
function post(url: string, { proven = false, timeoutMs = 2_000 } = {}) {
  const target: HttpTarget = {
    protocol: 'http',
    url,
    serverId: '0123456789abcdef01234567',
    secret: newSigningSecret(),
    previous: null,
  };
  const destination = {
    address: '127.0.0.1',
    mustChallenge: !proven,
    mayConnect: async () => true,
    challengeMet: () => undefined,
  } as Partial<Destination> as Destination;
  return postVote(
    target,
    VOTE,
    {
      ranges: { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8')], REFUSED_RANGES: [] },
      timeoutMs,
      mayWrite: () => true,
      destination,
    },
    new Date(),
  );
}

const at = (port: number) => `http://127.0.0.1:${port}/votes`;

/** What an owner sees of an outcome: its fault, its cause and its advice. */
function said(code: Awaited<ReturnType<typeof post>>['code']) {
  const { cause, advice } = explain(code, 'http');
  return { fault: OUTCOMES[code].fault, cause: t(cause), advice: t(advice) };
}

type Case = [
  input: string,
  answer: HttpListener['answerChallenge'],
  code: OutcomeCode,
  cause: RegExp,
  advice: RegExp,
  words?: RegExp,
];

const headed =
  (
    headers: Record<string, string>,
    make: (challenge: string) => string | Buffer,
  ): HttpListener['answerChallenge'] =>
  (response, challenge) =>
    void response.writeHead(200, headers).end(make(challenge));
const body = (make: (challenge: string) => string | Buffer) => headed({}, make);
const json = (challenge: string) => JSON.stringify({ challenge });
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();

const BESIDE = [/holds the challenge, but beside other text/, /nothing before, after or around it/] as const;
const COMPRESSED = [/is compressed, though Tallyport asked for none/, /^Switch the compression off/] as const;
const UTF16 = [/in UTF-16/, /^Answer in UTF-8\.$/] as const;
const QUOTED = [/in quotes, as a JSON string/, /without quotes/] as const;

describe('The answer to a challenge', () => {
  it.each<Case>([
    [
      'gzip',
      headed({ 'content-encoding': 'gzip' }, (c) => zlib.gzipSync(json(c))),
      'challenge-compressed',
      ...COMPRESSED,
      /^HTTP 200 [^\p{C}]*$/u,
    ],
    ['gzip without its header', body((c) => zlib.gzipSync(c)), 'challenge-compressed', ...COMPRESSED],
    [
      'Brotli',
      headed({ 'content-encoding': 'br' }, (c) => zlib.brotliCompressSync(json(c))),
      'challenge-compressed',
      ...COMPRESSED,
    ],
    [
      'deflate',
      headed({ 'content-encoding': 'deflate' }, (c) => zlib.deflateSync(c)),
      'challenge-compressed',
      ...COMPRESSED,
    ],
    ['a JSON string', body((c) => JSON.stringify(c)), 'challenge-quoted', ...QUOTED],
    ['a JSON string and a line feed', body((c) => `${JSON.stringify(c)}\n`), 'challenge-quoted', ...QUOTED],
    ['a text in single quotes', body((c) => `'${c}'`), 'challenge-quoted', ...QUOTED],
    [
      'a notice of PHP first',
      body((c) => `<br />\n<b>Warning</b>:  Undefined variable $x in vote.php on line 3<br />\n${json(c)}`),
      'challenge-surrounded',
      ...BESIDE,
      /^HTTP 200 <br \/> <b>Warning/,
    ],
    ['a page around it', body((c) => `<html>${c}</html>`), 'challenge-surrounded', ...BESIDE],
    ['a text after it', body((c) => `${json(c)}\nDone.`), 'challenge-surrounded', ...BESIDE],
    ['another key', body((c) => JSON.stringify({ response: c })), 'challenge-surrounded', ...BESIDE],
    [
      'UTF-16 with a mark',
      body((c) => Buffer.from(`\ufeff${json(c)}`, 'utf16le')),
      'challenge-utf16',
      ...UTF16,
    ],
    ['UTF-16 without a mark', body((c) => Buffer.from(c, 'utf16le')), 'challenge-utf16', ...UTF16],
    ['big-endian UTF-16', body((c) => swapped(`\ufeff${json(c)}`)), 'challenge-utf16', ...UTF16],
    [
      'bytes that are no text',
      body(() => Buffer.from([0, 1, 2, 0xff, 0xfe, 0x1b])),
      'http-unverified',
      /did not repeat it/,
      /^Check that the URL leads to the program/,
      /^HTTP 200 \(6 bytes that are not text\)$/,
    ],
    [
      '429',
      (response) => void response.writeHead(429).end('slow down'),
      'challenge-limited',
      /takes no more requests for now \(HTTP 429, or 503/,
      /^Raise the limit/,
    ],
    [
      '101',
      (response) =>
        void response.socket?.end(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
        ),
      'challenge-upgraded',
      /changes the protocol \(HTTP 101\)/,
      /not to a WebSocket/,
      /^HTTP 101/,
    ],
    [
      'headers of 20 KB',
      (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\nset-cookie: ${'x'.repeat(20_000)}\r\n\r\n`),
      'challenge-headers-too-long',
      /longer than 16 KiB/,
      /fewer or shorter headers/,
    ],
  ])('%s has its own code, cause and advice', async (_input, answer, code, cause, advice, words = /./) => {
    const site = await startFakeHttpListener();
    site.answerChallenge = answer;
    const end = await post(at(site.port));
    expect(end).toMatchObject({ code });
    if (code !== 'challenge-headers-too-long') expect(end.words).toMatch(words);
    expect(said(end.code)).toMatchObject({
      cause: expect.stringMatching(cause),
      advice: expect.stringMatching(advice),
    });
    expect(site.received).toEqual([]);
  });

  it.each<[string, (challenge: string) => string | Buffer]>([
    ['a byte order mark', (c) => `\ufeff${c}`],
    ['a byte order mark and JSON', (c) => `\ufeff${json(c)}\r\n`],
  ])('with %s is accepted', async (_input, make) => {
    const site = await startFakeHttpListener();
    site.answerChallenge = body(make);
    expect((await post(at(site.port))).code).toBe('acknowledged');
  });

  it('that arrives too slowly is recognised', async () => {
    const site = await startFakeHttpListener();
    site.answerChallenge = (response, challenge) => {
      response.writeHead(200, { 'content-length': 43 }).write(challenge.slice(0, 9));
    };
    const end = await post(at(site.port), { timeoutMs: 300 });
    expect(end).toMatchObject({ code: 'too-slow', class: 'transient' });
    expect(said(end.code).cause).toMatch(/did not answer it in time/);
  });

  it('is requested without compression', async () => {
    const site = await startFakeHttpListener();
    await post(at(site.port));
    expect(site.received[0]?.headers['accept-encoding']).toBe('identity');
  });
});

describe('An http:// URL whose port speaks TLS', () => {
  const plainTo = (words: string) => async () => {
    const site = await startFakeHttpListener();
    site.answer = (response) => void response.writeHead(400).end(words);
    site.answerChallenge = (response) => void response.writeHead(400).end(words);
    return site.port;
  };
  const pem = testCertificate('votes');
  const node = () => listen(https.createServer({ key: pem, cert: pem }));
  /**
   * Closes the connection, or answers with a TLS alert, if the first bytes are no TLS record. All other connections go
   * to a TLS server.
   */
  const beforeNode = (refuse: (socket: net.Socket) => void) => async () => {
    const inner = await node();
    return listen(
      net.createServer((socket) => {
        socket.once('data', (bytes) => {
          if (bytes[0] !== 0x16) return refuse(socket);
          const through = net.connect(inner, '127.0.0.1').on('error', () => socket.destroy());
          through.write(bytes);
          socket.pipe(through).pipe(socket);
        });
      }),
    );
  };

  it.each<[string, () => Promise<number>]>([
    ['Node, which closes', node],
    ['nginx', plainTo('<center>The plain HTTP request was sent to HTTPS port</center>')],
    ['Apache', plainTo('Reason: You’re speaking plain HTTP to an SSL-enabled server port.')],
    ['Go', plainTo('Client sent an HTTP request to an HTTPS server.')],
    ['one that resets', beforeNode((socket) => socket.resetAndDestroy())],
    [
      'one that answers with an alert',
      beforeNode((socket) => socket.end(Buffer.from('15030100020246', 'hex'))),
    ],
  ])('is recognised with %s', async (_input, start) => {
    const port = await start();
    for (const proven of [false, true]) {
      const end = await post(at(port), { proven });
      expect(end).toMatchObject({ code: 'tls-expected', class: 'configuration' });
    }
    expect(said('tls-expected')).toEqual({
      fault: 'tls-server',
      cause: 'The URL begins with http://, and what answers there speaks TLS; nothing of the vote was read.',
      advice: 'Begin the URL with https://.',
    });
  });
});

describe('A redirect', () => {
  it.each([
    ['/login', 'http-sign-in'],
    ['https://example.org/wp-login.php?redirect_to=%2Fvotes', 'http-sign-in'],
    ['https://login.example.org/', 'http-sign-in'],
    ['/users/sign_in', 'http-sign-in'],
    ['/oauth2/start?rd=/votes', 'http-sign-in'],
    ['https://www.example.org/votes', 'http-redirected'],
    ['https://blogin.example.org/authors', 'http-redirected'],
  ] as const)('to %s is recognised: %s', async (location, code) => {
    const site = await startFakeHttpListener();
    site.answer = (response) => void response.writeHead(302, { location }).end();
    expect((await post(at(site.port), { proven: true })).code).toBe(code);
    if (code === 'http-sign-in') expect(said(code).advice).toMatch(/^Let the URL need no session/);
  });
});
