import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer, editServer, findServer, listServers } from '../../src/servers/listed-servers.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveredVote, waitingVote } from '../support/votes.ts';

const ADDRESS = { address: 'play.example.org', port: 25_565 };

let deps: AppDeps;

beforeAll(async () => {
  deps = await testDeps();
});

describe('removing a server', () => {
  async function serverWithVotes(name: string): Promise<ObjectId> {
    const serverId = new ObjectId((await addServer(deps, { name, ...ADDRESS }, 'test')).serverId);
    await deps.votes.insertMany(
      (['waiting', 'waiting', 'delivered'] as const).map((state, index) => voteOf(serverId, state, index)),
    );
    return serverId;
  }

  function voteOf(serverId: ObjectId, state: 'waiting' | 'delivered', seq: number): Vote {
    const make = state === 'waiting' ? waitingVote : deliveredVote;
    return make(serverId, 'steve', new Date(), { seq });
  }

  const states = (serverId: ObjectId) =>
    deps.votes
      .find({ serverId })
      .sort({ seq: 1 })
      .map(({ delivery }) => delivery.state)
      .toArray();

  it('takes it off the list and fails its waiting votes', async () => {
    const serverId = await serverWithVotes('Leaving');
    const removed = await removeServer(deps, serverId, 'someone');

    expect(removed).toMatchObject({ server: { slug: 'leaving' }, failedVotes: 2 });
    expect(await states(serverId)).toEqual(['failed', 'failed', 'delivered']);
    expect(await findServer(deps, 'leaving')).toBeNull();
    expect(await findServer(deps, serverId.toHexString())).toBeNull();
    expect((await findServer(deps, 'leaving', { removed: true }))?.removedAt).toEqual(
      removed?.server.removedAt,
    );
    expect((await listServers(deps)).some(({ _id }) => _id.equals(serverId))).toBe(false);
    expect((await listServers(deps, { removed: true })).some(({ _id }) => _id.equals(serverId))).toBe(true);
    expect(await editServer(deps, serverId, { name: 'Back' }, 'test')).toBeNull();
    expect(await deps.auditLog.findOne({ serverId, action: 'server.remove' })).toMatchObject({
      by: 'someone',
      details: { slug: 'leaving', failedVotes: 2 },
    });
  });

  it('changes nothing the second time', async () => {
    const serverId = await serverWithVotes('Leaving twice');
    const first = await removeServer(deps, serverId, 'test');
    const second = await removeServer(deps, serverId, 'test');

    expect(second).toEqual({ server: first?.server, failedVotes: 0 });
  });

  it('completes an interrupted removal when it runs again', async () => {
    const serverId = await serverWithVotes('Leaving half');
    await deps.servers.updateOne({ _id: serverId }, { $set: { removedAt: new Date() } });

    expect(await removeServer(deps, serverId, 'test')).toMatchObject({ failedVotes: 2 });
    expect(await states(serverId)).toEqual(['failed', 'failed', 'delivered']);
  });

  it('never gives its slug to another server', async () => {
    const serverId = await serverWithVotes('Only once');
    await removeServer(deps, serverId, 'test');

    expect((await addServer(deps, { name: 'Only once', ...ADDRESS }, 'test')).slug).toBe('only-once-2');
  });

  it('returns null for an unknown server', async () => {
    expect(await removeServer(deps, new ObjectId(), 'test')).toBeNull();
  });
});
