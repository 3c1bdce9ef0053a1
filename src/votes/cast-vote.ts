import { getRandomValues } from 'node:crypto';
import { type Collection, type ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { wakeListener } from '../listeners/delivery-queues.ts';
import type { Listener } from '../listeners/listener.ts';
import { rewardsOf } from '../listeners/rewards.ts';
import { listenersLoader } from '../listeners/server-listener.ts';
import type { Batcher } from '../platform/batching/batcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { Durability } from '../platform/durability.ts';
import type { Producer } from '../platform/queues.ts';
import { isSampled, type Tracing } from '../platform/tracing/tracing.ts';
import { blockingVotes, nextVoteAt } from './cooldown.ts';
import { findSafeVote, insertOnce, VoteResultUnknownError } from './insert-vote.ts';
import { noDelivery, queued } from './new-delivery.ts';
import { newestVotesLoader } from './newest-votes.ts';
import { insertedBy } from './recount-votes.ts';
import { usernameKey } from './username.ts';
import type { Vote } from './vote.ts';
import type { VoteCounts } from './vote-counts.ts';
import { countVotesOfMonth } from './vote-figures.ts';

export { VoteResultUnknownError };

/** The dependencies of casting a vote. */
export type CastDeps = {
  votes: Collection<Vote>;
  voteCounts: VoteCounts;
  listeners: Collection<Listener>;
  batcher: Batcher;
  durability: Durability;
  producer: Producer;
  clock: Clock;
  tracing: Tracing;
};

export type CastRequest = {
  serverId: ObjectId;
  /** As `usernameSchema` gives it. */
  username: string;
  /** The token that casts it; null for a vote of the vote form. */
  tokenId: ObjectId | null;
  /** The open quarantine that holds the vote back: it is neither counted nor delivered until it is released. */
  quarantineId?: ObjectId;
};

export type Accepted = { kind: 'accepted'; vote: Vote; monthlyVotes: number };
/** The cooldown of the player's earlier vote ends at `nextVoteAt`. */
export type Refused = { kind: 'refused'; vote: Vote; nextVoteAt: Date };

/** Random bytes for many ids: a call for 16 bytes each would cost 2 % of a vote's processor time. */
const random = new Uint8Array(4_096);
let used = random.length;

/** A new vote's id; its time part is the vote's time. */
export function newVoteId(now: Date): UUID {
  if (used === random.length) {
    getRandomValues(random);
    used = 0;
  }
  used += 16;
  const options = { msecs: now.getTime(), random: random.subarray(used - 16, used) };
  return new UUID(uuidv7(options, new Uint8Array(16)));
}

/**
 * Casts a vote: at most one per player and server in any rolling 24 hours, also for concurrent requests on several
 * processes (design rule 1: the unique index on server, player and `seq` decides).
 *
 * @param voteId - the id of the vote; if a vote with this id exists, it is returned. Without it a new id is made
 * @param sending - called right before the insert is sent. Before that nothing is cast, and nothing is if it throws
 * @throws {VoteResultUnknownError} when the result of the insert is unknown; the driver's error when the database failed
 *   before the insert
 */
export async function castVote(
  deps: CastDeps,
  request: CastRequest,
  voteId?: UUID,
  sending: () => void = () => undefined,
): Promise<Accepted | Refused> {
  const now = deps.clock.now();
  const id = voteId ?? newVoteId(now);
  const { serverId, quarantineId } = request;
  const key = usernameKey(request.username);
  const [newest, listener, monthlyVotes, finished] = await Promise.all([
    deps.batcher.load(newestVotesLoader, deps.votes, { serverId, usernameKey: key }),
    deps.batcher.load(listenersLoader, deps.listeners, serverId),
    deps.voteCounts.ofMonth(serverId, now),
    voteId ? findSafeVote(deps, { serverId, _id: voteId }) : null,
  ]);
  if (finished) return acceptedBefore(deps, finished);
  // A vote with our own id, inserted by another process meanwhile or not yet on a majority, does not refuse itself:
  // inserting it again with the same number finds out its state.
  const ours = newest.live?._id.equals(id) ? newest.live : null;
  const [blocking] = blockingVotes(newest, now);
  if (blocking && !ours) {
    await deps.durability.confirm(insertedBy(blocking));
    return { kind: 'refused', vote: blocking, nextVoteAt: nextVoteAt(blocking) };
  }

  const traceparent = deps.tracing.active();
  const isForwarded = listener !== null && rewardsOf(listener) !== 'claims' && !quarantineId;
  const vote: Vote = {
    _id: id,
    serverId,
    username: request.username,
    usernameKey: key,
    // The unique index gives this number to one of the concurrent votes.
    seq: ours?.seq ?? (newest.live?.seq ?? 0) + 1,
    votedAt: now,
    tokenId: request.tokenId,
    source: request.tokenId ? 'api' : 'web',
    ...(quarantineId ? { excludedBy: [quarantineId], excludedAt: now, quarantinedAt: now } : {}),
    ...(isSampled(traceparent) ? { traceparent } : {}),
    delivery: { ...noDelivery(), ...(isForwarded ? queued(now, 'cast') : {}) },
  };
  sending();
  const { existing, insertedNow } = await insertOnce(deps, vote);
  if (!existing._id.equals(id)) return { kind: 'refused', vote: existing, nextVoteAt: nextVoteAt(existing) };

  if (insertedNow) deps.voteCounts.add(existing);
  if (listener && isForwarded) void wakeListener(deps.producer, listener);
  if (!insertedNow) return acceptedBefore(deps, existing);
  return { kind: 'accepted', vote: existing, monthlyVotes: monthlyVotes() + uncounted(existing) };
}

/** A vote that another process inserted: its increment may be pending there, so its month is counted from the votes. */
async function acceptedBefore({ votes }: CastDeps, vote: Vote): Promise<Accepted> {
  const monthlyVotes = await countVotesOfMonth(votes, vote.serverId, vote.votedAt).catch((error: unknown) => {
    throw new VoteResultUnknownError(error);
  });
  return { kind: 'accepted', vote, monthlyVotes: monthlyVotes + uncounted(vote) };
}

/** The answer includes its own vote, also one that is held back: it must not tell a blocked name from others. */
function uncounted({ excludedAt }: Vote): number {
  return excludedAt ? 1 : 0;
}
