import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditSentence } from '../../src/platform/audit/audit-actions.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import { type AppDeps, openAppDeps } from '../../src/process/app-deps.ts';
import { issueToken, listTokens, revokeToken, rotateToken } from '../../src/servers/api-tokens.ts';
import { authenticate, noteTokenUse } from '../../src/servers/authenticate-token.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { makeApiToken } from '../../src/servers/token-text.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { migrateFresh } from '../support/databases.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testConfig } from '../support/test-deps.ts';

/** Two processes on one database; their clocks are moved together. */
let one: AppDeps & { clock: StoppedClock };
let other: AppDeps & { clock: StoppedClock };
beforeAll(async () => {
  const config = testConfig();
  const clock = stoppedClock();
  one = { ...(await openAppDeps(config, 'one')), clock };
  await migrateFresh(one, config.MONGODB_URI);
  other = { ...(await openAppDeps(config, 'other')), clock };
});
afterAll(async () => {
  await one.close();
  await other.close();
});

/** A listed server with a token. */
async function server(request: { name?: string; expiresInMs?: number } = {}) {
  const added = await addServer(one, { name: 'Alpha', address: 'alpha.example.org', port: 25_565 }, 'test');
  const serverId = new ObjectId(added.serverId);
  const { tokenId, token } = await issueToken(one, { serverId, name: 'plugin', ...request });
  return { serverId, id: added.serverId, tokenId: new ObjectId(tokenId), token };
}

/** The time `ms` milliseconds after another. */
function later(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms);
}

/** Whether both processes accept `token` for the server `id`. */
async function valid(id: string, token: string): Promise<boolean> {
  const callers = await Promise.all([one, other].map((process) => authenticate(process, id, token)));
  expect(new Set(callers.map((caller) => caller !== null)).size).toBe(1);
  return callers[0] !== null;
}

describe('a token', () => {
  test('authenticates calls for its server', async () => {
    const { id, serverId, tokenId, token } = await server({ name: '  My plugin ' });
    const caller = await authenticate(other, id, token);
    expect(caller?.serverId).toEqual(serverId);
    expect(caller?.token).toMatchObject({ _id: tokenId, serverId, name: 'My plugin', expiresAt: null });
  });

  test('is not stored in the database, only its hash and its prefix', async () => {
    const { token } = await server();
    const rotatable = await server();
    const rotated = await rotateToken(one, rotatable.serverId, rotatable.tokenId, { overlapMs: HOUR });
    const everything: string[] = [];
    for (const { name } of await one.mongo.db.listCollections().toArray()) {
      const found = one.mongo.db.collection(name).find({}, { raw: true });
      for await (const document of found) everything.push(Buffer.from(document as never).toString('latin1'));
    }
    const text = everything.join('\n');
    for (const secret of [token, rotatable.token, rotated?.token ?? '']) {
      expect(text).toContain(secret.slice(0, 9));
      for (let at = 3; at + 12 <= secret.length; at += 1) {
        expect(text).not.toContain(secret.slice(at, at + 12));
      }
    }
  });

  test('is named in the audit log when it is created, rotated and revoked', async () => {
    const { serverId } = await server();
    const { tokenId } = await issueToken(one, { serverId, name: 'My plugin' }, 'nora');
    const rotated = await rotateToken(one, serverId, new ObjectId(tokenId), { overlapMs: HOUR }, 'nora');
    await revokeToken(one, serverId, new ObjectId(rotated?.tokenId), 'nora');
    const entries = await one.auditLog
      .find({ serverId, action: /^token\./ })
      .sort({ action: 1 })
      .toArray();
    expect(entries.map(auditSentence)).toEqual([
      'Created an API token: My plugin',
      'Revoked an API token: My plugin',
      'Rotated an API token: My plugin',
    ]);
  });

  test.for([
    ['empty', ''],
    ['of spaces', '   '],
    ['of 61 characters', 'x'.repeat(61)],
    ['of two lines', 'one\ntwo'],
    ['with an escape', '\u001b[31mred'],
  ] as const)('is not issued under a name that is %s', async ([, name]) => {
    const { serverId } = await server();
    const refused = await issueToken(one, { serverId, name }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidDocumentError);
    expect(String(refused)).toMatch(/The name must (not be empty|have [^“]+)\.$/);
    expect(await listTokens(one, serverId)).toHaveLength(1);
  });

  test('is valid together with other tokens of its server, listed oldest first', async () => {
    const { serverId, id, token } = await server({ name: 'first' });
    one.clock.move(1);
    const second = await issueToken(one, { serverId, name: 'second' });
    expect((await listTokens(other, serverId)).map(({ name }) => name)).toEqual(['first', 'second']);
    expect(await valid(id, token)).toBe(true);
    expect(await valid(id, second.token)).toBe(true);
  });
});

describe('a call for a server is refused', () => {
  test('with a token of another server', async () => {
    const [alpha, beta] = [await server(), await server()];
    expect(await valid(alpha.id, beta.token)).toBe(false);
    expect(await valid(beta.id, beta.token)).toBe(true);
  });

  test('with a token that was never issued, or that has a typing error', async () => {
    const { id, token } = await server();
    expect(await valid(id, makeApiToken())).toBe(false);
    expect(await valid(id, token.toLowerCase())).toBe(false);
    expect(await valid(id, ` ${token}`)).toBe(false);
    expect(await valid(id, '')).toBe(false);
  });

  test('for a server that is removed or unknown, or an id with a wrong format', async () => {
    const { id, serverId, token } = await server();
    const wrong = [id.toUpperCase(), ` ${id}`, id.slice(1), `${id}0`, '', new ObjectId().toHexString()];
    for (const text of wrong.filter((text) => text !== id))
      expect(await valid(text, token), text).toBe(false);
    expect(await valid(id, token)).toBe(true);
    await removeServer(other, serverId, 'test');
    expect(await valid(id, token)).toBe(false);
  });
});

