import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Platform } from '../../src/process/app-deps.ts';
import { addServer, editServer, findServer, listServers } from '../../src/servers/listed-servers.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { testPlatform } from '../support/test-platform.ts';
import { deliveredVote, waitingVote } from '../support/votes.ts';

const ADDRESS = { address: 'play.example.org', port: 25_565 };

let platform: Platform;

beforeAll(async () => {
  platform = await testPlatform();
});

describe('removing a server', () => {
  async function serverWithVotes(name: string): Promise<ObjectId> {
    const serverId = new ObjectId((await addServer(platform, { name, ...ADDRESS }, 'test')).serverId);
    await platform.votes.insertMany(
      (['waiting', 'waiting', 'delivered'] as const).map((state, index) => voteOf(serverId, state, index)),
    );
    return serverId;
  }

  function voteOf(serverId: ObjectId, state: 'waiting' | 'delivered', seq: number): Vote {
    const make = state === 'waiting' ? waitingVote : deliveredVote;
    return make(serverId, 'steve', new Date(), { seq });
  }

  const states = (serverId: ObjectId) =>
    platform.votes
      .find({ serverId })
      .sort({ seq: 1 })
      .map(({ delivery }) => delivery.state)
      .toArray();

  it('takes it off the list and fails its waiting votes', async () => {
    const serverId = await serverWithVotes('Leaving');
    const removed = await removeServer(platform, serverId, 'someone');

    expect(removed).toMatchObject({ server: { slug: 'leaving' }, failedVotes: 2 });
    expect(await states(serverId)).toEqual(['failed', 'failed', 'delivered']);
    expect(await findServer(platform, 'leaving')).toBeNull();
    expect(await findServer(platform, serverId.toHexString())).toBeNull();
    expect((await findServer(platform, 'leaving', { removed: true }))?.removedAt).toEqual(
      removed?.server.removedAt,
    );
    expect((await listServers(platform)).some(({ _id }) => _id.equals(serverId))).toBe(false);
    expect((await listServers(platform, { removed: true })).some(({ _id }) => _id.equals(serverId))).toBe(
      true,
    );
    expect(await editServer(platform, serverId, { name: 'Back' }, 'test')).toBeNull();
    expect(await platform.auditLog.findOne({ serverId, action: 'server.remove' })).toMatchObject({
      by: 'someone',
      details: { slug: 'leaving', failedVotes: 2 },
    });
  });

  it('changes nothing the second time', async () => {
    const serverId = await serverWithVotes('Leaving twice');
    const first = await removeServer(platform, serverId, 'test');
    const second = await removeServer(platform, serverId, 'test');

    expect(second).toEqual({ server: first?.server, failedVotes: 0 });
  });

  it('completes an interrupted removal when it runs again', async () => {
    const serverId = await serverWithVotes('Leaving half');
    await platform.servers.updateOne({ _id: serverId }, { $set: { removedAt: new Date() } });

    expect(await removeServer(platform, serverId, 'test')).toMatchObject({ failedVotes: 2 });
    expect(await states(serverId)).toEqual(['failed', 'failed', 'delivered']);
  });

  it('never gives its slug to another server', async () => {
    const serverId = await serverWithVotes('Only once');
    await removeServer(platform, serverId, 'test');

    expect((await addServer(platform, { name: 'Only once', ...ADDRESS }, 'test')).slug).toBe('only-once-2');
  });

  it('returns null for an unknown server', async () => {
    expect(await removeServer(platform, new ObjectId(), 'test')).toBeNull();
  });
});
