import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codesOf, type ErrorCode } from '../../src/http/error-codes.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
let server: TestServer;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer();
});
afterAll(() => tallyport.close());

const JSON_TYPE = { 'content-type': 'application/json' };

/** Sends a request to a path of the API of `server`, as raw text: Node would not send some of them. */
function raw(head: string): Promise<{ status: number; body: { error: string; code: ErrorCode } }> {
  const { hostname, port } = new URL(tallyport.url);
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof raw>>>();
  let text = '';
  const socket = connect(Number(port), hostname, () => socket.write(head));
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', reject).on('close', () => {
    const json = /\{.*\}/s.exec(text)?.[0] ?? '{}';
    resolve({ status: Number(text.slice(9, 12)), body: JSON.parse(json) });
  });
  return promise;
}

const to = (line: string, ...headers: string[]) => raw([line, 'Host: x', ...headers, '', ''].join('\r\n'));
const vote = (body: string, headers: Record<string, string> = JSON_TYPE) =>
  tallyport.call(server, 'vote', { method: 'POST', body, headers });
const path = (endpoint: string) => `/api/v1/servers/${server.serverId}/${endpoint}`;
const CLOSE = 'Connection: close';

type Answered = { status: number; body: { code?: unknown; error?: unknown } };

const WAYS: [code: ErrorCode, status: number, how: string, ask: () => Promise<Answered>][] = [
  ['malformed', 400, 'a field', () => vote('{}')],
  ['malformed', 400, 'no JSON', () => vote('{')],
  ['malformed', 400, 'a cursor', () => tallyport.call(server, 'votes?cursor=x')],
  ['malformed', 400, 'no HTTP', () => raw('hello\r\n\r\n')],
  ['malformed', 400, 'percent-encoding', () => to('GET /%zz HTTP/1.1', CLOSE)],
  ['unauthorized', 401, 'no token', () => to(`GET ${path('info')} HTTP/1.1`, CLOSE)],
  ['unauthorized', 401, 'no server', () => to(`GET /api/v1/servers/x/votes HTTP/1.1`, CLOSE)],
  ['not-found', 404, 'a path of the API', () => to('GET /api/v1/nothing HTTP/1.1', CLOSE)],
  ['not-found', 404, 'a page that is wanted as JSON', () => to('GET /servers/nothing HTTP/1.1', CLOSE)],
  ['method-not-allowed', 405, 'a method', () => to(`DELETE ${path('top-voters')} HTTP/1.1`, CLOSE)],
  ['too-large', 413, 'a body', () => vote('x'.repeat(20_000))],
  ['unsupported-media-type', 415, 'text', () => vote('{}', { 'content-type': 'text/plain' })],
  [
    'expectation-failed',
    417,
    'an expectation',
    () => to(`POST ${path('vote')} HTTP/1.1`, 'Expect: tea', 'Content-Length: 2', CLOSE),
  ],
  ['headers-too-large', 431, 'a header', () => to('GET / HTTP/1.1', `A: ${'x'.repeat(17_408)}`)],
];

test.each(WAYS)('%s (%i): %s', async (code, status, _, ask) => {
  const answer = await ask();
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(answer.body.error).toMatch(/\.$/);
  expect(codesOf(status)).toContain(code);
});

test('cooldown and idempotency-key-reused: a second vote', async () => {
  const key = { 'idempotency-key': 'k' };
  await tallyport.vote(server, 'Steve', key);
  expect((await tallyport.vote(server, 'Steve')).body).toMatchObject({ code: 'cooldown' });
  expect((await tallyport.vote(server, 'Alex', key)).body).toMatchObject({ code: 'idempotency-key-reused' });
});

test('too-early: a second report', async () => {
  const report = { online_players: 1, max_players: 1 };
  await tallyport.report(server, report);
  expect((await tallyport.report(server, report)).body).toMatchObject({ code: 'too-early' });
});
