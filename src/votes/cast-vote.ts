import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, type ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { after, type Clock } from '../clock.ts';
import type { Listener } from '../delivery/listener.ts';
import { DELIVERY_EXPIRES_MS } from '../delivery/schedule.ts';
import { TURN_FIELDS, turnOf } from '../delivery/turn.ts';
import type { Logger } from '../log.ts';
import { DURABLE, isDuplicateKey, isUnknownEnd, OPERATION_TIMEOUT_MS } from '../mongo.ts';
import type { Producer } from '../queues.ts';
import { newestVotes, nextVoteAt, votesInTheWay } from './cooldown.ts';
import { usernameKey } from './username.ts';
import type { Delivery, Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';
import { countVote, countVotesOfMonth } from './vote-figures.ts';

/** What casting works on. */
export type VoteCasting = {
  votes: Collection<Vote>;
  voteCounters: Collection<VoteCounter>;
  listeners: Collection<Listener>;
  producer: Producer;
  clock: Clock;
  log: Logger;
};

export type CastRequest = {
  serverId: ObjectId;
  /** As `usernameSchema` gives it. */
  username: string;
  tokenId: ObjectId;
};

export type Accepted = { kind: 'accepted'; vote: Vote; monthlyVotes: number };
/** The player's earlier vote stands in the way until `nextVoteAt`. */
export type Refused = { kind: 'refused'; vote: Vote; nextVoteAt: Date };

/** The database was lost in the middle: the vote may have been counted. */
export class VoteEndUnknownError extends Error {
  constructor(cause: unknown) {
    super('the vote may have been counted', { cause });
    this.name = 'VoteEndUnknownError';
  }
}

/** Between two looks at a place that is taken by a vote not yet safe on a majority. */
const READ_AGAIN_MS = 20;

/** Reads only what a majority holds: it is not rolled back any more, so it can be promised. */
const SAFE = { readConcern: { level: 'majority' } } as const;

/** A new vote's id; its time part is the vote's time. */
export function newVoteId(now: Date): UUID {
  return new UUID(uuidv7({ msecs: now.getTime() }));
}

/**
 * Casts a vote, at most one for a player and a server in any rolling 24 hours, however many requests race on
 * however many processes (design rule 1: the unique index on server, player and `seq` decides).
 *
 * @param voteId - the id to insert under, made before; when a vote of this id exists already, it is the answer.
 *   Without it a new id is made
 * @throws {VoteEndUnknownError} when it cannot be known whether the vote was inserted; the driver's error when
 *   the database failed before
 */
export async function castVote(
  deps: VoteCasting,
  request: CastRequest,
  voteId?: UUID,
): Promise<Accepted | Refused> {
  const now = deps.clock.now();
  const id = voteId ?? newVoteId(now);
  const { serverId } = request;
  const key = usernameKey(request.username);
  const [newest, listener, finished] = await Promise.all([
    newestVotes(deps.votes, serverId, key),
    deps.listeners.findOne({ serverId }, { projection: TURN_FIELDS }),
    voteId ? deps.votes.findOne({ serverId, _id: voteId }, SAFE) : null,
  ]);
  if (finished)
    return {
      kind: 'accepted',
      vote: finished,
      monthlyVotes: await monthlyVotes(deps, finished, { count: false }),
    };
  // Our own vote, inserted by another process between these readings or not yet safe, stands in nobody's way:
  // inserting it again at its place finds out how it stands.
  const ours = newest.live?._id.equals(id) ? newest.live : null;
  const [inTheWay] = votesInTheWay(newest, now);
  if (inTheWay && !ours) return { kind: 'refused', vote: inTheWay, nextVoteAt: nextVoteAt(inTheWay) };

  const vote: Vote = {
    _id: id,
    serverId,
    username: request.username,
    usernameKey: key,
    // The unique index lets one of those that race have this number, whatever is imported meanwhile.
    seq: ours?.seq ?? (newest.live?.seq ?? 0) + 1,
    votedAt: now,
    tokenId: request.tokenId,
    delivery: initialDelivery(now, listener !== null),
  };
  const { standing, insertedNow } = await insertOnce(deps.votes, vote);
  if (!standing._id.equals(id)) return { kind: 'refused', vote: standing, nextVoteAt: nextVoteAt(standing) };

  if (listener)
    void deps.producer.add(
      'forward-votes',
      { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() },
      { priority: turnOf(listener) },
    );
  return {
    kind: 'accepted',
    vote: standing,
    monthlyVotes: await monthlyVotes(deps, standing, { count: insertedNow }),
  };
}

function initialDelivery(now: Date, hasListener: boolean): Delivery {
  const closed = noDelivery();
  if (!hasListener) return closed;
  return {
    ...closed,
    state: 'waiting',
    nextAt: now,
    dueBy: 'cast',
    queuedAt: now,
    expiresAt: after(now, DELIVERY_EXPIRES_MS),
  };
}

/** Of a vote that is not forwarded. */
export function noDelivery(): Delivery {
  return { state: 'none', step: 0, ambiguousEnds: 0, attemptCount: 0, attempts: [], ends: {}, events: [] };
}

/**
 * Inserts `vote`, finding out what stands in its place when the end of an insert is unknown or the place is
 * taken. Sending the same document again is harmless: its id and its place are unique.
 *
 * @returns the vote that stands at this player's `seq`, and whether it was this call that inserted it
 */
async function insertOnce(
  votes: Collection<Vote>,
  vote: Vote,
): Promise<{ standing: Vote; insertedNow: boolean }> {
  const deadline = Date.now() + OPERATION_TIMEOUT_MS;
  let endUnknown = false;
  for (;;) {
    try {
      await votes.insertOne(vote, { writeConcern: DURABLE });
      return { standing: vote, insertedNow: true };
    } catch (error) {
      // What fails now says nothing of an insert sent before whose end was lost.
      if (!isDuplicateKey(error) && !isUnknownEnd(error))
        throw endUnknown ? new VoteEndUnknownError(error) : error;
      endUnknown ||= isUnknownEnd(error);
      const standing = await readStanding(votes, vote).catch((readError: unknown) => {
        throw new VoteEndUnknownError(readError);
      });
      // Our id there without a lost end of ours: another process finished the same idempotent request.
      if (standing) return { standing, insertedNow: standing._id.equals(vote._id) && endUnknown };
      if (Date.now() >= deadline) throw new VoteEndUnknownError(error);
      await pause(READ_AGAIN_MS);
    }
  }
}

/** The vote at the place of `vote`, or the same vote at another place (finished by another process). */
async function readStanding(votes: Collection<Vote>, vote: Vote): Promise<Vote | null> {
  const { serverId, usernameKey: key, seq, _id } = vote;
  return (
    (await votes.findOne({ serverId, usernameKey: key, seq }, SAFE)) ??
    (await votes.findOne({ serverId, _id }, SAFE))
  );
}

async function monthlyVotes(deps: VoteCasting, vote: Vote, { count }: { count: boolean }): Promise<number> {
  try {
    if (count) return await countVote(deps.voteCounters, vote.serverId, vote.votedAt);
  } catch (error) {
    deps.log.warn({ event: 'vote.not_counted', voteId: vote._id.toString(), reason: String(error) });
  }
  try {
    return await countVotesOfMonth(deps.votes, vote.serverId, vote.votedAt);
  } catch (error) {
    throw new VoteEndUnknownError(error);
  }
}
