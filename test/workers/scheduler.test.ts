import { ObjectId, UUID } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { forgetAttempts } from '../../src/delivery/forget-attempts.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, markDone, startOf } from '../../src/platform/periods/period-marks.ts';
import type { Platform } from '../../src/process/app-deps.ts';
import type { Attempt } from '../../src/votes/vote.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { deliveryIn, storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { addGameServer, castingPlatform, type GameServer } from './game-server.ts';

function daysAgo(platform: Platform, days: number): string {
  return dayOf(after(platform.clock.now(), -days * DAY));
}

/** A delivered vote of the middle of a day, with one attempt in its timeline. */
async function addOldVote(platform: Platform, { serverId }: GameServer, day: string): Promise<UUID> {
  const votedAt = after(startOf(day), 12 * HOUR);
  const attempt: Attempt = {
    id: new UUID(),
    at: votedAt,
    worker: 'a worker',
    protocol: 'votifier-v2',
    revision: 1,
    test: false,
    code: 'acknowledged',
    class: 'delivered',
    reached: 'acknowledged',
    durationMs: 12,
  };
  const delivery = deliveryIn('delivered', {
    attemptCount: 1,
    attempts: [attempt],
    ends: { delivered: 1 },
    deliveredAt: votedAt,
  });
  const vote = storedVote(serverId, day, votedAt, { tokenId: new ObjectId(), delivery });
  await platform.votes.insertOne(vote);
  return vote._id;
}

function marks({ periodMarks }: Platform): Promise<string[]> {
  return periodMarks
    .find({ work: 'clean-up' })
    .sort({ period: 1 })
    .map((mark) => mark.period)
    .toArray();
}

it('enqueues the day’s clean-up once, however many schedulers run', async () => {
  const platform = await castingPlatform();
  const schedulers = await Promise.all([startScheduler(platform.config), startScheduler(platform.config)]);
  for (const scheduler of schedulers) {
    const enqueued = await scheduler.waitForEvent('schedule.enqueued', ({ work }) => work === 'clean-up');
    expect(enqueued).toMatchObject({ work: 'clean-up', days: [daysAgo(platform, 0)] });
  }
  const jobs = await platform.queues['clean-up'].getJobs(['waiting', 'delayed', 'active']);
  expect(jobs.map(({ data }) => data)).toEqual([{ day: daysAgo(platform, 0) }]);
});

it('catches up with the marks after three days without a scheduler', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  await markDone(platform, 'clean-up', daysAgo(platform, 3));
  const votes = new Map<number, UUID>();
  for (const age of [90, 91, 92, 93, 94]) {
    votes.set(age, await addOldVote(platform, alpha, daysAgo(platform, age)));
  }
  await Promise.all([
    startWorker(platform.config, { args: ['clean-up'] }),
    startScheduler(platform.config),
    startScheduler(platform.config),
  ]);
  await vi.waitFor(
    async () => expect(await marks(platform)).toEqual([3, 2, 1, 0].map((days) => daysAgo(platform, days))),
    EVENTUALLY,
  );
  const forgotten = [];
  for (const [age, _id] of votes) {
    const { attempts, attemptCount, ends, older } = await alpha.delivery({ _id });
    if (attempts.length === 0) {
      forgotten.push(age);
      const noon = after(startOf(daysAgo(platform, age)), 12 * HOUR);
      expect(older).toEqual({ firstAt: noon, lastAt: noon });
    }
    expect({ attemptCount, ends }).toEqual({ attemptCount: 1, ends: { delivered: 1 } });
  }
  expect(forgotten).toEqual([91, 92, 93]);
  await vi.waitFor(
    async () => expect(await platform.queues['clean-up'].getFailedCount()).toBe(0),
    EVENTUALLY,
  );
});

it('does a day that failed although later ones were done', async () => {
  const platform = await castingPlatform();
  await markDone(platform, 'clean-up', daysAgo(platform, 3));
  // The jobs of the two days between failed, or an operator removed them.
  await markDone(platform, 'clean-up', daysAgo(platform, 0));
  await startWorker(platform.config, { args: ['clean-up'] });
  await startScheduler(platform.config);
  await vi.waitFor(
    async () => expect(await marks(platform)).toEqual([3, 2, 1, 0].map((days) => daysAgo(platform, days))),
    EVENTUALLY,
  );
});

it('deletes the attempts of one day, and nothing more the second time', async () => {
  const platform = await castingPlatform();
  const alpha = await addGameServer(platform);
  for (const age of [90, 91, 91, 92]) {
    await addOldVote(platform, alpha, daysAgo(platform, age)).catch(() => undefined);
  }
  const today = daysAgo(platform, 0);
  const resent = { at: new Date(), kind: 'resent', by: 'owner@example.org', from: 'failed' } as const;
  await platform.votes.updateMany({}, { $set: { 'delivery.events': [resent] } });
  expect(await forgetAttempts(platform, today)).toBe(1);
  // The votes of that day do not say any more who resent them.
  expect(await platform.votes.countDocuments({ 'delivery.events.by': { $exists: false } })).toBe(1);
  expect(await forgetAttempts(platform, today)).toBe(0);
});
