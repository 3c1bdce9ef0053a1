import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/api-description.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
let server: TestServer;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer();
});
afterAll(() => tallyport.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
  to = server,
) => tallyport.call(to, 'vote', { method: 'POST', body, headers });
let players = 0;
const nextPlayer = () => `player ${++players}`;

/** Sends any method; fetch refuses some. */
function send(method: string, path: string): Promise<{ status: number; allow?: string; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number;
    allow?: string;
    text: string;
  }>();
  request(`${tallyport.url}${path}`, { method }, async (response) => {
    const chunks: Buffer[] = await response.toArray();
    const { allow } = response.headers;
    resolve({
      status: response.statusCode ?? 0,
      ...(allow ? { allow } : {}),
      text: Buffer.concat(chunks).toString(),
    });
  })
    .on('error', reject)
    .end();
  return promise;
}

/** The code of an error, and the address that explains it. */
const coded = (code: string) => ({ code, doc_url: `http://localhost:3000/docs/errors#${code}` });

describe('404 comes first: unknown path', () => {
  test.each([
    ['GET', '/listing'],
    ['GET', '/api/v1/server'],
    ['GET', '/api/v1/servers/0123456789abcdef01234567/nothing'],
    ['DELETE', '/api/v1/servers/0123456789abcdef01234567/nothing'],
    ['GET', '/API/v1/servers/0123456789abcdef01234567/info'],
    ['GET', '/api/v2/servers/0123456789abcdef01234567/info'],
    ['PROPFIND', '/nothing'],
    ['TRACE', '/nothing'],
    ['GET', '/metrics'],
    ['GET', '/__proto__'],
  ])('%s %s', async (method, path) => {
    expect(await send(method, path)).toEqual({
      status: 404,
      text: '{"error":"There is nothing at this address.","code":"not-found","doc_url":"http://localhost:3000/docs/errors#not-found"}',
    });
  });

  test('with a body of any kind and size', async () => {
    const answer = await ask(`${tallyport.url}/api/v1/vote`, { method: 'POST', body: 'x'.repeat(50_000) });
    expect(answer.status).toBe(404);
  });
});

