import { MongoClient, ObjectId, UUID } from 'mongodb';
import { expect, inject, onTestFinished, test } from 'vitest';
import { watchVotes } from '../../src/demo/watch-votes.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { unmigratedNames } from '../support/databases.ts';
import { mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';

test('a waiting vote is reported once, and the watch survives a database outage', async () => {
  const proxy = await startFaultProxy(Number(new URL(inject('mongodbUri')).port), 'mongodb');
  const client = new MongoClient(proxy.through(unmigratedNames().mongodbUri), { retryReads: false });
  const stopping = new AbortController();
  const votes = client.db().collection<Vote>('votes');
  const serverId = new ObjectId();
  const told: string[] = [];
  const watching = watchVotes(
    { votes },
    serverId,
    (username, news) => told.push(`${username}: ${news}`),
    stopping.signal,
  );
  onTestFinished(async () => {
    stopping.abort();
    await watching;
    await client.close();
    await proxy.close();
  });
  const failed = { attempts: [{ code: 'connection-refused' }], attemptCount: 1, queuedAt: new Date() };
  const put = (username: string) =>
    votes.insertOne({
      _id: new UUID(),
      serverId,
      username,
      delivery: { state: 'waiting', ...failed },
    } as unknown as Vote);

  await put('Steve');
  await expect.poll(() => told).toEqual([expect.stringMatching(/^Steve: waiting after 1 attempt: /)]);
  await proxy.cutBeforeNext(mongoCommand('find', 'votes'));
  await put('Alex');
  await expect.poll(() => told).toHaveLength(2);
});

test('the watch ends without an error when its database closes at the same time', async () => {
  const client = new MongoClient(unmigratedNames().mongodbUri);
  await client.connect();
  const stopping = new AbortController();
  const votes = client.db().collection<Vote>('votes');
  const watching = watchVotes({ votes }, new ObjectId(), () => undefined, stopping.signal);
  // Its first query is running.
  stopping.abort();
  await client.close();
  await expect(watching).resolves.toBeUndefined();
});
