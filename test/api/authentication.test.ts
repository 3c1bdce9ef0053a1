import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { issueToken, revokeToken } from '../../src/servers/api-tokens.ts';
import { makeApiToken } from '../../src/servers/token-text.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { ask } from '../support/api-description.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
let server: TestServer;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer();
});
afterAll(() => tallyport.close());

const path = (serverId: string, endpoint = 'info') => `/api/v1/servers/${serverId}/${endpoint}`;

async function revoked(): Promise<string> {
  const { deps } = tallyport;
  const { token, tokenId } = await issueToken(deps, { serverId: server.serverId, name: 'revoked' });
  expect(await revokeToken(deps, server.serverId, new ObjectId(tokenId))).toBe(true);
  return token;
}

describe('the same 401', () => {
  const id = () => server.serverId.toHexString();
  const ENDPOINTS = [
    ['GET', 'info'],
    ['GET', 'check-vote?username=Steve'],
    ['GET', 'reviews'],
    ['POST', 'vote'],
    ['POST', 'status'],
  ] as const;
  const CASES: [string, () => Promise<{ serverId?: string; authorization?: string }>][] = [
    ['no token', async () => ({})],
    ['an empty header', async () => ({ authorization: '' })],
    ['no scheme', async () => ({ authorization: server.token })],
    ['another scheme', async () => ({ authorization: `Basic ${server.token}` })],
    ['no token after the scheme', async () => ({ authorization: 'Bearer' })],
    ['something after the token', async () => ({ authorization: `Bearer ${server.token} x` })],
    ['no token of ours', async () => ({ authorization: 'Bearer hello' })],
    ['a wrong checksum', async () => ({ authorization: `Bearer ${server.token.slice(0, -1)}_` })],
    ['another case', async () => ({ authorization: `Bearer ${server.token.toUpperCase()}` })],
    ['an unknown token', async () => ({ authorization: `Bearer ${makeApiToken()}` })],
    ['a revoked token', async () => ({ authorization: `Bearer ${await revoked()}` })],
    [
      'an expired token',
      async () => {
        const { token } = await issueToken(tallyport.deps, {
          serverId: server.serverId,
          name: 'short',
          expiresInMs: MINUTE,
        });
        tallyport.clock.move(MINUTE);
        return { authorization: `Bearer ${token}` };
      },
    ],
    [
      'a token of another server',
      async () => ({ authorization: `Bearer ${(await tallyport.addServer()).token}` }),
    ],
    [
      'an unknown server',
      async () => ({ serverId: '0123456789abcdef01234567', authorization: `Bearer ${server.token}` }),
    ],
    [
      'a removed server',
      async () => {
        const removed = await tallyport.addServer();
        const { servers } = tallyport.deps;
        await servers.updateOne({ _id: removed.serverId }, { $set: { removedAt: new Date() } });
        return { serverId: removed.serverId.toHexString(), authorization: `Bearer ${removed.token}` };
      },
    ],
    [
      'an id in upper case',
      async () => ({ serverId: id().toUpperCase(), authorization: `Bearer ${server.token}` }),
    ],
    ['no id', async () => ({ serverId: '', authorization: `Bearer ${server.token}` })],
    ['an id that is none', async () => ({ serverId: 'x', authorization: `Bearer ${server.token}` })],
    [
      'an id of 5,000 characters',
      async () => ({ serverId: 'a'.repeat(5_000), authorization: `Bearer ${server.token}` }),
    ],
    ['a NUL in the id', async () => ({ serverId: '%00', authorization: `Bearer ${server.token}` })],
    ['a slash in the id', async () => ({ serverId: '%2f..%2f', authorization: `Bearer ${server.token}` })],
  ];

  test.each(CASES)('%s', async (_, makeCase) => {
    const { serverId = id(), authorization } = await makeCase();
    for (const [method, endpoint] of ENDPOINTS) {
      const answer = await ask(`${tallyport.url}${path(serverId, endpoint)}`, {
        method,
        headers: authorization === undefined ? {} : { authorization },
        // Neither JSON nor small: 401 comes before 415 and 413.
        ...(method === 'POST' ? { body: 'x'.repeat(20_000) } : {}),
      });
      const { date: _date, 'x-request-id': _id, ...headers } = Object.fromEntries(answer.headers);
      expect({ status: answer.status, text: answer.text, headers }).toEqual({
        status: 401,
        text: '{"error":"A valid API token of this server is needed, sent as Authorization: Bearer <token>.","code":"unauthorized","doc_url":"http://localhost:3000/docs/errors#unauthorized"}',
        headers: expect.objectContaining({
          'www-authenticate': 'Bearer',
          'content-type': 'application/json; charset=utf-8',
        }),
      });
      expect(Object.keys(headers).toSorted()).toEqual(await headersOfNoToken());
    }
  });

  async function headersOfNoToken(): Promise<string[]> {
    const { headers } = await ask(`${tallyport.url}${path(id())}`);
    return [...headers.keys()].filter((name) => !['date', 'x-request-id'].includes(name)).toSorted();
  }
});

