import { connect } from 'node:net';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseQuery } from '../../src/http/query-string.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { since } from '../support/cpu-time.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { OWN_ORIGIN, openWebApp, type WebApp } from '../support/web-app.ts';

/**
 * The cost of a request before authentication grows linearly with its size. Eight times the bytes may cost about eight
 * times as much; a quadratic parser would cost 64 times as much.
 */
const TIMES = 8;
const MOST_GROWTH = 14;

/** Eight of these are just below 16 KiB, the limit of headers and address together. */
const ONE = 1_900;

let web: WebApp;
let port: number;
beforeAll(async () => {
  web = await openWebApp({ TRUST_PROXY: '127.0.0.0/8', DISCORD_CLIENT_ID: 'x', DISCORD_CLIENT_SECRET: 'y' });
  port = Number(new URL(await web.app.listen({ port: 0, host: '127.0.0.1' })).port);
});

/** If the largest request costs less than this, its ratio is not checked: a ratio of shorter times is noise. */
const NEGLIGIBLE_MS = 0.5;

/** Runs of each size: the minimum, and the maximum on a busy machine. */
const RUNS = { few: 5, most: 60 };

/**
 * The ratio of the processor time of `work` at eight times the size. Both sizes run in turn, and the cheapest run of each
 * counts. It repeats until the process did nothing else during a run.
 */
async function growth(work: (size: number) => unknown): Promise<number> {
  const least = { one: Number.POSITIVE_INFINITY, eight: Number.POSITIVE_INFINITY };
  const found = () => (least.eight < NEGLIGIBLE_MS ? 0 : least.eight / least.one);
  for (let run = 0; run < RUNS.few || (run < RUNS.most && found() >= MOST_GROWTH); run += 1) {
    for (const [name, size] of [
      ['one', ONE],
      ['eight', TIMES * ONE],
    ] as const) {
      const before = process.cpuUsage();
      await work(size);
      least[name] = Math.min(least[name], since(before));
    }
  }
  return found();
}

