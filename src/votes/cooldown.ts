import type { Collection, ObjectId } from 'mongodb';
import { after, HOUR } from '../clock.ts';
import { isImported, type Vote } from './vote.ts';

/** A player may vote once for a server in any rolling time of this length. */
export const COOLDOWN_MS = 24 * HOUR;

/** The moment from which, itself included, the player of `vote` may vote for that server again. */
export function nextVoteAt(vote: Pick<Vote, 'votedAt'>): Date {
  return after(vote.votedAt, COOLDOWN_MS);
}

/** Whether `vote` still keeps its player from voting at `now`. */
function blocks(vote: Pick<Vote, 'votedAt' | 'cooldownEndedAt'>, now: Date): boolean {
  return !vote.cooldownEndedAt && now < nextVoteAt(vote);
}

/**
 * A player's newest votes for a server, each the one with the highest `seq` of its kind. Imported votes have
 * negative numbers, so the newest one of them may be younger than the newest live vote.
 */
export type NewestVotes = { live: Vote | null; imported: Vote | null };

/** Read at majority: what is told of a vote must not be taken back by a failover. */
export async function newestVotes(
  votes: Collection<Vote>,
  serverId: ObjectId,
  usernameKey: string,
): Promise<NewestVotes> {
  const newest = { sort: { seq: -1 }, readConcern: { level: 'majority' } } as const;
  const highest = await votes.findOne({ serverId, usernameKey }, newest);
  // A first vote, or one after imported ones only, takes one reading.
  if (!highest || isImported(highest)) return { live: null, imported: highest };
  return { live: highest, imported: await votes.findOne({ serverId, usernameKey, seq: { $lt: 0 } }, newest) };
}

/** Those of a player's newest votes that keep them from voting at `now`; the one that does so longest is first. */
export function votesInTheWay({ live, imported }: NewestVotes, now: Date): Vote[] {
  return [live, imported]
    .filter((vote) => vote !== null)
    .filter((vote) => blocks(vote, now))
    .toSorted((one, other) => other.votedAt.getTime() - one.votedAt.getTime());
}
