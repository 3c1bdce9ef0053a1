import * as fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { aggregateDay } from '../../src/history/aggregate-day.ts';
import type { Source } from '../../src/history/current-status.ts';
import { refreshDailyFigures } from '../../src/history/daily-figures.ts';
import type { DailySums } from '../../src/history/daily-stats.ts';
import type { StatusSample } from '../../src/history/status-sample.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type ReferenceDay, referenceDay, referenceFigures } from './reference.ts';
import { dayOfServer, depsAt, insert, listServer, NOTHING, probe, report } from './samples.ts';

/** A February with 29 days; the histories end on the 2nd of March. */
const TODAY = '2028-03-02';
const HISTORY_DAYS = 9;
const FIRST = addDays(TODAY, -HISTORY_DAYS);

/** A step of a history: an event, and the seconds until the next one. */
type Step = { what: Partial<StatusSample>; next: number };

const players = fc.nat({ max: 200 });
const latencyMs = fc.option(fc.nat({ max: 500 }), { nil: null });

const pause = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 1, max: 900 }) },
  { weight: 3, arbitrary: fc.integer({ min: 900, max: (6 * HOUR) / SECOND }) },
  { weight: 1, arbitrary: fc.integer({ min: (6 * HOUR) / SECOND, max: (4 * DAY) / SECOND }) },
);

const probeStep: fc.Arbitrary<Step> = fc.record({
  next: pause,
  what: fc
    .record({
      seconds: fc.constantFrom(0, 60, 270, 300, 330, 3_600, 86_400),
      outcome: fc.constantFrom(
        { status: 'online' as const },
        { status: 'online' as const },
        { status: 'offline' as const },
        { status: 'unknown' as const, reason: 'unconfirmed' as const },
        { status: 'unknown' as const, reason: 'canary' as const },
      ),
      // Some answers hide the players.
      onlinePlayers: fc.option(players, { nil: null }),
      latencyMs,
    })
    .map(({ outcome, ...rest }) => ({ ...rest, ...outcome })),
});

const reportStep: fc.Arbitrary<Step> = fc.record({
  next: pause,
  what: fc.record({ onlinePlayers: players, latencyMs }),
});

/** Both sources of a server, each with its own start. */
const history = fc.record({
  probesFrom: fc.nat({ max: DAY / SECOND }),
  probes: fc.array(probeStep, { maxLength: 60 }),
  reportsFrom: fc.nat({ max: DAY / SECOND }),
  reports: fc.array(reportStep, { maxLength: 60 }),
});

/** The number of servers in one run, each with its own history: their days are computed together. */
const AT_ONCE = { minLength: 10, maxLength: 10 };

/** The history of a server and the expected values of its days. */
type Past = { serverId: ObjectId; samples: StatusSample[]; days: Map<string, ReferenceDay> };

function laidOut(make: typeof probe, serverId: ObjectId, steps: Step[], fromSeconds: number): StatusSample[] {
  let at = after(startOfDay(FIRST), fromSeconds * SECOND);
  const samples: StatusSample[] = [];
  for (const { what, next } of steps) {
    if (at >= startOfDay(TODAY)) break;
    samples.push(make(serverId, at, what));
    at = after(at, next * SECOND);
  }
  return samples;
}

function expectSums(found: DailySums, expected: DailySums): void {
  const names = Object.keys(expected) as (keyof DailySums)[];
  const far = names.filter((name) => !(Math.abs((found[name] ?? NaN) - (expected[name] ?? 0)) < 5e-5));
  expect(far.map((name) => [name, found[name], expected[name]])).toEqual([]);
}

/** The current source: it changes with the last answer and the last report. */
async function believe(deps: AppDeps, serverId: ObjectId, source: Source): Promise<void> {
  const now = deps.clock.now();
  const succeededAt = source === 'reports' ? null : after(now, -HOUR);
  const lastReport = { id: new ObjectId(), at: after(now, -HOUR) };
  await deps.servers.updateOne({ _id: serverId }, {
    $set: { 'probe.succeededAt': succeededAt, lastReport },
  } as never);
}

async function expectFigures(
  deps: Awaited<ReturnType<typeof depsAt>>,
  serverId: ObjectId,
  days: Map<string, ReferenceDay>,
  source: Source,
): Promise<void> {
  const { daily } = (await deps.servers.findOne({ _id: serverId })) ?? {};
  const expected = referenceFigures(days, dayOf(deps.clock.now()), source);
  for (const [name, figure] of Object.entries(expected)) {
    const found = (daily as unknown as Record<string, number | null>)[name];
    if (figure === null || found === null || found === undefined) expect(found, name).toBe(figure);
    else expect(found, name).toBeCloseTo(figure, 6);
  }
}

it('computes the days and figures of any history as the rules say', async () => {
  const deps = await depsAt(`${TODAY}T00:10:00Z`);
  await fc.assert(
    fc.asyncProperty(fc.array(history, AT_ONCE), async (histories) => {
      const servers: Past[] = [];
      for (const { probes, probesFrom, reports, reportsFrom } of histories) {
        const serverId = await listServer(deps);
        const samples = [
          ...laidOut(probe, serverId, probes, probesFrom),
          ...laidOut(report, serverId, reports, reportsFrom),
        ];
        if (samples.length > 0) await insert(deps, samples);
        servers.push({ serverId, samples, days: new Map() });
      }
      const serverIds = servers.map(({ serverId }) => serverId);
      for (let day = FIRST; day < TODAY; day = addDays(day, 1)) {
        await aggregateDay(deps, day, { serverIds });
        for (const { serverId, samples, days } of servers) {
          const expected = referenceDay(samples, day);
          days.set(day, expected);
          const found = await dayOfServer(deps, serverId, day);
          expectSums(found?.probes ?? NOTHING, expected.probes);
          expectSums(found?.reports ?? NOTHING, expected.reports);
        }
      }
      for (const source of ['probes', 'reports'] as const) {
        for (const serverId of serverIds) await believe(deps, serverId, source);
        await refreshDailyFigures(deps, { serverIds });
        for (const { serverId, days } of servers) await expectFigures(deps, serverId, days, source);
      }
    }),
    { numRuns: 20 / AT_ONCE.minLength, endOnFailure: true },
  );
});

it('has computed every day without reports when days are computed as they pass', async () => {
  const deps = await depsAt(`${TODAY}T00:10:00Z`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(reportStep, { maxLength: 40 }), AT_ONCE), async (histories) => {
      const serverIds = await Promise.all(histories.map(() => listServer(deps)));
      const samples = histories.map((steps, i) => laidOut(report, serverIds[i] as ObjectId, steps, 0));
      // The days pass one by one: each is computed at its end and a day later, from the samples so far.
      for (let day = FIRST; day < addDays(TODAY, 1); day = addDays(day, 1)) {
        const arrived = samples.flat().filter(({ at }) => dayOf(at) === day);
        if (arrived.length > 0) await insert(deps, arrived);
        deps.clock.set(after(startOfDay(addDays(day, 1)), 10 * MINUTE));
        await aggregateDay(deps, day, { serverIds });
        if (day > FIRST) await aggregateDay(deps, addDays(day, -1), { serverIds });
      }
      for (let day = FIRST; day < TODAY; day = addDays(day, 1)) {
        for (const [i, serverId] of serverIds.entries()) {
          const found = await dayOfServer(deps, serverId, day);
          expectSums(found?.reports ?? NOTHING, referenceDay(samples[i] ?? [], day).reports);
        }
      }
    }),
    { numRuns: 10 / AT_ONCE.minLength, endOnFailure: true },
  );
});