test('the scheme is accepted in any letter case', async () => {
  const init = { headers: { authorization: `bEARER   ${server.token}` } };
  expect((await ask(`${tallyport.url}${path(server.serverId.toHexString())}`, init)).status).toBe(200);
});

test('a revoked token is refused at once, another of the same server is not', async () => {
  const { deps } = tallyport;
  const issued = await issueToken(deps, { serverId: server.serverId, name: 'second' });
  const second = { ...server, token: issued.token };
  expect((await tallyport.call(second, 'info')).status).toBe(200);
  const stored = await deps.apiTokens.findOne({ serverId: server.serverId, name: 'second' });
  if (!stored) throw new Error('not stored');
  await revokeToken(deps, server.serverId, stored._id);
  expect((await tallyport.call(second, 'info')).status).toBe(401);
  expect((await tallyport.call(server, 'info')).status).toBe(200);
});

test('the time of a token’s last use is stored', async () => {
  const used = await tallyport.addServer();
  const at = tallyport.clock.now();
  await tallyport.call(used, 'info');
  await expect
    .poll(async () => (await tallyport.deps.apiTokens.findOne({ _id: used.tokenId }))?.lastUsedAt)
    .toSatisfy((lastUsedAt: Date | null | undefined) => Number(lastUsedAt) >= at.getTime());
});

describe('a caller that was authenticated a moment ago', () => {
  test('is refused as soon as its token has expired', async () => {
    const { deps, clock } = tallyport;
    const request = { serverId: server.serverId, name: 'short', expiresInMs: MINUTE };
    const short = { ...server, token: (await issueToken(deps, request)).token };
    expect((await tallyport.call(short, 'check-vote?username=Steve')).status).toBe(200);
    clock.move(MINUTE);
    expect((await tallyport.call(short, 'check-vote?username=Steve')).status).toBe(401);
  });

  test('is refused at once by the process in which its server was removed', async () => {
    const removed = await tallyport.addServer();
    expect((await tallyport.vote(removed, 'Steve')).status).toBe(200);
    await removeServer(tallyport.deps, removed.serverId, 'test');
    for (const endpoint of ['check-vote?username=Steve', 'info', 'reviews']) {
      expect((await tallyport.call(removed, endpoint)).status).toBe(401);
    }
    expect((await tallyport.vote(removed, 'Alex')).status).toBe(401);
  });

  test('needs no look-up of its token; a refused one does', async () => {
    const { deps } = tallyport;
    const known = await tallyport.addServer();
    await tallyport.call(known, 'info');
    await deps.apiTokens.updateOne({ _id: known.tokenId }, { $set: { revokedAt: new Date() } });
    // As another process would do it; seen within 5 s.
    expect((await tallyport.call(known, 'info')).status).toBe(200);
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 5 * SECOND);
    onTestFinished(() => later.mockRestore());
    expect((await tallyport.call(known, 'info')).status).toBe(401);
    await deps.apiTokens.updateOne({ _id: known.tokenId }, { $set: { revokedAt: null } });
    expect((await tallyport.call(known, 'info')).status).toBe(200);
  });
});
