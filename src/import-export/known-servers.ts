import type { ObjectId } from 'mongodb';
import type { HistoryDeps } from '../history/deps.ts';

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
