import type { Collection, ObjectId } from 'mongodb';
import type { BatchLoader } from '../platform/batching/batcher.ts';
import { findFew } from '../platform/batching/find-few.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { after, type Clock, DAY } from '../platform/clock.ts';
import { addDays, dayOf } from '../platform/periods/period-marks.ts';
import { RANKING_DAYS } from './ranking-period.ts';
import { EXCLUDED_VOTES, type Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { monthOf, sum } from './vote-counts.ts';

/** To `to` (exclusive), without excluded ones. Reads only indexes. */
export async function countVotesBetween(votes: Collection<Vote>, serverId: ObjectId, from: Date, to: Date) {
  if (to <= from) return 0;
  const all = await votes.countDocuments({ serverId, votedAt: { $gte: from, $lt: to } });
  return all - (await countExcludedBetween(votes, serverId, from, to));
}

export function countExcludedBetween(votes: Collection<Vote>, serverId: ObjectId, from: Date, to: Date) {
  const excluded = { serverId, votedAt: { $gte: from, $lt: to }, excludedAt: { $gt: new Date(0) } };
  return votes.countDocuments(excluded, { hint: EXCLUDED_VOTES });
}

export function countVotesOfMonth(votes: Collection<Vote>, serverId: ObjectId, at: Date): Promise<number> {
  const start = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
  const end = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1));
  return countVotesBetween(votes, serverId, start, end);
}

/** `votesCount`: today and the 29 UTC days before. */
export type VoteFigures = { votesCount: number; monthlyVotes: number; allTimeVotes: number };

export async function voteFigures(
  { voteCounters, clock }: { voteCounters: Collection<VoteCounter>; clock: Clock },
  serverId: ObjectId,
): Promise<VoteFigures> {
  return figuresAt(clock.now(), await voteCounters.find({ serverId }).toArray());
}

/** The counters of all months of each server. */
export const countersLoader: BatchLoader<Collection<VoteCounter>, ObjectId, Counts[]> = {
  most: 200,
  async load(voteCounters, serverIds) {
    const projection = { _id: 0, serverId: 1, month: 1, days: 1 };
    const unique = [...new Map(serverIds.map((id) => [id.toHexString(), id])).values()];
    const found = await findFew(voteCounters, { serverId: anyOf(unique) }, { projection });
    const byServer = Map.groupBy(found, ({ serverId }) => serverId.toHexString());
    return serverIds.map((id) => byServer.get(id.toHexString()) ?? []);
  },
};

type Counts = Pick<VoteCounter, 'month' | 'days'>;

export function figuresAt(now: Date, counters: Counts[]): VoteFigures {
  const firstDay = after(now, -(RANKING_DAYS - 1) * DAY)
    .toISOString()
    .slice(0, 10);
  const figures: VoteFigures = { votesCount: 0, monthlyVotes: 0, allTimeVotes: 0 };
  for (const { month, days } of counters) {
    const total = sum(Object.values(days));
    figures.allTimeVotes += total;
    if (month === monthOf(now)) figures.monthlyVotes = total;
    for (const [day, count] of Object.entries(days)) {
      if (`${month}-${day}` >= firstDay) figures.votesCount += count;
    }
  }
  return figures;
}

type VotesOfDay = { day: string; votes: number };
type CounterDeps = { voteCounters: Collection<VoteCounter>; clock: Clock };

/** Of the last UTC days, today included, oldest first. */
export async function votesByDay(deps: CounterDeps, serverId: ObjectId, days: number): Promise<VotesOfDay[]> {
  return (await votesByDayOfAll(deps, [serverId], days))(serverId);
}

/** As `votesByDay`, with one query for all these servers. */
export async function votesByDayOfAll(
  { voteCounters, clock }: CounterDeps,
  serverIds: ObjectId[],
  days: number,
): Promise<(serverId: ObjectId) => VotesOfDay[]> {
  const today = dayOf(clock.now());
  const wanted = Array.from({ length: days }, (_, i) => addDays(today, i + 1 - days));
  const since = { serverId: anyOf(serverIds), month: { $gte: wanted[0]?.slice(0, 7) ?? today.slice(0, 7) } };
  const projection = { serverId: 1, month: 1, days: 1 };
  // Of many servers, the planner takes the index of the month, which has the counters of all servers.
  const counters = voteCounters.find(since, { projection, hint: { serverId: 1, month: 1 } });
  const counts = new Map<string, Record<string, number>>();
  for await (const { serverId, month, days } of counters)
    counts.set(`${serverId.toHexString()} ${month}`, days);
  const monthOfDay = (serverId: ObjectId, day: string) =>
    counts.get(`${serverId.toHexString()} ${day.slice(0, 7)}`);
  return (serverId) => wanted.map((day) => ({ day, votes: monthOfDay(serverId, day)?.[day.slice(8)] ?? 0 }));
}
