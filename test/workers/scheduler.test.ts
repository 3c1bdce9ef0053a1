import { ObjectId, UUID } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { forgetAttempts } from '../../src/delivery/forget-attempts.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { Attempt } from '../../src/votes/vote.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { deliveryIn, storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps, type GameServer } from './game-server.ts';

function daysAgo(deps: AppDeps, days: number): string {
  return dayOf(after(deps.clock.now(), -days * DAY));
}

/** A delivered vote from the middle of a day, with one attempt in its timeline. */
async function addOldVote(deps: AppDeps, { serverId }: GameServer, day: string): Promise<UUID> {
  const votedAt = after(startOfDay(day), 12 * HOUR);
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
  await deps.votes.insertOne(vote);
  return vote._id;
}

function marks({ periodMarks }: AppDeps): Promise<string[]> {
  return periodMarks
    .find({ work: 'clean-up' })
    .sort({ period: 1 })
    .map((mark) => mark.period)
    .toArray();
}

it('adds the day’s clean-up job once, however many schedulers run', async () => {
  const deps = await castingDeps();
  const schedulers = await Promise.all([startScheduler(deps.config), startScheduler(deps.config)]);
  for (const scheduler of schedulers) {
    const enqueued = await scheduler.waitForEvent('schedule.enqueued', ({ work }) => work === 'clean-up');
    expect(enqueued).toMatchObject({ work: 'clean-up', days: [daysAgo(deps, 0)] });
  }
  const jobs = await deps.queues['clean-up'].getJobs(['waiting', 'delayed', 'active']);
  expect(jobs.map(({ data }) => data)).toEqual([{ day: daysAgo(deps, 0) }]);
});

it('uses the marks to catch up after three days without a scheduler', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  await markDone(deps, 'clean-up', daysAgo(deps, 3));
  const votes = new Map<number, UUID>();
  for (const age of [90, 91, 92, 93, 94]) {
    votes.set(age, await addOldVote(deps, alpha, daysAgo(deps, age)));
  }
  await Promise.all([
    startWorker(deps.config, { args: ['clean-up'] }),
    startScheduler(deps.config),
    startScheduler(deps.config),
  ]);
  await vi.waitFor(
    async () => expect(await marks(deps)).toEqual([3, 2, 1, 0].map((days) => daysAgo(deps, days))),
    EVENTUALLY,
  );
  const forgotten = [];
  for (const [age, _id] of votes) {
    const { attempts, attemptCount, ends, older } = await alpha.delivery({ _id });
    if (attempts.length === 0) {
      forgotten.push(age);
      const noon = after(startOfDay(daysAgo(deps, age)), 12 * HOUR);
      expect(older).toEqual({ firstAt: noon, lastAt: noon });
    }
    expect({ attemptCount, ends }).toEqual({ attemptCount: 1, ends: { delivered: 1 } });
  }
  expect(forgotten).toEqual([91, 92, 93]);
  await vi.waitFor(async () => expect(await deps.queues['clean-up'].getFailedCount()).toBe(0), EVENTUALLY);
});

it('does the work of a day that failed, even if later days are done', async () => {
  const deps = await castingDeps();
  await markDone(deps, 'clean-up', daysAgo(deps, 3));
  // The jobs of the two days in between failed, or an operator removed them.
  await markDone(deps, 'clean-up', daysAgo(deps, 0));
  await startWorker(deps.config, { args: ['clean-up'] });
  await startScheduler(deps.config);
  await vi.waitFor(
    async () => expect(await marks(deps)).toEqual([3, 2, 1, 0].map((days) => daysAgo(deps, days))),
    EVENTUALLY,
  );
});

it('deletes the attempts of one day, and nothing more the second time', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  for (const age of [90, 91, 91, 92]) {
    await addOldVote(deps, alpha, daysAgo(deps, age)).catch(() => undefined);
  }
  const today = daysAgo(deps, 0);
  const resent = { at: new Date(), kind: 'resent', by: 'owner@example.org', from: 'failed' } as const;
  await deps.votes.updateMany({}, { $set: { 'delivery.events': [resent] } });
  expect(await forgetAttempts(deps, today)).toBe(1);
  // The votes of that day no longer say who resent them.
  expect(await deps.votes.countDocuments({ 'delivery.events.by': { $exists: false } })).toBe(1);
  expect(await forgetAttempts(deps, today)).toBe(0);
});
