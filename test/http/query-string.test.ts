import { beforeAll, describe, expect, test } from 'vitest';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
let server: TestServer;
let claimKey: string;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer({ name: 'Alpha' });
  const { serverId } = server;
  claimKey = (await issueToken(tallyport.deps, { serverId, name: 'plugin', kind: 'claim' })).token;
});

const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}=1`).join('&');
const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost:3000' };

async function send(path: string, init: RequestInit = {}) {
  const answer = await fetch(`${tallyport.url}${path}`, { redirect: 'manual', ...init });
  return { status: answer.status, text: await answer.text() };
}

describe('More than 200 fields are refused before they are decoded', () => {
  test.each([
    ['a page', '/'],
    ['a search', '/?q=alpha'],
    ['the health of the process', '/healthz'],
  ])('in the query of %s', async (_, path) => {
    const query = path.includes('?') ? `${path}&${names(199)}` : `${path}?${names(200)}`;
    expect((await send(query)).status).toBe((await send(path)).status);
    const refused = await send(`${query}&one-more`);
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([400, { code: 'too-many-fields' }]);
  });

  test('in a call of the API, without and with a token', async () => {
    const path = `/api/v1/servers/${server.serverId.toHexString()}/check-vote?username=Steve&`;
    const authorization = `Bearer ${server.token}`;
    expect((await send(path + names(199), { headers: { authorization } })).status).toBe(200);
    for (const headers of [{ authorization }, {}]) {
      const refused = await send(path + names(200), { headers });
      expect([refused.status, JSON.parse(refused.text)]).toMatchObject([400, { code: 'too-many-fields' }]);
    }
  });

  test.each([
    '/sign-in',
    '/servers/alpha/vote',
    '/servers/alpha/vote/challenge',
  ])('lists within lists at %s, as JSON, are no form and are not read', async (path) => {
    const body = `{"email":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
    const headers = { ...FORM, accept: 'application/json', 'content-type': 'application/json' };
    const refused = await send(path, { method: 'POST', headers, body });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      415,
      { code: 'unsupported-media-type' },
    ]);
  });

  test.each([
    '/sign-in',
    '/servers/alpha/vote',
    '/servers/alpha/vote/challenge',
  ])('in the form of %s', async (path) => {
    const asJson = { ...FORM, accept: 'application/json' };
    const few = await send(path, { method: 'POST', headers: asJson, body: names(200) });
    expect(few.text).not.toContain('too-many-fields');
    const many = await send(path, { method: 'POST', headers: asJson, body: names(201) });
    expect([many.status, JSON.parse(many.text)]).toMatchObject([400, { code: 'too-many-fields' }]);
    const page = await send(path, {
      method: 'POST',
      headers: { ...FORM, accept: 'text/html' },
      body: names(201),
    });
    expect(page.status).toBe(400);
    expect(page.text).toContain('The request has more than 200 fields.');
  });

  test('in a claim of a vote plugin', async () => {
    const claim = (count: number) =>
      send('/api/', {
        method: 'POST',
        headers: FORM,
        body: `action=post&username=Steve&key=${claimKey}&${names(count - 3)}`,
      });
    expect((await claim(200)).status).toBe(200);
    const refused = await claim(201);
    expect([refused.status, refused.text]).toEqual([400, 'Error: The request has more than 200 fields.']);
  });
});

test('a form is read as a query is: encoded names, a value that comes twice, malformed encoding', async () => {
  const path = `/api/v1/servers/${server.serverId.toHexString()}/check-vote`;
  const headers = { authorization: `Bearer ${server.token}` };
  const statusOf = async (query: string) => (await send(`${path}?${query}`, { headers })).status;
  expect(await statusOf('user%6eame=St%65ve')).toBe(200);
  expect(await statusOf('username=Steve&username=Alex')).toBe(400);
  expect(await statusOf('username=%zz')).toBe(400);
  const claim = await send('/api/', {
    method: 'POST',
    headers: FORM,
    body: `%6bey=${claimKey}&username=St%65ve`,
  });
  expect(claim.status).toBe(200);
});
