import type { ObjectId } from 'mongodb';
import type { RankingDeps } from './deps.ts';

/** A server's rank at the end of each UTC day, oldest first; days without a snapshot are missing. */
export async function rankHistory(
  { rankSnapshots }: RankingDeps,
  serverId: ObjectId,
): Promise<{ day: string; rank: number }[]> {
  const months = await rankSnapshots.find({ serverId }).sort({ month: 1 }).toArray();
  return months.flatMap(({ month, days }) =>
    Object.entries(days)
      .map(([day, rank]) => ({ day: `${month}-${day}`, rank }))
      .toSorted((a, b) => (a.day < b.day ? -1 : 1)),
  );
}
