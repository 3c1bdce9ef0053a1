import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { computableDays, SAMPLE_DAYS } from '../history/aggregate-day.ts';
import type { HistoryDeps } from '../history/deps.ts';
import type { StatusSample } from '../history/status-sample.ts';
import type { Clock } from '../platform/clock.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import { foldSamples } from './fold-samples.ts';
import type { Importer, LineResult } from './import-lines.ts';
import {
  byServer,
  OBJECT_ERROR,
  pastMoment,
  refuseUnknownServers,
  serverIdField,
  touchedDays,
} from './records.ts';

/** In seconds: the interval of Tallyport's own probes. */
const SAMPLE_SECONDS = 300;

const LARGEST_COUNT = 2_147_483_647;
const LONGEST_LATENCY_MS = 600_000;
const SECONDS_OF_A_DAY = 86_400;

const countRule = { error: `must be a whole number, 0 to ${LARGEST_COUNT}` };
const maxRule = { error: `must be a whole number, -1 to ${LARGEST_COUNT}` };
const latencyRule = { error: `must be a number of milliseconds, 0 to ${LONGEST_LATENCY_MS}` };
const secondsRule = { error: `must be a whole number, 0 to ${SECONDS_OF_A_DAY}` };
const reasonError = { error: 'must be "unconfirmed" or "canary", and there exactly where online is null' };

/**
 * A line: `{"server_id", "at", "online", "online_players", "max_players", "latency_ms"}`. Optional: `"seconds"`;
 * `"players_hidden": true`; `"online": null` with a `"reason"` if the status was unknown; for a report, `"source":
 * "report"`.
 */
function sampleSchema(clock: Clock) {
  return z
    .object(
      {
        server_id: serverIdField,
        at: pastMoment(clock),
        online: z.boolean({ error: 'must be true, false or null' }).nullable(),
        online_players: z.int(countRule).min(0, countRule).max(LARGEST_COUNT, countRule).nullish(),
        players_hidden: z.boolean({ error: 'must be true or false' }).nullish(),
        max_players: z.int(maxRule).min(-1, maxRule).max(LARGEST_COUNT, maxRule).nullish(),
        latency_ms: z.number(latencyRule).min(0, latencyRule).max(LONGEST_LATENCY_MS, latencyRule).nullish(),
        seconds: z.int(secondsRule).min(0, secondsRule).max(SECONDS_OF_A_DAY, secondsRule).nullish(),
        reason: z.enum(['unconfirmed', 'canary'], reasonError).nullish(),
        source: z.enum(['probe', 'report'], { error: 'must be "probe" or "report"' }).nullish(),
      },
      OBJECT_ERROR,
    )
    .refine((line) => !line.online || line.players_hidden || typeof line.online_players === 'number', {
      path: ['online_players'],
      ...countRule,
    })
    .refine(({ online, reason }) => (online === null) === Boolean(reason), {
      path: ['reason'],
      ...reasonError,
    })
    .transform((line): StatusSample => {
      const source = line.source ?? 'probe';
      return {
        at: line.at,
        serverId: line.server_id,
        source,
        // A report has no duration of its own: it counts until the next report.
        seconds: source === 'report' ? 0 : (line.seconds ?? SAMPLE_SECONDS),
        status: line.online === null ? 'unknown' : line.online ? 'online' : 'offline',
        ...(line.reason ? { reason: line.reason } : {}),
        onlinePlayers: line.online && line.players_hidden ? null : (line.online_players ?? 0),
        maxPlayers: Math.max(line.max_players ?? 0, 0),
        latencyMs: line.latency_ms ?? null,
      };
    });
}

/**
 * Samples of the last 34 days go into the time series, from which their days are computed as usual. Older ones are
 * added to the sums of their days.
 */
export function sampleImporter(
  deps: HistoryDeps,
  work: {
    aggregate: (touched: { serverId: ObjectId; days: string[] }[]) => Promise<unknown>;
    throwIfLost: () => void;
  },
): Importer<StatusSample> {
  const touched = touchedDays();
  const aggregateTouched = async () => {
    const taken = touched.take();
    if (taken.length > 0) await work.aggregate(taken);
  };
  return {
    schema: sampleSchema(deps.clock),
    async check(batch) {
      const unknown = await refuseUnknownServers(deps, batch);
      const { first } = computableDays(deps.clock.now());
      return batch.map(({ source, at }, index) => {
        if (unknown[index]) return unknown[index];
        return source === 'report' && dayOf(at) < first
          ? `a report that is over ${SAMPLE_DAYS} days old cannot be taken: its time runs to the next one`
          : null;
      });
    },
    async write(batch) {
      work.throwIfLost();
      const { first } = computableDays(deps.clock.now());
      const results = await writeSamples(deps, batch);
      // Days of existing samples are computed too: an earlier run may have died after it wrote the samples.
      for (const { serverId, at } of batch) if (dayOf(at) >= first) touched.add(serverId, at);
      if (touched.isFull()) await aggregateTouched();
      return results;
    },
    finish: aggregateTouched,
  };
}

export async function writeSamples(deps: HistoryDeps, batch: StatusSample[]): Promise<LineResult[]> {
  const { first } = computableDays(deps.clock.now());
  const recent = batch.filter(({ at }) => dayOf(at) >= first);
  const old = batch.filter(({ at }) => dayOf(at) < first);
  const added = new Set<StatusSample>();
  for (const [index, isNew] of (await foldSamples(deps, old)).entries()) {
    const sample = old[index];
    if (sample && isNew) added.add(sample);
  }
  await recordFirstReports(deps, recent);
  for (const sample of await insertNew(deps, recent)) added.add(sample);
  return batch.map((sample) => (added.has(sample) ? 'imported' : 'already-there'));
}

/** Call it before the samples are inserted: a day that is computed at the same time then includes the reports. */
async function recordFirstReports({ servers }: HistoryDeps, samples: StatusSample[]): Promise<void> {
  for (const { serverId, records } of byServer(samples.filter(({ source }) => source === 'report'))) {
    const firstReportAt = new Date(Math.min(...records.map(({ at }) => at.getTime())));
    await servers.updateOne({ _id: serverId }, { $min: { firstReportAt } });
  }
}

async function insertNew({ statusSamples }: HistoryDeps, samples: StatusSample[]): Promise<StatusSample[]> {
  const fresh: StatusSample[] = [];
  for (const { serverId, records } of byServer(samples)) {
    const times = records.map(({ at }) => at.getTime());
    const range = { $gte: new Date(Math.min(...times)), $lte: new Date(Math.max(...times)) };
    const existing = statusSamples.find({ serverId, at: range }, { projection: { at: 1, source: 1 } });
    const there = new Set<string>();
    for await (const sample of existing) there.add(momentKey(sample));
    for (const sample of records) {
      if (there.has(momentKey(sample))) continue;
      there.add(momentKey(sample));
      fresh.push(sample);
    }
  }
  // The driver adds an `_id` to the objects.
  if (fresh.length > 0) await statusSamples.insertMany(fresh.map((sample) => ({ ...sample })));
  return fresh;
}

function momentKey({ at, source }: Pick<StatusSample, 'at' | 'source'>): string {
  return `${at.getTime()} ${source}`;
}
