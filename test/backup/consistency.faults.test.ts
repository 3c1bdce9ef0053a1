/** Backups while votes are cast: what a backup contains fits together. */

import { join } from 'node:path';
import { ObjectId } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readBsonFile } from '../../src/backup/bson-file.ts';
import { checkBackup, restoreBackup } from '../../src/backup/restore-backup.ts';
import { takeBackup } from '../../src/backup/take-backup.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { castOnce } from '../support/casting.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { testDeps } from '../support/test-deps.ts';
import { bodyOf } from '../votes/voting.ts';
import { newFolder } from './new-folder.ts';

const NONE = () => undefined;

/** Casts votes with keys, one after another, until `stop` is called, which returns how many were answered. */
function castAllTheTime(deps: AppDeps): { count(): number; stop(): Promise<number> } {
  const serverId = new ObjectId();
  let answered = 0;
  const stopping = new AbortController();
  const casting = (async () => {
    while (!stopping.signal.aborted) {
      const name = `player${answered}`;
      const request = { serverId, username: name, tokenId: new ObjectId(), key: `key-${name}` };
      const end = await castOnce(deps, request, bodyOf);
      if (end.kind === 'answer') answered += 1;
    }
  })();
  return {
    count: () => answered,
    async stop() {
      stopping.abort();
      await casting;
      return answered;
    },
  };
}

/** The voters of a backup, and the names in its answered keys. */
async function restored(deps: AppDeps, folder: string) {
  const { documents } = await restoreBackup(deps, folder, await checkBackup(folder, NONE), {
    by: 'test',
  });
  const votes = await deps.votes.distinct('username');
  const answered = await deps.idempotencyKeys.distinct('username', { answer: { $ne: null } });
  const claimed = await deps.idempotencyKeys.distinct('username');
  return { documents, votes: new Set(votes), answered, claimed: new Set(claimed) };
}

test('on a replica set a backup is of one moment, also while votes are cast, and has its time series', async () => {
  const set = await startReplicaSet();
  onTestFinished(() => set.stop());
  const deps = await testDeps({ MONGODB_URI: set.uri('backup') });
  await deps.statusSamples.insertOne({
    _id: new ObjectId(),
    serverId: new ObjectId(),
    at: new Date('2026-11-20T10:00:00Z'),
    status: 'online',
    seconds: 300,
  } as never);
  const load = castAllTheTime(deps);
  await vi.waitUntil(() => load.count() > 20, EVENTUALLY);
  const folder = await newFolder();
  const before = load.count();
  let counted = 0;
  // Votes go on in the middle of the backup: its later collections would have them without a snapshot.
  const manifest = await takeBackup(deps, folder, { progress: () => (counted = load.count()) });
  await load.stop();
  expect(manifest.isSnapshot).toBe(true);
  expect(counted).toBeGreaterThanOrEqual(before);

  const { votes, answered, claimed } = await restored(await testDeps(), folder);
  expect(votes.size).toBeGreaterThanOrEqual(before);
  // Of one moment: each vote has its key, and each answered key its vote.
  expect(answered.filter((name) => !votes.has(name))).toEqual([]);
  expect([...votes].filter((name) => !claimed.has(name))).toEqual([]);
  const samples = [];
  for await (const sample of readBsonFile(join(folder, 'status_samples.bson.gz'))) samples.push(sample);
  expect(samples).toHaveLength(1);
});

test('on a lone mongod each answered key of a backup has its vote', async () => {
  const deps = await testDeps();
  const load = castAllTheTime(deps);
  await vi.waitUntil(() => load.count() > 20, EVENTUALLY);
  const folder = await newFolder();
  const before = load.count();
  const manifest = await takeBackup(deps, folder);
  await load.stop();
  expect(manifest.isSnapshot).toBe(false);
  // Marks of finished work and what others name: these fit together in this order only.
  const names = manifest.collections.map(({ name }) => name);
  const last = ['votes', 'vote_exclusions', 'blocks', 'api_tokens', 'servers', 'pictures', 'people'];
  expect(names.filter((name) => last.includes(name))).toEqual(last);
  expect(names.indexOf('listeners')).toBeLessThan(names.indexOf('votes'));
  expect(names.slice(0, 3)).toEqual(['migrations', 'period_marks', 'idempotency_keys']);
  const { votes, answered } = await restored(await testDeps(), folder);
  expect(votes.size).toBeGreaterThanOrEqual(before);
  expect(answered.length).toBeGreaterThanOrEqual(before);
  expect(answered.filter((name) => !votes.has(name))).toEqual([]);
});
