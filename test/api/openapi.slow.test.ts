import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { apiDocument } from '../../clients/typescript/scripts/api-document.ts';
import { ask, type OpenApi } from '../support/api-description.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
let document: OpenApi;
beforeAll(async () => {
  tallyport = await startApp();
  document = JSON.parse((await ask(`${tallyport.url}/openapi.json`)).text);
});
afterAll(() => tallyport.close());

test('it is a valid OpenAPI 3.1 document that needs no token', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
});

test('the client is generated from the same document', async () => {
  const { servers, ...served } = document as OpenApi & { servers: { url: string }[] };
  expect(await apiDocument(servers[0]?.url)).toEqual({ ...served, servers });
});

test('it has every endpoint with every answer, and nothing else', () => {
  const answers = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { responses }]) => [
        `${method} ${path.replace('/api/v1/servers/{server_id}', '…')}`,
        Object.keys(responses).join(' '),
      ]),
    ),
  );
  expect(answers).toEqual({
    'post …/vote': '200 400 401 403 413 415 422 429 500 503',
    'post …/votes/claim': '200 400 401 403 409 413 415 422 429 500 503',
    'get …/check-vote': '200 400 401 403 429 500 503',
    'get …/votes': '200 400 401 403 500 503',
    'get …/top-voters': '200 304 400 401 403 500 503',
    'post …/status': '200 400 401 403 413 415 429 500 503',
    'post …/deliveries/take': '200 400 401 403 413 415 422 429 500 503',
    'post …/deliveries/done': '200 400 401 403 413 415 500 503',
    'get …/info': '200 304 400 401 403 500 503',
    'get …/player-names': '200 304 400 401 403 500 503',
    'get …/addresses': '200 304 400 401 403 429 500 503',
    'get …/goal': '200 304 400 401 403 404 429 500 503',
    'get …/reviews': '200 301 304 400 401 403 404 429 500 503',
    'get /api/v1/servers': '200 304 400 404 429 500 503',
    'get /api/v1/servers/{slug}': '200 301 304 400 404 429 500 503',
    'get /api/v1/servers/{slug}/history': '200 301 304 400 404 429 500 503',
    'get /api/v1/servers/{slug}/live': '200 301 400 404 429 500 503',
    'get /api/v1/games': '200 304 400 404 429 500 503',
    'get /api/v1/stats': '200 304 400 404 429 500 503',
  });
});

test('it names the headers of requests and answers', () => {
  const vote = document.paths['/api/v1/servers/{server_id}/vote']?.post;
  const headersOf = (status: number) => Object.keys(vote?.responses[status]?.headers ?? {}).toSorted();
  expect(headersOf(200)).toEqual([
    'Idempotent-Replayed',
    'RateLimit',
    'RateLimit-Policy',
    'Vote-Id',
    'X-Request-Id',
  ]);
  expect(headersOf(429)).toEqual(['RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id']);
  expect(headersOf(503)).toEqual(['Retry-After', 'X-Request-Id']);
  expect(headersOf(401)).toEqual(['WWW-Authenticate', 'X-Request-Id']);
  expect(vote).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({ in: 'header', name: 'Idempotency-Key', required: false }),
    ]),
  });
});

test('if PUBLIC_URL has a path, everything is under it; health is at the root too', async () => {
  const listing = await startApp({ PUBLIC_URL: 'https://example.org/games/listing/' });
  onTestFinished(() => listing.close());
  const base = `${listing.url}/games/listing`;
  const server = await listing.addServer();
  expect((await listing.vote(server, 'Steve')).status).toBe(200);
  const described = JSON.parse((await ask(`${base}/openapi.json`)).text);
  expect(described).toMatchObject({ servers: [{ url: 'https://example.org/games/listing' }] });
  expect(Object.keys(described.paths)).toEqual(Object.keys(document.paths));
  for (const path of ['/healthz', '/games/listing/healthz', '/games/listing/docs/']) {
    expect((await ask(`${listing.url}${path}`)).status, path).toBe(200);
  }
  for (const path of ['/openapi.json', '/docs/', `/api/v1/servers/${server.serverId}/info`, '/games']) {
    expect((await ask(`${listing.url}${path}`)).status, path).toBe(404);
  }
});