describe('an expiry', () => {
  test('leaves a token valid until one millisecond before', async () => {
    const { id, token } = await server({ expiresInMs: DAY });
    one.clock.move(DAY - 1);
    expect(await valid(id, token)).toBe(true);
    one.clock.move(1);
    expect(await valid(id, token)).toBe(false);
  });
});

describe('revoking', () => {
  test('invalidates a token at once in every process, for ever', async () => {
    const { id, serverId, tokenId, token } = await server();
    const { token: second } = await issueToken(one, { serverId, name: 'second' });
    expect(await valid(id, token)).toBe(true);
    expect(await revokeToken(one, serverId, tokenId)).toBe(true);
    expect(await valid(id, token)).toBe(false);
    expect(await valid(id, second)).toBe(true);
    const revokedAt = one.clock.now();
    one.clock.move(HOUR);
    expect(await revokeToken(one, serverId, tokenId)).toBe(true);
    expect((await listTokens(one, serverId))[0]?.revokedAt).toEqual(revokedAt);
  });

  test('does not revoke a token of another server', async () => {
    const [alpha, beta] = [await server(), await server()];
    expect(await revokeToken(one, alpha.serverId, beta.tokenId)).toBe(false);
    expect(await revokeToken(one, alpha.serverId, new ObjectId())).toBe(false);
    expect(await valid(beta.id, beta.token)).toBe(true);
  });
});

describe('rotating', () => {
  test('makes a new token of the same name while the old one stays valid for the overlap', async () => {
    const { id, serverId, tokenId, token } = await server({ name: 'plugin' });
    const issued = await rotateToken(one, serverId, tokenId, { overlapMs: HOUR });
    const fresh = issued?.token ?? '';
    expect((await listTokens(one, serverId)).map(({ name }) => name)).toEqual(['plugin', 'plugin']);
    one.clock.move(HOUR - 1);
    expect([await valid(id, token), await valid(id, fresh)]).toEqual([true, true]);
    one.clock.move(1);
    expect([await valid(id, token), await valid(id, fresh)]).toEqual([false, true]);
  });

  test('without overlap invalidates the old token at once', async () => {
    const { id, serverId, tokenId, token } = await server();
    const issued = await rotateToken(one, serverId, tokenId, { overlapMs: 0 });
    expect([await valid(id, token), await valid(id, issued?.token ?? '')]).toEqual([false, true]);
  });

  test('leaves an earlier expiry of the old token unchanged and gives the new token the same lifetime', async () => {
    const { id, serverId, tokenId, token } = await server({ expiresInMs: DAY });
    one.clock.move(DAY - MINUTE);
    const issued = await rotateToken(one, serverId, tokenId, { overlapMs: HOUR });
    const rotatedAt = one.clock.now();
    one.clock.move(MINUTE);
    expect(await valid(id, token)).toBe(false);
    expect((await listTokens(one, serverId))[1]?.expiresAt).toEqual(later(rotatedAt, DAY));
    expect(await valid(id, issued?.token ?? '')).toBe(true);
  });

  test('twice gives the second successor the same lifetime as the first', async () => {
    const { serverId, tokenId } = await server();
    await rotateToken(one, serverId, tokenId, { overlapMs: HOUR });
    one.clock.move(MINUTE);
    await rotateToken(one, serverId, tokenId, { overlapMs: DAY });
    const [old, first, second] = await listTokens(one, serverId);
    expect(old?.expiresAt).toEqual(later(one.clock.now(), HOUR - MINUTE));
    expect([first?.expiresAt, second?.expiresAt]).toEqual([null, null]);
  });

  test('is refused for a token that is revoked, expired, unknown or of another server', async () => {
    const revoked = await server();
    await revokeToken(one, revoked.serverId, revoked.tokenId);
    const expired = await server({ expiresInMs: SECOND });
    one.clock.move(SECOND);
    const beta = await server();
    for (const [serverId, tokenId] of [
      [revoked.serverId, revoked.tokenId],
      [expired.serverId, expired.tokenId],
      [beta.serverId, new ObjectId()],
      [revoked.serverId, beta.tokenId],
    ] as const) {
      expect(await rotateToken(one, serverId, tokenId, { overlapMs: HOUR })).toBeNull();
      expect(await listTokens(one, serverId)).toHaveLength(1);
    }
  });
});

describe('the last use', () => {
  test('is precise to the minute: at most one write per minute, and never an earlier time', async () => {
    const { id, serverId, token } = await server();
    const lastUse = async () => (await listTokens(one, serverId))[0]?.lastUsedAt;
    const use = async () => {
      const caller = await authenticate(one, id, token);
      if (caller) await noteTokenUse(one, caller.token);
    };
    expect(await lastUse()).toBeNull();
    const stale = await authenticate(other, id, token);
    await use();
    const first = one.clock.now();
    expect(await lastUse()).toEqual(first);
    one.clock.move(MINUTE - 1);
    await use();
    expect(await lastUse()).toEqual(first);
    one.clock.move(1);
    await use();
    expect(await lastUse()).toEqual(later(first, MINUTE));

    one.clock.move(-30 * SECOND);
    if (stale) await noteTokenUse(other, stale.token);
    expect(await lastUse()).toEqual(later(first, MINUTE));
  });
});
