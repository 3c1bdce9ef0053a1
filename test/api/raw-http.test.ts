import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { codesOf } from '../../src/http/error-codes.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { readiness } from '../../src/process/health.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';

let tallyport: TestDeps;
let server: TestServer;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer();
});
afterAll(() => tallyport.close());

/** Sends raw bytes and reads until the connection closes. `end` closes our side at once. */
function exchange(bytes: string | Buffer, { end = false, url = tallyport.url } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(url);
  let seen = '';
  const socket = connect(Number(port), hostname, () => {
    if (end) socket.end(bytes);
    else socket.write(bytes);
  });
  socket.on('data', (chunk) => {
    seen += chunk;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(seen));
  return promise;
}

/** The status of the last answer in `text`; checks that its body has the shape of errors. */
function refusal(text: string): number {
  const answers = text.split(/(?=HTTP\/1\.1 \d{3})/);
  const last = answers.at(-1) ?? '';
  const [head = '', body = ''] = last.split('\r\n\r\n');
  expect(head).toMatch(/content-type: application\/json; charset=utf-8/i);
  const error = JSON.parse(body.replace(/^[0-9a-f]+\r\n/, '').split('\r\n')[0] ?? '');
  expect(error).toEqual({
    error: expect.stringMatching(/^.+\.$/),
    code: expect.toBeOneOf(codesOf(Number(head.slice(9, 12)))),
    doc_url: `http://localhost:3000/docs/errors#${error.code}`,
  });
  return Number(head.slice(9, 12));
}

const HOST = 'Host: x\r\n';
const LENGTH = 'Content-Length: ';
const vote = (headers: string, body = '') =>
  `POST /api/v1/servers/${server.serverId}/vote HTTP/1.1\r\n${HOST}Authorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n${headers}\r\n${body}`;

describe('input that is not an HTTP request gets an error of the usual shape', () => {
  test.each([
    ['words', 'hello\r\n\r\n', 400],
    ['TLS', Buffer.from('160301020001000001fc0303', 'hex'), 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a header without a colon', `GET / HTTP/1.1\r\n${HOST}hello\r\n\r\n`, 400],
    ['a header with a NUL', `GET / HTTP/1.1\r\n${HOST}a: \u0000\r\n\r\n`, 400],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['a header of 17 KiB', `GET / HTTP/1.1\r\n${HOST}a: ${'x'.repeat(17_408)}\r\n\r\n`, 431],
    ['an address of 17 KiB', `GET /${'x'.repeat(17_408)} HTTP/1.1\r\n${HOST}\r\n`, 431],
    ['an unknown method', `FLY / HTTP/1.1\r\n${HOST}\r\n`, 400],
  ])('%s', async (_, bytes, status) => {
    expect(refusal(await exchange(bytes))).toBe(status);
  });

  test.each([
    ['an unknown expectation', 'Expect: tea\r\nConnection: close\r\nContent-Length: 2\r\n', '{}', 417],
    ['a length that is none', 'Content-Length: two\r\n', '{}', 400],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n', '{}', 400],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '{}', 400],
    ['a chunk that is none', 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}', 400],
    ['endless chunk extensions', 'Transfer-Encoding: chunked\r\n', `2;${'x'.repeat(20_000)}\r\n{}`, 413],
    [
      'a key given twice',
      'Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 2\r\nConnection: close\r\n',
      '{}',
      400,
    ],
  ])('%s', async (_, headers, body, status) => {
    expect(refusal(await exchange(vote(headers, body)))).toBe(status);
  });

  test('a body that ends early', async () => {
    expect(refusal(await exchange(vote('Content-Length: 20\r\n', '{"username"'), { end: true }))).toBe(400);
  });
});

test('a token that is given twice counts as none', async () => {
  const request = `GET /api/v1/servers/${server.serverId}/info HTTP/1.1\r\n${HOST}Authorization: Bearer ${server.token}\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`;
  expect(refusal(await exchange(request))).toBe(401);
});

test('HTTP/1.0 needs no Host, and an absolute URL works like its path', async () => {
  expect(await exchange('GET /healthz HTTP/1.0\r\n\r\n')).toContain('{"alive":true}');
  const whole = `GET http://x/healthz HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
  expect(await exchange(whole)).toContain('{"alive":true}');
});

test('a client that expects 100-continue gets it', async () => {
  const answer = await exchange(
    vote('Expect: 100-continue\r\nConnection: close\r\nContent-Length: 20\r\n', '{"username":"Steve"}'),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

/** An application of its own, whose time-outs the test may change. */
async function openApp(deps: AppDeps) {
  const app = await buildApp(deps, {
    metrics: createMetrics(deps),
    readiness: () => readiness(deps),
    stopping: new AbortController().signal,
  });
  onTestFinished(() => app.close());
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
}

test('headers that take over 10 s and bodies that take over 15 s get 408', async () => {
  const { app, url } = await openApp(await testDeps());
  expect([app.server.headersTimeout, app.server.requestTimeout]).toEqual([10_000, 15_000]);
  Object.assign(app.server, { headersTimeout: 100, requestTimeout: 150 });
  const answers = await Promise.all([
    exchange(`GET /healthz HTTP/1.1\r\n${HOST}`, { url }),
    exchange(vote('Content-Length: 20\r\n', '{"username"'), { url }),
  ]);
  expect(answers.map(refusal)).toEqual([408, 408]);
});

test.each([
  ['headers', '{"username":"Late"}'.length + 2],
  ['body', 8],
])('if the rest of the %s comes after the 408, it is not read', async (_, left) => {
  const request = vote('Content-Length: 19\r\n', '{"username":"Late"}');
  const { app, url } = await openApp(tallyport.deps);
  Object.assign(app.server, { headersTimeout: 100, requestTimeout: 150 });
  let whole = 0;
  app.server.on('request', (request) => request.once('end', () => whole++));
  let seen = '';
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.once('connect', () => socket.write(request.slice(0, -left)));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    seen += chunk;
    if (/^HTTP.* 408 .*\}$/s.test(seen)) socket.write(request.slice(-left), () => socket.end());
  });
  await closed;
  expect(refusal(seen)).toBe(408);
  expect(whole).toBe(0);
});

describe('pipelined requests', () => {
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

  test('a few on one connection are all answered, in order', async () => {
    const last = 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const seen = await exchange(request.repeat(8) + last);
    expect(seen.match(/HTTP\/1\.1 200/g)).toHaveLength(8);
    expect(seen).toMatch(/HTTP\/1\.1 404/);
  });

  test('too many close their own connection and no other', async () => {
    const seen = await exchange(request.repeat(200));
    expect(seen.match(/HTTP\/1\.1 200/g)).toHaveLength(32);
    expect(refusal(seen)).toBe(503);
    expect((await fetch(`${tallyport.url}/healthz`)).status).toBe(200);
  });

  test('each vote that is stored is answered, and none is cast unanswered', async () => {
    const body = (n: number) => JSON.stringify({ username: `Ahead ${n}` });
    const votes = Array.from({ length: 60 }, (_, n) => vote(`${LENGTH}${body(n).length}\r\n`, body(n)));
    const seen = await exchange(votes.join(''));
    const accepted = seen.match(/HTTP\/1\.1 200/g) ?? [];
    expect(accepted).toHaveLength(32);
    expect(refusal(seen)).toBe(503);
    const stored = await tallyport.deps.votes.countDocuments({ username: /^Ahead/ });
    expect(stored).toBe(accepted.length);
  });

  test.each([' ', '}', '\u0000', '\n\n}'])('a vote before %j is answered first', async (rest) => {
    const username = `Before ${JSON.stringify(rest)}`;
    const body = JSON.stringify({ username });
    const seen = await exchange(vote(`${LENGTH}${Buffer.byteLength(body)}\r\n`, body + rest));
    expect(seen).toMatch(/^HTTP\/1\.1 200.*"success":true.*HTTP\/1\.1 400/s);
    expect(refusal(seen)).toBe(400);
  });

  test('a request before bytes that are none is answered first, also if the client ends its side', async () => {
    const seen = await exchange(`GET /readyz HTTP/1.1\r\n${HOST}\r\n\u0000`, { end: true });
    expect(seen).toMatch(/^HTTP\/1\.1 200.*HTTP\/1\.1 400/s);
    expect(refusal(seen)).toBe(400);
  });
});