/** Sends a raw request and waits for the complete answer. */
function send(request: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = '';
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  socket.setEncoding('latin1');
  socket.on('data', (text) => {
    answer += text;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(answer));
  return promise;
}

/** A text of `size` characters. */
const fill = (piece: string, size: number) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

function request(method: string, target: string, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries({ host: 'localhost:3000', connection: 'close', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${target} HTTP/1.1\r\n${head}\r\n${body}`;
}

const get = (target: string, headers: Record<string, string> = {}) => request('GET', target, headers);

function post(target: string, body: string, headers: Record<string, string> = {}): string {
  const form = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    accept: 'text/html',
  };
  return request('POST', target, { ...form, ...OWN_ORIGIN, ...headers }, body);
}

const VOTE = `/api/v1/servers/${'a'.repeat(24)}/vote`;

describe('the query', () => {
  const pieces = ['&a', '&a=b', '&a&b&c&d', '&', '&%', '&%ff', '%61', '%', '+', '='];

  test.each(pieces)('%j', async (piece) => {
    expect(await growth((size) => parseQuery(fill(piece, size)))).toBeLessThan(MOST_GROWTH);
    for (const path of ['/healthz', '/', VOTE]) {
      const growing = growth((size) => send(get(`${path}?${fill(piece, size)}`)));
      expect(await growing, path).toBeLessThan(MOST_GROWTH);
    }
  });

  test('with different names', async () => {
    const names = Array.from({ length: TIMES * ONE }, (_, n) => `&k${n}`).join('');
    expect(await growth((size) => send(get(`/healthz?${names.slice(0, size)}`)))).toBeLessThan(MOST_GROWTH);
  });

  test.each([
    '/?q=',
    '/?version=',
    '/sign-in?next=',
    '/sign-in?error=',
    '/verify-email?token=',
    '/set-password?token=',
    '/api/auth/callback/discord?state=',
  ])('%s', async (begin) => {
    for (const piece of ['a', ' a', '/../a', '\u0301\u0323', '0', '\\']) {
      const growing = growth((size) => send(get(`${begin}${encodeURIComponent(fill(piece, size / 8))}`)));
      expect(await growing, piece).toBeLessThan(MOST_GROWTH);
    }
  });
});

test.each(['a', '/', '/a', '%61', '/../a', ':', '-'])('a path of %j', async (piece) => {
  for (const begin of ['/', '/servers/', '/api/v1/servers/', '/operator/queues/', '/assets/']) {
    const growing = growth((size) => send(get(`${begin}${fill(piece, size)}`)));
    expect(await growing, begin).toBeLessThan(MOST_GROWTH);
  }
});

describe('a header', () => {
  test.each([
    ['cookie', '', 'a=b; '],
    ['cookie', '', 'a'],
    ['cookie', '', ';'],
    ['cookie', '', '='],
    ['cookie', 'tallyport.session_token=', '%61'],
    ['cookie', 'tallyport.session_token=', 'a.'],
    ['cookie', '', 'tallyport.session_token=a; '],
    ['cookie', '', 'tallyport.session_data.0=a; '],
    ['cookie', 'tallyport.device=', 'a.'],
    ['authorization', 'Bearer ', 'a'],
    ['authorization', 'Bearer', ' '],
    ['authorization', 'Bearer ', 'a '],
    ['accept', '', 'text/html,'],
    ['accept-encoding', '', 'gzip;q=0.1,'],
    ['if-none-match', '', 'W/"a",'],
    ['x-forwarded-for', '', '127.0.0.1,'],
    ['x-forwarded-for', '', ','],
    ['x-forwarded-host', '', 'a,'],
    ['user-agent', '', 'Mac OS X '],
    ['content-type', '', 'a/b;c=d;'],
    ['content-type', 'application/json;', ' '],
    ['content-encoding', '', 'a,'],
    ['idempotency-key', '', 'a'],
    ['origin', '', 'http://a'],
  ])('%s: %s%j', async (name, begin, piece) => {
    const header = (size: number) => ({ [name]: `${begin}${fill(piece, size)}` });
    for (const path of ['/', '/dashboard']) {
      expect(await growth((size) => send(get(path, header(size)))), path).toBeLessThan(MOST_GROWTH);
    }
    for (const path of [VOTE, '/sign-out']) {
      expect(await growth((size) => send(post(path, '', header(size)))), path).toBeLessThan(MOST_GROWTH);
    }
  });

  test.each(['cookie', 'x-forwarded-for', 'idempotency-key', 'a'])('%s, repeated', async (name) => {
    const repeated = (size: number) => `${name}: a=b\r\n`.repeat(size / (name.length + 7));
    const request = (size: number) => get('/dashboard').replace(/\r\n$/, `${repeated(size)}\r\n`);
    expect(await growth((size) => send(request(size)))).toBeLessThan(MOST_GROWTH);
  });
});

describe('a form', () => {
  const paths = [
    '/sign-in',
    '/sign-up',
    '/sign-in/code',
    '/forgot-password',
    '/set-password',
    '/verify-email',
  ];

  test.each(['&a', '&a=b', '&email=a', '&', '&%', '&%ff', '+', '=', '%61'])('of %j', async (piece) => {
    for (const path of paths) {
      const growing = growth((size) => send(post(path, fill(piece, 2 * size))));
      expect(await growing, path).toBeLessThan(MOST_GROWTH);
    }
  });

  test.each(['email=', 'name=', 'next=', 'code=', 'token='])('with a long %s', async (field) => {
    for (const path of [...paths, '/sign-in/code']) {
      for (const piece of ['a', 'a@', '%20', '%CC%81%CC%A3']) {
        const form = (size: number) => `email=a&password=b&${field}${fill(piece, 2 * size)}`;
        const growing = growth((size) => send(post(path, form(size))));
        expect(await growing, `${path} ${piece}`).toBeLessThan(MOST_GROWTH);
      }
    }
  });

  test('in pieces of one byte', async () => {
    const head = post('/sign-in', '').replace('content-length: 0', 'transfer-encoding: chunked');
    const growing = growth((size) => send(`${head}${'1\r\na\r\n'.repeat(size / 6)}0\r\n\r\n`));
    expect(await growing).toBeLessThan(MOST_GROWTH);
  });
});

test.each([
  ['{"username":"', 'a', '"}'],
  ['{"username":"', ' ', '"}'],
  ['{"username":"', '\\u0041', '"}'],
  ['{"username":"', '\u0301\u0323', '"}'],
  ['{"username":"', '\ufdfa', '"}'],
  ['{"username":"', '\u00ad', '"}'],
  ['{"a":"b"', ',"a":"b"', '}'],
  ['', '[', ''],
  ['', '{"a":', ''],
  ['[', '1e9,', '1]'],
  ['', ' ', '{}'],
  ['', '\ufffd', ''],
])('a JSON body of %j%j…', async (begin, piece, end) => {
  const serverId = await addOwnedServer(web.deps, new ObjectId());
  const { token } = await issueToken(web.deps, { serverId, name: 'Cost' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const vote = (body: string) =>
    request(
      'POST',
      `/api/v1/servers/${serverId.toHexString()}/vote`,
      { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      body,
    );
  const bytes = Buffer.byteLength(piece);
  const growing = growth((size) => send(vote(`${begin}${piece.repeat(size / bytes)}${end}`)));
  expect(await growing).toBeLessThan(MOST_GROWTH);
});
