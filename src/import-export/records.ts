import { ObjectId } from 'mongodb';
import { z } from 'zod';
import type { HistoryDeps } from '../history/deps.ts';
import type { Clock } from '../platform/clock.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import { isId } from '../servers/slug.ts';

export const OBJECT_ERROR = { error: 'it is not a JSON object' };

export const serverIdField = z
  .string({ error: 'must be 24 lower-case hex digits' })
  .refine(isId, { error: 'must be 24 lower-case hex digits' })
  .transform((text) => new ObjectId(text));

/** An earlier time is a mistake, such as seconds that were read as milliseconds, or an empty field as 0. */
const EARLIEST = new Date('2000-01-01T00:00:00.000Z');

/** ISO 8601 with an offset, to the millisecond. */
export function pastMoment(clock: Clock) {
  return z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-11-21T08:00:00.000Z' })
    .transform((text) => new Date(text))
    .refine((at) => at >= EARLIEST, { error: 'must not be before the year 2000' })
    .refine((at) => at <= clock.now(), { error: 'must not be in the future' });
}

export async function refuseUnknownServers(
  { servers }: HistoryDeps,
  batch: { serverId: ObjectId }[],
): Promise<(string | null)[]> {
  const named = new Map(batch.map(({ serverId }) => [serverId.toHexString(), serverId]));
  const listed = await servers
    .find({ _id: { $in: [...named.values()] }, removedAt: null }, { projection: { _id: 1 } })
    .map(({ _id }) => _id.toHexString())
    .toArray();
  const known = new Set(listed);
  return batch.map(({ serverId }) =>
    known.has(serverId.toHexString()) ? null : `no server is listed with the id ${serverId.toHexString()}`,
  );
}

export function byServer<T extends { serverId: ObjectId }>(
  batch: T[],
): { serverId: ObjectId; records: T[] }[] {
  const groups = new Map<string, { serverId: ObjectId; records: T[] }>();
  for (const record of batch) {
    const key = record.serverId.toHexString();
    const group = groups.get(key) ?? { serverId: record.serverId, records: [] };
    groups.set(key, group);
    group.records.push(record);
  }
  return [...groups.values()];
}

/** Each takes about a hundred bytes. */
const MOST_DAYS = 20_000;

/** The days whose figures must be computed again. */
export function touchedDays() {
  let servers = new Map<string, Set<string>>();
  let count = 0;
  return {
    add(serverId: ObjectId, at: Date) {
      const key = serverId.toHexString();
      const days = servers.get(key) ?? new Set();
      servers.set(key, days);
      const before = days.size;
      days.add(dayOf(at));
      count += days.size - before;
    },
    /** The caller must process the days now. This limits the memory. */
    isFull: () => count >= MOST_DAYS,
    take() {
      const taken = [...servers].map(([key, days]) => ({ serverId: new ObjectId(key), days: [...days] }));
      servers = new Map();
      count = 0;
      return taken;
    },
  };
}
