import { ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { percentile, RATIO } from '../../src/delivery/figures/arrival-times.ts';
import { countDeliveries } from '../../src/delivery/figures/count-deliveries.ts';
import { deliveriesByDay } from '../../src/delivery/figures/delivery-figures.ts';
import { failedAttempts, successRate, totalOf } from '../../src/delivery/figures/delivery-sums.ts';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { type Delivery, noDelivery, type Vote } from '../../src/votes/vote.ts';
import { testDeps } from '../support/test-deps.ts';

const RUN = { throwIfLost: () => undefined };

async function serverWithVotes(deps: AppDeps, port = 25_565) {
  const settings = { name: 'Alpha', address: 'play.example.org', port };
  const serverId = new ObjectId((await addServer(deps, settings, 'test')).serverId);
  let seq = 0;
  const add = (votedAt: Date, delivery: Partial<Delivery>, more: Partial<Vote> = {}) => {
    seq += 1;
    return deps.votes.insertOne({
      _id: new UUID(uuidv7()),
      serverId,
      username: `Player ${seq}`,
      usernameKey: `player ${seq}`,
      seq,
      votedAt,
      tokenId: null,
      delivery: { ...noDelivery(), ...delivery },
      ...more,
    });
  };
  /** A vote that was delivered after `ms`. */
  const delivered = (votedAt: Date, ms: number, more: Partial<Delivery> = {}) =>
    add(votedAt, {
      state: 'delivered',
      deliveredAt: after(votedAt, ms),
      codes: { acknowledged: 1 },
      ...more,
    });
  return { serverId, add, delivered };
}

test('a day is counted by source, state, time and cause; other days and imported votes are not', async () => {
  const deps = await testDeps();
  const { serverId, add, delivered } = await serverWithVotes(deps);
  const day = addDays(dayOf(deps.clock.now()), -1);
  const at = after(startOfDay(day), HOUR);
  const now = deps.clock.now();
  for (let n = 0; n < 18; n += 1) await delivered(at, 200);
  await delivered(at, 90 * SECOND, { codes: { 'connection-refused': 3, reset: 1, acknowledged: 1 } });
  await delivered(at, 90 * SECOND, { codes: { 'stopped-before-written': 1, acknowledged: 1 } });
  // Sent again by hand after an hour: its time says nothing of the listener.
  await delivered(at, HOUR, { events: [{ at: now, kind: 'resent' }] });
  await add(at, { state: 'failed', codes: { 'connection-refused': 12 } }, { source: 'web' });
  await add(at, { state: 'unconfirmed', codes: { 'no-answer': 3 } });
  await add(at, { state: 'sending' });
  // They arrived before they were resent and failed, or may have arrived before they expired.
  await add(at, { state: 'failed', ends: { delivered: 1, 'vote-only': 1 } });
  await add(at, { state: 'failed', ends: { ambiguous: 1 } });
  await add(at, { state: 'waiting' }, { source: 'web' });
  await add(at, {}, { excludedAt: now, quarantinedAt: now, source: 'web' });
  await add(at, { state: 'delivered', deliveredAt: after(at, 200) }, { excludedAt: now });
  await add(at, {}, { seq: -1 });
  await delivered(after(startOfDay(day), -1), 200);
  await delivered(after(startOfDay(day), 24 * HOUR), 200);

  const total = await countDeliveries(deps, day, RUN);
  expect(total).toMatchObject({ page: 2, api: 25, excluded: 2, held: 1 });
  expect(total).toMatchObject({ notForwarded: 1, waiting: 2, delivered: 23, unconfirmed: 2, failed: 1 });
  expect(total.causes).toEqual({ 'connection-refused': 15, reset: 1, 'no-answer': 3 });
  expect(failedAttempts(total)).toBe(19);
  expect(successRate(total)).toBeCloseTo(23 / 26);
  expect(Object.values(total.times).reduce((sum, votes) => sum + votes, 0)).toBe(21);

  const { days, countedAt } = await deliveriesByDay(deps, serverId, 3);
  expect(days.map((one) => [one.day, one.delivered])).toEqual([
    [addDays(day, -1), 0],
    [day, 23],
    [addDays(day, 1), 0],
  ]);
  expect(countedAt).not.toBeNull();
  expect(days[1]).toMatchObject(total);
});

test('percentiles are at most 5 % wrong, also of several days and servers together', () => {
  const bucket = (ms: number) => String(Math.ceil(Math.log(Math.max(1, ms)) / Math.log(RATIO)));
  const times = Array.from({ length: 1_000 }, (_, n) => 1.7 + n ** 2.1);
  const halves = [times.filter((_, n) => n % 2), times.filter((_, n) => n % 2 === 0)];
  const sums = halves.map((half) => {
    const counted: Record<string, number> = {};
    for (const ms of half) counted[bucket(ms)] = (counted[bucket(ms)] ?? 0) + 1;
    return { ...totalOf([]), times: counted };
  });
  for (const share of [0.5, 0.95]) {
    const exact = times[share * 1_000 - 1] ?? 0;
    const found = percentile(totalOf(sums).times, share) ?? 0;
    expect(Math.abs(found - exact) / exact).toBeLessThan(0.055);
  }
  expect(percentile({}, 0.5)).toBeNull();
  expect(percentile({ [bucket(0)]: 1 }, 0.95)).toBe(1);
});

test('counting again replaces, a day without votes is removed, and a lost lease changes nothing', async () => {
  const deps = await testDeps();
  const one = await serverWithVotes(deps);
  const two = await serverWithVotes(deps, 25_566);
  const day = dayOf(deps.clock.now());
  const at = after(startOfDay(day), MINUTE);
  await one.delivered(at, 200);
  await two.add(at, { state: 'waiting' });
  const first = await countDeliveries(deps, day, RUN);
  expect(await countDeliveries(deps, day, RUN)).toEqual(first);
  expect(await deps.deliveryDays.countDocuments({ day })).toBe(2);

  const lost = () => {
    throw new Error('lost');
  };
  await one.delivered(at, 300);
  await expect(countDeliveries(deps, day, { throwIfLost: lost })).rejects.toThrow('lost');
  expect(await deps.deliveryDays.findOne({ serverId: one.serverId, day })).toMatchObject({ delivered: 1 });

  await deps.votes.deleteMany({ serverId: two.serverId });
  await countDeliveries(deps, day, RUN);
  expect(await deps.deliveryDays.find({ day }).toArray()).toMatchObject([{ delivered: 2 }]);
});
