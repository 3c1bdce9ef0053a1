import { Binary, type Collection, ObjectId } from 'mongodb';
import PQueue from 'p-queue';
import { addSums, type DailyStats, type DailySums, emptySums } from '../history/daily-stats.ts';
import type { HistoryDeps } from '../history/deps.ts';
import type { StatusSample } from '../history/status-sample.ts';
import { sumProbes } from '../history/sum-samples.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import { byServer } from './records.ts';

/**
 * One update of one document changes the sums and the stored times: if the process dies, each sample is in both or in
 * neither.
 */
type Day = {
  serverId: ObjectId;
  day: string;
  existing: DailyStats | null;
  /** In milliseconds since the start of the day. */
  moments: Set<number>;
};

const MOMENT_BYTES = 4;

/** More would delay the requests of a running listing. */
const WRITES_AT_ONCE = 16;

/** If another import changes a day meanwhile, it is read and written again. */
const MOST_TRIES = 5;

/**
 * Adds samples that are too old for the time series to the sums of their days, one for each time of a server, whatever
 * the order and the number of files. A day that was computed from its samples is complete and does not change. Returns
 * for each sample whether this call added it.
 */
export async function foldSamples({ dailyStats }: HistoryDeps, samples: StatusSample[]): Promise<boolean[]> {
  const added = new Set<StatusSample>();
  let open = samples;
  for (let tries = 1; open.length > 0; tries++) {
    if (tries > MOST_TRIES) throw new Error('other imports change the same days all the time');
    const unwritten = await foldOnce(dailyStats, open, added);
    open = open.filter((sample) => unwritten.has(keyOf(sample)));
  }
  return samples.map((sample) => added.has(sample));
}

/** Returns the keys of days that another import changed meanwhile. */
async function foldOnce(
  dailyStats: Collection<DailyStats>,
  samples: StatusSample[],
  added: Set<StatusSample>,
): Promise<Set<string>> {
  const days = await readDays(dailyStats, samples);
  const fresh = samples.filter((sample) => isNew(days.get(keyOf(sample)), sample));
  const sums = await sumProbes({ dailyStats }, fresh);
  const writes = new PQueue({ concurrency: WRITES_AT_ONCE });
  const isWritten = await writes.addAll(
    sums.map(({ _id: { serverId, day }, ...probes }) => async () => {
      const changed = days.get(dayKey(serverId, day));
      return !changed || writeDay(dailyStats, changed, probes);
    }),
  );
  const unwritten = new Set(
    sums.flatMap(({ _id }, index) => (isWritten[index] ? [] : [dayKey(_id.serverId, _id.day)])),
  );
  for (const sample of fresh) if (!unwritten.has(keyOf(sample))) added.add(sample);
  return unwritten;
}

function keyOf({ serverId, at }: StatusSample): string {
  return dayKey(serverId, dayOf(at));
}

function dayKey(serverId: ObjectId, day: string): string {
  return `${serverId.toHexString()} ${day}`;
}

async function readDays(
  dailyStats: Collection<DailyStats>,
  samples: StatusSample[],
): Promise<Map<string, Day>> {
  const days = new Map<string, Day>();
  for (const sample of samples) {
    const day = {
      serverId: sample.serverId,
      day: dayOf(sample.at),
      existing: null,
      moments: new Set<number>(),
    };
    days.set(keyOf(sample), day);
  }
  const ofServers = byServer(samples).map(({ serverId, records }) => ({
    serverId,
    day: { $in: [...new Set(records.map(({ at }) => dayOf(at)))] },
  }));
  for await (const existing of dailyStats.find({ $or: ofServers })) {
    const day = days.get(dayKey(existing.serverId, existing.day));
    if (!day) continue;
    day.existing = existing;
    day.moments = momentsOf(existing.foldedMoments);
  }
  return days;
}

/** Whether the sample is new; if so, its time is recorded. */
function isNew(day: Day | undefined, sample: StatusSample): boolean {
  if (!day || isComplete(day.existing)) return false;
  const moment = sample.at.getTime() - startOfDay(day.day).getTime();
  if (day.moments.has(moment)) return false;
  day.moments.add(moment);
  return true;
}

/** The sums of a day's probes were computed from the time series. */
function isComplete(existing: DailyStats | null): boolean {
  if (!existing || existing.foldedMoments) return false;
  return Object.values(existing.probes).some((sum) => Number(sum) > 0);
}

/** False if another import changed the day since it was read. */
async function writeDay(
  dailyStats: Collection<DailyStats>,
  { serverId, day, existing, moments }: Day,
  added: DailySums,
): Promise<boolean> {
  const foldedMoments = binaryOf(moments);
  if (existing) {
    const unchanged = existing.foldedMoments ?? { $exists: false };
    const { matchedCount } = await dailyStats.updateOne(
      { serverId, day, _id: existing._id, foldedMoments: unchanged },
      { $set: { probes: addSums(existing.probes, added), foldedMoments } },
    );
    return matchedCount === 1;
  }
  try {
    const sums = { probes: added, reports: emptySums() };
    await dailyStats.insertOne({ _id: new ObjectId(), serverId, day, ...sums, foldedMoments });
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
}

function momentsOf(binary: Binary | undefined): Set<number> {
  const moments = new Set<number>();
  if (!binary) return moments;
  const bytes = Buffer.from(binary.value());
  for (let at = 0; at < bytes.length; at += MOMENT_BYTES) moments.add(bytes.readUInt32LE(at));
  return moments;
}

function binaryOf(moments: Set<number>): Binary {
  const bytes = Buffer.alloc(moments.size * MOMENT_BYTES);
  for (const [index, moment] of [...moments].toSorted((a, b) => a - b).entries())
    bytes.writeUInt32LE(moment, index * MOMENT_BYTES);
  return new Binary(bytes);
}