describe('405 comes before 401, and lists the allowed methods', () => {
  test.each([
    ['vote', 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']],
    ['status', 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['info', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'MKCOL']],
    ['check-vote', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['votes', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
    ['top-voters', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
    ['player-names', 'GET, HEAD', ['POST', 'PUT', 'DELETE']],
    ['goal', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'DELETE']],
    ['reviews', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'PATCH', 'DELETE']],
  ])('%s', async (endpoint, allow, methods) => {
    for (const method of methods) {
      expect(await send(method, `/api/v1/servers/x/${endpoint}?username=Steve`)).toEqual({
        status: 405,
        allow,
        text:
          method === 'HEAD'
            ? ''
            : '{"error":"This address does not take that method: see the Allow header.","code":"method-not-allowed","doc_url":"http://localhost:3000/docs/errors#method-not-allowed"}',
      });
    }
  });

  test('on other pages too', async () => {
    expect(await send('POST', '/healthz')).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    expect(await send('DELETE', '/openapi.json')).toMatchObject({ status: 405, allow: 'GET, HEAD' });
  });
});

describe('415: the body is not JSON', () => {
  test.each([
    ['no content type', {}],
    ['text', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a kind of JSON', { 'content-type': 'application/problem+json' }],
    ['a longer name', { 'content-type': 'application/jsonx' }],
    ['no media type', { 'content-type': 'json' }],
    ['compressed', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ])('%s', async (_, headers) => {
    const bytes = new TextEncoder().encode(JSON.stringify({ username: nextPlayer() }));
    const answer = await post(bytes, headers);
    expect([answer.status, answer.body.error]).toEqual([
      415,
      'The body must be JSON, sent with Content-Type: application/json and without Content-Encoding.',
    ]);
  });

  test('it comes before 413', async () => {
    expect((await post('x'.repeat(20_000), { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;',
    'APPLICATION/JSON;',
    'application/json, charset=utf-8',
    'application/json,charset=utf-8',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json;;charset=utf-8',
    ' application/json ; charset = utf-8 ',
  ])('%s is JSON', async (type) => {
    const answer = await post(JSON.stringify({ username: nextPlayer() }), { 'content-type': type });
    expect(answer.status).toBe(200);
  });
});

describe('413: the body is larger than 16 KiB', () => {
  const padded = (bytes: number) => {
    const [head, tail] = [`{"username":"${nextPlayer()}","padding":"`, '"}'];
    return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
  };

  test('16 KiB is accepted, and unknown fields are ignored', async () => {
    expect((await post(padded(16_384))).status).toBe(200);
  });

  test.each([16_385, 17_408, 200_000])('%i bytes', async (bytes) => {
    const answer = await post(padded(bytes));
    expect([answer.status, answer.body]).toEqual([
      413,
      { error: 'The body is larger than 16 KiB.', ...coded('too-large') },
    ]);
  });

  test('in chunks, without a length', async () => {
    const stream = new Blob([padded(17_408)]).stream();
    const init = { method: 'POST', body: stream, duplex: 'half', headers: JSON_TYPE };
    expect((await tallyport.call(server, 'vote', init as RequestInit)).status).toBe(413);
  });

  test('it comes before 400', async () => {
    expect((await post('{'.repeat(17_408))).status).toBe(413);
  });
});

describe('400: the body is malformed', () => {
  const utf8 = (...bytes: number[]) =>
    new Uint8Array([...Buffer.from('{"username":"Steve'), ...bytes, ...Buffer.from('"}')]);
  test.each([
    ['empty', '', 'The body is empty.'],
    ['no JSON', 'username=Steve', 'The body is not valid JSON.'],
    ['cut off', '{"username": "Steve"', 'The body is not valid JSON.'],
    ['two values', '{"username": "Steve"} {}', 'The body is not valid JSON.'],
    ['a bare control character', '{"username": "Ste\nve"}', 'The body is not valid JSON.'],
    ['a list', '[{"username": "Steve"}]', 'The body must be a JSON object.'],
    ['a string', '"Steve"', 'The body must be a JSON object.'],
    ['null', 'null', 'The body must be a JSON object.'],
    ['nested deeply', '['.repeat(16_384), 'The body is not valid JSON.'],
    ['invalid UTF-8', utf8(0xff), 'The body is not valid UTF-8.'],
    ['Latin-1', utf8(0xe9), 'The body is not valid UTF-8.'],
    ['overlong UTF-8', utf8(0xc0, 0x80), 'The body is not valid UTF-8.'],
    ['a surrogate in UTF-8', utf8(0xed, 0xa0, 0x80), 'The body is not valid UTF-8.'],
    [
      'an escaped unpaired surrogate',
      '{"username": "Ste\\ud800ve"}',
      'username must be valid Unicode: it has an unpaired surrogate or malformed percent-encoding.',
    ],
    [
      'a username in the prototype',
      '{"__proto__": {"username": "Steve"}}',
      'username is required and must be a string.',
    ],
  ])('%s', async (_, body, error) => {
    const answer = await post(body);
    expect([answer.status, answer.body]).toEqual([400, { error, ...coded('malformed') }]);
  });

  test('keys such as __proto__ are unknown fields, and ignored', async () => {
    const name = nextPlayer();
    const body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{}},"toString":1,"username":"${name}"}`;
    expect((await post(body)).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('nesting is accepted', async () => {
    const body = `{"username":"${nextPlayer()}","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    expect((await post(body)).status).toBe(200);
  });

  test('a byte order mark is accepted', async () => {
    expect((await post(`\ufeff{"username":"${nextPlayer()}"}`)).status).toBe(200);
  });

  test('without a body and without a content type', async () => {
    const answer = await tallyport.call(server, 'vote', { method: 'POST' });
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: 'The body must be a JSON object.', ...coded('malformed') },
    ]);
  });
});

test('400 comes before 422, and 422 before 429', async () => {
  const fresh = await tallyport.addServer();
  const key = { 'idempotency-key': 'key' };
  await tallyport.vote(fresh, 'Steve', key);
  await tallyport.vote(fresh, 'Alex');
  expect((await tallyport.vote(fresh, '', key)).status).toBe(400);
  expect((await tallyport.vote(fresh, 'Alex', key)).status).toBe(422);
  expect((await tallyport.vote(fresh, 'Alex')).status).toBe(429);
});

test('malformed percent-encoding in a path is 400', async () => {
  expect(await send('GET', '/api/v1/servers/%zz/info')).toEqual({
    status: 400,
    text: '{"error":"The address has malformed percent-encoding.","code":"malformed","doc_url":"http://localhost:3000/docs/errors#malformed"}',
  });
});

test('every answer has a request id and security headers', async () => {
  for (const path of ['/healthz', '/nothing', `/api/v1/servers/${server.serverId}/info`]) {
    const { headers } = await ask(`${tallyport.url}${path}`);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('an unexpected error is 500, and reveals no details', async () => {
  const broken = await tallyport.addServer();
  const { servers } = tallyport.deps;
  await servers.updateOne({ _id: broken.serverId }, { $unset: { current: 1 } });
  const answer = await tallyport.call(broken, 'info');
  expect([answer.status, answer.body]).toEqual([
    500,
    {
      error: 'Something went wrong on our side. It was noted; please try again later.',
      ...coded('internal'),
    },
  ]);
});
