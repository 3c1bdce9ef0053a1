import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { TOKEN_SCOPES, type TokenScope } from '../../src/servers/api-token.ts';
import { issueToken, rotateToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { openWebApp } from '../support/web-app.ts';

const CALLS: [scope: TokenScope, method: 'GET' | 'POST', path: string, body?: object][] = [
  ['vote', 'POST', 'vote', { username: 'Steve' }],
  ['vote', 'POST', 'votes/claim', { username: 'Steve' }],
  ['status', 'POST', 'status', { online_players: 1, max_players: 2 }],
  ['read', 'GET', 'check-vote?username=Steve'],
  ['read', 'GET', 'info'],
  ['read', 'GET', 'reviews'],
  ['read', 'GET', 'votes'],
  ['read', 'GET', 'top-voters'],
  ['read', 'GET', 'player-names'],
  ['read', 'GET', 'goal'],
];

const web = await openWebApp();
const url = await web.app.listen({ host: '127.0.0.1', port: 0 });
const added = await addServer(web.deps, { name: 'Alpha', address: 'play.example.org', port: 25_565 }, 'test');
const serverId = new ObjectId(added.serverId);
await setGoal(web.deps, serverId, { target: 100, period: 'day' }, 'test');

async function call(token: string, method: string, path: string, body?: object) {
  const answer = await fetch(`${url}/api/v1/servers/${serverId.toHexString()}/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, headers: answer.headers, json: await answer.json() };
}

test.each(TOKEN_SCOPES)('a token with the scope %s may call only its endpoints', async (only) => {
  const { token, tokenId } = await issueToken(web.deps, { serverId, name: only, scopes: [only] });
  for (const [scope, method, path, body] of CALLS) {
    const { status, json, headers } = await call(token, method, path, body);
    if (scope === only) expect(status, path).toBe(200);
    else {
      expect([status, json], path).toMatchObject([403, { code: 'scope-missing' }]);
      expect(headers.get('www-authenticate')).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
    }
  }
  // The replacement has the same scopes.
  const next = await rotateToken(web.deps, serverId, new ObjectId(tokenId), { overlapMs: 0 });
  const other = CALLS.find(([scope]) => scope !== only);
  if (!next || !other) throw new Error('not rotated');
  expect((await call(next.token, other[1], other[2], other[3])).status).toBe(403);
});

test('a wrong token is 401 before its scopes are looked at', async () => {
  expect((await call('tp_wrong', 'GET', 'info')).status).toBe(401);
});
