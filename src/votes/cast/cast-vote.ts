import { getRandomValues } from 'node:crypto';
import { type Collection, type ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { listenersLoader, wakeForVote } from '../../listeners/delivery-queues.ts';
import { type Listener, rewardsOf } from '../../listeners/listener.ts';
import type { Batcher } from '../../platform/batching/batcher.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Durability } from '../../platform/durability.ts';
import type { Producer } from '../../platform/producer.ts';
import { isSampled, type Tracing } from '../../platform/tracing/tracing.ts';
import { KNOWN_AFTER, noDelivery, queued, type Vote } from '../vote.ts';
import type { VoteCounts } from '../vote-counts.ts';
import { countVotesOfMonth } from '../vote-figures.ts';
import type { CastDeadline } from './cast-deadline.ts';
import { type Cooldown, nextVoteAt, readCooldown } from './cooldown.ts';
import type { ImportedCooldowns } from './imported-cooldowns.ts';
import { findSafeVote, insertedBy, insertVote, VoteResultUnknownError } from './insert-vote.ts';

export type CastDeps = {
  votes: Collection<Vote>;
  voteCounts: VoteCounts;
  listeners: Collection<Listener>;
  batcher: Batcher;
  durability: Durability;
  producer: Producer;
  clock: Clock;
  tracing: Tracing;
  importedCooldowns: ImportedCooldowns;
};

export type CastRequest = {
  serverId: ObjectId;
  /** See `usernameSchema`. */
  username: string;
  usernameKey: string;
  /** Null for a vote of the vote form. */
  tokenId: ObjectId | null;
  /** Steam confirmed the name, which is a SteamID. */
  isProven?: boolean;
  /** The open quarantine, or exclusion of a blocked name, that holds the vote. */
  quarantineId?: ObjectId;
  /** If the entry point has read it. The vote then gets the time of that read. */
  cooldown?: Cooldown;
};

export type Accepted = { kind: 'accepted'; vote: Vote; monthlyVotes: number };
/** The cooldown of the earlier `vote` runs. */
export type Refused = { kind: 'refused'; vote: Vote; nextVoteAt: Date };

export function refusedBy(vote: Vote): Refused {
  return { kind: 'refused', vote, nextVoteAt: nextVoteAt(vote) };
}

/** For many ids: one call per id would cost 2 % of a vote's processor time. */
const random = new Uint8Array(4_096);
let used = random.length;

/** A UUIDv7 with the time of the vote. */
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
 * At most one vote per player and server in any `COOLDOWN_MS`, unless an operator ends the cooldown early: also for
 * concurrent requests in several processes, because a unique index decides (design rule 1).
 *
 * @param voteId - if a vote with this id exists, it is returned
 * @throws {VoteResultUnknownError} when the vote may have been cast; the driver's error when the database failed before
 *   the insert; {DeadlineError} when the deadline passed before the insert
 */
export async function castVote(
  deps: CastDeps,
  request: CastRequest,
  deadline: CastDeadline,
  voteId?: UUID,
): Promise<Accepted | Refused> {
  const { serverId, usernameKey } = request;
  const now = request.cooldown?.now ?? deps.clock.now();
  const id = voteId ?? newVoteId(now);
  const [{ newest, blocking }, listener, monthlyVotes, castBefore] = await Promise.all([
    request.cooldown ?? readCooldown(deps, { serverId, usernameKey }, now),
    deps.batcher.load(listenersLoader, deps.listeners, serverId),
    deps.voteCounts.ofMonth(serverId, now),
    voteId ? findSafeVote(deps, { serverId, _id: voteId }) : null,
  ]);
  if (castBefore) return acceptedBefore(deps, castBefore);
  // Another request has just inserted this vote under the same idempotency key: its cooldown does not refuse this one.
  // The insert below uses the same number, so it finds the stored vote.
  const ownVote = newest.live?._id.equals(id) ? newest.live : null;
  const [earlier] = blocking;
  if (earlier && !ownVote) {
    await deps.durability.confirm(insertedBy(earlier));
    return refusedBy(earlier);
  }

  const isForwarded = listener !== null && rewardsOf(listener) !== 'claims' && !request.quarantineId;
  // Of concurrent votes with the same number, the unique index accepts only one.
  const seq = ownVote?.seq ?? (newest.live?.seq ?? 0) + 1;
  deadline.allowInsert();
  const { vote, isNew } = await insertVote(
    deps,
    newVote(deps, request, { _id: id, seq, votedAt: now, isForwarded, pageVotes: pageVotesOf(newest.live) }),
  );
  if (!vote._id.equals(id)) return refusedBy(vote);

  if (isNew) deps.voteCounts.add(vote);
  if (listener && isForwarded) void wakeForVote(deps.producer, listener, now);
  if (!isNew) return acceptedBefore(deps, vote);
  return { kind: 'accepted', vote, monthlyVotes: monthlyVotes() + uncounted(vote) };
}

/**
 * Until the newest vote. 0.1.0 had no source and no vote form: enough, because its names were not invented for this.
 */
function pageVotesOf(newest: Vote | null): number {
  if (!newest || newest.pageVotes !== undefined) return newest?.pageVotes ?? 0;
  return newest.source === undefined ? KNOWN_AFTER : Number(newest.source === 'web');
}

/** `pageVotes`: the player's earlier votes on the server's page. */
function newVote(
  { tracing }: Pick<CastDeps, 'tracing'>,
  { serverId, username, usernameKey, tokenId, quarantineId, isProven }: CastRequest,
  {
    isForwarded,
    pageVotes,
    ...own
  }: Pick<Vote, '_id' | 'seq' | 'votedAt'> & { isForwarded: boolean; pageVotes: number },
): Vote {
  const { votedAt } = own;
  const onPage = pageVotes + (tokenId ? 0 : 1);
  const traceparent = tracing.active();
  return {
    ...own,
    serverId,
    username,
    usernameKey,
    tokenId,
    source: tokenId ? 'api' : 'web',
    ...(onPage > 0 ? { pageVotes: onPage } : {}),
    ...(isProven ? { identity: 'proven' as const } : {}),
    ...(quarantineId ? { excludedBy: [quarantineId], excludedAt: votedAt, quarantinedAt: votedAt } : {}),
    ...(isSampled(traceparent) ? { traceparent } : {}),
    delivery: { ...noDelivery(), ...(isForwarded ? queued(votedAt, 'cast') : {}) },
  };
}

/** Another request inserted the vote. The counter may not be incremented yet, so the month's votes are counted. */
async function acceptedBefore({ votes }: CastDeps, vote: Vote): Promise<Accepted> {
  const monthlyVotes = await countVotesOfMonth(votes, vote.serverId, vote.votedAt).catch((error: unknown) => {
    throw new VoteResultUnknownError(error);
  });
  return { kind: 'accepted', vote, monthlyVotes: monthlyVotes + uncounted(vote) };
}

/** A held vote is in no count, but in the answer, so that it does not reveal a blocked name. */
function uncounted({ excludedAt }: Vote): number {
  return excludedAt ? 1 : 0;
}
