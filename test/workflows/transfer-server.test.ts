import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken, listTokens } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { inviteMember } from '../../src/servers/members.ts';
import { findMove, saveMove } from '../../src/servers/moves.ts';
import type { Server } from '../../src/servers/server.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { WEBHOOK_ADDRESS } from '../support/fake-discord.ts';
import { signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

/** A server, and two users who own it one after the other. */
async function transferring({ isOwned = true } = {}) {
  const clock = stoppedClock();
  const deps = { ...(await testDeps()), clock };
  const [first, next] = [await signIn({ deps }), await signIn({ deps })];
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565 };
  const serverId = new ObjectId((await addServer(deps, settings, 'test')).serverId);
  const owned: Partial<Server> = isOwned ? { ownerId: first.userId } : { ownerEmail: 'import@example.org' };
  await deps.servers.updateOne({ _id: serverId }, { $set: owned });
  const server = async () => {
    const found = await deps.servers.findOne({ _id: serverId });
    if (!found) throw new Error('no server');
    return found;
  };
  /** What an owner, or an operator for a future owner, adds to a server. */
  const addAll = async ({ userId, email }: typeof first, name: string) => {
    clock.move(MINUTE);
    await issueToken(deps, { serverId, name });
    await addSubscription(
      deps,
      serverId,
      { type: 'discord', name, kinds: ['milestone'], webhook: WEBHOOK_ADDRESS },
      email,
    );
    const move = await saveMove(deps, await server(), { address: '192.0.2.7', port: 25_565 }, userId);
    const by = { _id: userId, email, address: '192.0.2.7' };
    await inviteMember(deps, await server(), { email: `${name}@example.org`, role: 'full' }, by);
    return move;
  };
  const transfer = (using: AppDeps = deps, to = next) =>
    transferServer(using, serverId, { _id: to.userId, email: to.email }, 'test');
  const entries = () =>
    deps.auditLog.find({ serverId, action: 'server.transfer' }).sort({ _id: 1 }).toArray();
  /** Which tokens work, and what else is there. */
  const present = async () => ({
    tokens: (await listTokens(deps, serverId)).flatMap(({ name, revokedAt }) => (revokedAt ? [] : [name])),
    subscriptions: await deps.subscriptions.distinct('name', { serverId }),
    move: await findMove(deps, serverId),
    invited: ((await server()).invitations ?? []).map(({ email }) => email),
  });
  return { deps, clock, first, next, server, addAll, transfer, entries, present };
}

/** The dependencies of a process that dies when it calls `method` of a collection. */
function dying(deps: AppDeps, collection: keyof AppDeps, method: string): AppDeps {
  const dies = { value: () => Promise.reject(new Error('died')) };
  return { ...deps, [collection]: Object.create(deps[collection] as object, { [method]: dies }) };
}

const DEATHS = [
  ['apiTokens', 'updateMany'],
  ['serverDrafts', 'deleteMany'],
  ['subscriptions', 'findOneAndDelete'],
  ['reviews', 'findOne'],
  ['auditLog', 'insertOne'],
  ['servers', 'updateOne'],
] as const;

test.each(
  DEATHS,
)('a transfer that dies at %s.%s is completed by the next one; what came since stays', async (collection, method) => {
  const { deps, first, next, server, addAll, transfer, entries, present } = await transferring();
  await addAll(first, 'old');
  await expect(transfer(dying(deps, collection, method))).rejects.toThrow('died');
  expect((await server()).ownerId).toEqual(next.userId);
  const move = await addAll(next, 'new');
  const added = {
    tokens: ['new'],
    subscriptions: ['new'],
    move: { code: move.code },
    invited: ['new@example.org'],
  };
  for (const _ of [1, 2]) {
    expect((await transfer())?.server.ownerId).toEqual(next.userId);
    expect(await present()).toMatchObject(added);
    const details = { from: first.email, to: next.email, revokedTokens: 1 };
    expect(await entries()).toMatchObject([{ by: 'test', details }]);
  }
  expect(await server()).not.toHaveProperty('transfer');
});

test('a transfer to a third user completes the interrupted one before', async () => {
  const { deps, first, next, addAll, transfer, entries, present } = await transferring();
  await addAll(first, 'old');
  await expect(transfer(dying(deps, 'auditLog', 'insertOne'))).rejects.toThrow('died');
  await addAll(next, 'new');
  const third = await signIn({ deps });
  expect((await transfer(deps, third))?.server.ownerId).toEqual(third.userId);
  expect(await present()).toEqual({ tokens: [], subscriptions: [], move: null, invited: [] });
  expect(await entries()).toMatchObject([
    { details: { from: first.email, to: next.email, revokedTokens: 1 } },
    { details: { from: next.email, to: third.email } },
  ]);
});

test('a repeated transfer of a server that had no owner takes nothing from the new owner', async () => {
  const { next, addAll, server, transfer, entries, present } = await transferring({ isOwned: false });
  await addAll(next, 'given');
  await Promise.all([transfer(), transfer()]);
  expect(await present()).toEqual({ tokens: ['given'], subscriptions: [], move: null, invited: [] });
  await addAll(next, 'new');
  const before = await server();
  expect(await transfer()).toEqual({ server: before, revokedTokens: 0 });
  expect(await present()).toMatchObject({
    tokens: ['given', 'new'],
    subscriptions: ['new'],
    invited: ['new@example.org'],
  });
  expect(await entries()).toMatchObject([{ details: { from: 'import@example.org', to: next.email } }]);
  expect(before).not.toHaveProperty('ownerEmail');
});

test('a transfer to the user who owns the server already changes nothing', async () => {
  const { deps, next, server, addAll, transfer, entries } = await transferring();
  const proof = { method: 'message', at: after(deps.clock.now(), -MINUTE) } as const;
  await deps.servers.updateOne({}, { $set: { ownerId: next.userId, proof } });
  await addAll(next, 'new');
  const before = await server();
  expect(await transfer()).toEqual({ server: before, revokedTokens: 0 });
  expect(await server()).toEqual(before);
  expect(await entries()).toEqual([]);
});
