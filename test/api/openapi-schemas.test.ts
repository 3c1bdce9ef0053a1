import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, type OpenApi } from '../support/api-description.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
let document: OpenApi;
beforeAll(async () => {
  tallyport = await startApp({ PUBLIC_URL: 'https://vote.example.org' });
  document = JSON.parse((await ask(`${tallyport.url}/openapi.json`)).text);
});
afterAll(() => tallyport.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ ...operation, name: path.split('/').at(-1) ?? '' })),
  );

test('every body schema has a name; equal schemas share it', () => {
  const nameOf = (described: { content?: Record<string, { schema: { $ref: string } }> } | undefined) =>
    Object.values(described?.content ?? {})[0]?.schema.$ref?.replace('#/components/schemas/', '');
  const bodies = Object.fromEntries(
    operations().map(({ name, requestBody, responses }) => [
      name,
      {
        ...(requestBody ? { request: nameOf(requestBody) } : {}),
        ...Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, nameOf(answer)])),
      },
    ]),
  );
  const failures = { 400: 'Error', 401: 'Error', 403: 'Error', 500: 'Error', 503: 'Error' };
  const ofReads = {
    304: undefined,
    400: 'Error',
    404: 'Error',
    429: 'ReadRefused',
    500: 'Error',
    503: 'Error',
  };
  const ofBodies = { 413: 'Error', 415: 'Error' };
  expect(bodies).toEqual({
    vote: {
      ...failures,
      ...ofBodies,
      request: 'VoteRequest',
      200: 'VoteAccepted',
      422: 'Error',
      429: 'VoteRefused',
    },
    claim: {
      ...failures,
      ...ofBodies,
      request: 'ClaimRequest',
      200: 'VoteClaim',
      409: 'Error',
      422: 'Error',
      429: 'ClaimRefused',
    },
    'check-vote': { ...failures, 200: 'VoteCheck', 429: 'ClaimRefused' },
    status: {
      ...failures,
      ...ofBodies,
      request: 'StatusReport',
      200: 'ReportAccepted',
      429: 'ReportRefused',
    },
    take: {
      ...failures,
      ...ofBodies,
      request: 'TakeRequest',
      200: 'TakenVotes',
      422: 'Error',
      429: 'TakeRefused',
    },
    done: { ...failures, ...ofBodies, request: 'SettleRequest', 200: 'SettledVotes' },
    votes: { ...failures, 200: 'VotePage' },
    'top-voters': { ...failures, 200: 'TopVoters', 304: undefined },
    info: { ...failures, 200: 'ServerInfo', 304: undefined },
    'player-names': { ...failures, 200: 'PlayerNames', 304: undefined },
    addresses: { ...failures, 200: 'ServerAddresses', 304: undefined, 429: 'ReadRefused' },
    goal: { ...failures, 200: 'VoteGoal', 304: undefined, 404: 'Error', 429: 'ReadRefused' },
    reviews: {
      ...failures,
      200: 'ReviewPage',
      301: undefined,
      304: undefined,
      404: 'Error',
      429: 'ReadRefused',
    },
    servers: { ...ofReads, 200: 'PublicServerPage' },
    '{slug}': { ...ofReads, 200: 'PublicServerInFull', 301: undefined },
    history: { ...ofReads, 200: 'PublicHistory', 301: undefined },
    live: {
      200: 'LiveState',
      301: undefined,
      400: 'Error',
      404: 'Error',
      429: 'ReadRefused',
      500: 'Error',
      503: 'Error',
    },
    games: { ...ofReads, 200: 'PublicGames' },
    stats: { ...ofReads, 200: 'PublicStats' },
  });
  const used = Object.values(bodies).flatMap((body) => Object.values(body));
  expect(Object.keys(document.components.schemas).toSorted()).toEqual(
    [...new Set(used.filter((name) => name !== undefined))].toSorted(),
  );
});

test('the README has a row for each endpoint', () => {
  const rows = [...readFileSync('README.md', 'utf8').matchAll(/^\| `([A-Z]+) (?:…|(?=\/))(\/[\w/{}-]+)/gm)];
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const pathOf = (path = '') => (path.startsWith('/api/v1') ? path : `/api/v1/servers/{server_id}${path}`);
  expect(rows.map(([, method, path]) => `${method} ${pathOf(path)}`).toSorted()).toEqual(
    described.toSorted(),
  );
});

test('a username has its bounds, in the body and in the query', () => {
  const bounds = { type: 'string', minLength: 1, maxLength: 50 };
  expect(document.components.schemas.VoteRequest).toMatchObject({
    // The same as in username.test.ts.
    properties: { username: { ...bounds, description: expect.stringContaining('`ı` and `i` are the same') } },
  });
  expect(document.paths['/api/v1/servers/{server_id}/check-vote']?.get).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({ name: 'username', schema: expect.objectContaining(bounds) }),
    ]),
  });
});

test('ids in headers are UUIDs, and every answer has a request id', async () => {
  const uuid = { schema: { type: 'string', format: 'uuid' } };
  expect(document.components.headers['X-Request-Id']).toMatchObject(uuid);
  const vote = document.paths['/api/v1/servers/{server_id}/vote']?.post;
  expect(vote?.responses[200]?.headers?.['Vote-Id']).toMatchObject(uuid);
  for (const { responses } of operations()) {
    for (const { headers } of Object.values(responses)) {
      expect(headers?.['X-Request-Id']).toEqual({ $ref: '#/components/headers/X-Request-Id' });
    }
  }
});

test('it describes contact, licence, where tokens come from and what a report changes', () => {
  expect(document.info).toMatchObject({
    license: { name: 'MIT', identifier: 'MIT' },
    contact: { url: 'https://vote.example.org' },
    description: expect.stringContaining(
      'dashboard, section "API access": open [Your servers](https://vote.example.org/dashboard)',
    ),
  });
  expect(document.info.description).not.toContain('tallyport token issue');
  expect(document.paths['/api/v1/servers/{server_id}/status']?.post).toMatchObject({
    description: expect.stringMatching(/statistics.*last 7 days.*15 minutes/s),
  });
});
