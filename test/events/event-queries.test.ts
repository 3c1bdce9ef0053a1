import { type Document, ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { countWaitingEvents, findDueEvents, nextDueAt } from '../../src/events/event-sends.ts';
import { dueSubscriptions } from '../../src/events/send-events.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
const [own, other] = [new ObjectId(), new ObjectId()];

/** 2,000 events for both; of `own` the first half failed before and is due later. */
beforeAll(async () => {
  deps = await testDeps();
  const now = deps.clock.now();
  const serverId = new ObjectId();
  await deps.events.insertMany(
    Array.from({ length: 2_000 }, (_, i) => ({
      _id: `evt_${i}`,
      serverId,
      type: 'milestone' as const,
      at: now,
      data: {},
      sends: [
        { to: other, nextAt: after(now, -HOUR), attempts: 0 },
        { to: own, nextAt: after(now, i < 1_000 ? HOUR : -MINUTE), attempts: 0 },
      ],
      createdAt: now,
    })),
  );
  await deps.mongo.db.command({ profile: 2 });
});

/** What MongoDB examined for the newest operation on events. */
async function examined(): Promise<{ docs: number; keys: number; plan: string }> {
  const ns = { $regex: /\.(events|subscriptions)$/ };
  const [last] = await deps.mongo.db
    .collection<Document>('system.profile')
    .find({ ns, op: { $in: ['query', 'command'] } })
    // Several operations may have the same `ts`.
    .sort({ $natural: -1 })
    .limit(1)
    .toArray();
  return { docs: last?.docsExamined, keys: last?.keysExamined, plan: last?.planSummary };
}

test('what is due of one subscription is read alone, without what is due later or of others', async () => {
  const found = await findDueEvents(deps, own, 24);
  expect(found.map(({ _id }) => Number(_id.slice(4))).every((number) => number >= 1_000)).toBe(true);
  expect(found).toHaveLength(24);
  expect(await examined()).toMatchObject({ docs: 24, keys: 24 });
});

test('the next due time is that of the subscription, not of another one of the same event', async () => {
  expect(await nextDueAt(deps, own)).toEqual(
    after((await findDueEvents(deps, own, 1))[0]?.createdAt ?? new Date(), -MINUTE),
  );
  expect(await nextDueAt(deps, new ObjectId())).toBeNull();
  await nextDueAt(deps, own);
  expect(await examined()).toMatchObject({ docs: 1, keys: 1 });
});

test('counting what waits reads no event', async () => {
  expect(await countWaitingEvents(deps, own)).toBe(2_000);
  expect(await examined()).toMatchObject({ docs: 0 });
  expect(await countWaitingEvents(deps, own, 100)).toBe(100);
  expect((await examined()).keys).toBeLessThanOrEqual(110);
});

test('subscriptions whose pass is due are found by their index', async () => {
  await dueSubscriptions(deps);
  expect((await examined()).plan).toContain('nextPassAt: 1');
});
