import { type AnyBulkWriteOperation, Binary, type Collection, MongoBulkWriteError, ObjectId } from 'mongodb';
import type { DailyStats, DailySums } from '../history/daily-stats.ts';
import { addSums, emptySums } from '../history/daily-sums.ts';
import type { StatusSample } from '../history/status-sample.ts';
import { sumProbes } from '../history/sum-samples.ts';
import { dayOf, startOf } from '../platform/periods/period-marks.ts';

/**
 * A server's day while samples are added to it. One update of one document changes the sums and the stored times. So
 * if the process dies, each sample is in both or in neither.
 */
type Day = {
  serverId: ObjectId;
  day: string;
  existing: DailyStats | null;
  /** The times of the added samples, in milliseconds since the start of the day. */
  moments: Set<number>;
};

const MOMENT_BYTES = 4;

/** If another import changes a day meanwhile: all days are read and written again, in at most this many tries. */
const MOST_TRIES = 5;

/**
 * Adds samples that are too old for the time series to the sums of their days. For each time of a server, only one
 * sample is added, whatever the order and the number of files. A day that was computed from its samples is complete and
 * does not change.
 *
 * @returns for each sample whether this call added it
 */
export async function foldSamples(
  { dailyStats }: { dailyStats: Collection<DailyStats> },
  samples: StatusSample[],
): Promise<boolean[]> {
  if (samples.length === 0) return [];
  for (let tries = 1; ; tries++) {
    const days = await readDays(dailyStats, samples);
    const added = samples.map((sample) => isNew(days.get(dayKey(sample.serverId, dayOf(sample.at))), sample));
    const sums = await sumProbes(
      { dailyStats },
      samples.filter((_, index) => added[index]),
    );
    const changes = sums.flatMap(({ _id: { serverId, day }, ...sums }) => {
      const changed = days.get(dayKey(serverId, day));
      return changed ? [changeOf(changed, sums)] : [];
    });
    if (await writeAll(dailyStats, changes)) return added;
    if (tries === MOST_TRIES) throw new Error('other imports change the same days all the time');
  }
}

function dayKey(serverId: ObjectId, day: string): string {
  return `${serverId.toHexString()} ${day}`;
}

async function readDays(
  dailyStats: Collection<DailyStats>,
  samples: StatusSample[],
): Promise<Map<string, Day>> {
  const days = new Map<string, Day>();
  const named = new Map<string, { serverId: ObjectId; days: Set<string> }>();
  for (const { serverId, at } of samples) {
    const day = dayOf(at);
    days.set(dayKey(serverId, day), { serverId, day, existing: null, moments: new Set() });
    const server = named.get(serverId.toHexString()) ?? { serverId, days: new Set() };
    named.set(serverId.toHexString(), server);
    server.days.add(day);
  }
  const ofServers = [...named.values()].map((server) => ({
    serverId: server.serverId,
    day: { $in: [...server.days] },
  }));
  for await (const existing of dailyStats.find({ $or: ofServers })) {
    const day = days.get(dayKey(existing.serverId, existing.day));
    if (!day) continue;
    day.existing = existing;
    day.moments = momentsOf(existing.foldedMoments);
  }
  return days;
}

/** Whether a sample must be added to its day. If so, its time is recorded. */
function isNew(day: Day | undefined, sample: StatusSample): boolean {
  if (!day || isComplete(day.existing)) return false;
  const moment = sample.at.getTime() - startOf(day.day).getTime();
  if (day.moments.has(moment)) return false;
  day.moments.add(moment);
  return true;
}

/** Whether the sums of a day's probes were computed from the time series, so that nothing may be added. */
function isComplete(existing: DailyStats | null): boolean {
  if (!existing || existing.foldedMoments) return false;
  return Object.values(existing.probes).some((sum) => Number(sum) > 0);
}

/** The update of a day. Its filter matches only if no other import has changed the day since it was read. */
function changeOf(
  { serverId, day, existing, moments }: Day,
  added: DailySums,
): AnyBulkWriteOperation<DailyStats> {
  const foldedMoments = binaryOf(moments);
  if (!existing) {
    const document = {
      _id: new ObjectId(),
      serverId,
      day,
      probes: added,
      reports: emptySums(),
      foldedMoments,
    };
    return { insertOne: { document } };
  }
  const unchanged = existing.foldedMoments ?? { $exists: false };
  return {
    updateOne: {
      filter: { serverId, day, _id: existing._id, foldedMoments: unchanged },
      update: { $set: { probes: addSums(existing.probes, added), foldedMoments } },
    },
  };
}

/** Writes all days. Returns false if another import changed a day since it was read. */
async function writeAll(
  dailyStats: Collection<DailyStats>,
  changes: AnyBulkWriteOperation<DailyStats>[],
): Promise<boolean> {
  if (changes.length === 0) return true;
  try {
    const { insertedCount, matchedCount } = await dailyStats.bulkWrite(changes, { ordered: false });
    return insertedCount + matchedCount === changes.length;
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    if ([error.writeErrors].flat().some(({ code }) => code !== 11_000)) throw error;
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
