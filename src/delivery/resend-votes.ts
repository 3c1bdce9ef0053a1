import type { Filter, ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { QUEUE_FIELDS, wakeListener } from '../listeners/delivery-queues.ts';
import { OUTCOME_CODES, OUTCOMES } from '../listeners/outcomes.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after } from '../platform/clock.ts';
import { limitFor } from '../platform/limits/define-limit.ts';
import { refund, useAllowances } from '../platform/limits/rate-limit.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { Progress } from '../platform/progress.ts';
import { withArrival } from '../votes/arrival.ts';
import { selected, type VoteSelection } from '../votes/sent-not-confirmed.ts';
import { usernameKey } from '../votes/username.ts';
import type { DeliveryState, Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import {
  ARRIVES_ONCE,
  DELIVERED_RESENDS,
  mayArriveTwice,
  RESENDABLE_STATES,
  resending,
} from './resend-vote.ts';

export type ResendRange = {
  /** Votes cast from this moment on, and before `until`. */
  since: Date;
  until: Date;
  /** Votes that are waiting or being sent are never resent. */
  states: VoteSelection[];
  /** Not forwarded or failed, but may have arrived or was claimed: left out by default. */
  twice?: 'also' | 'only' | undefined;
  /** In any spelling of the name. */
  player?: string;
  /** Only unconfirmed votes whose last attempt began between these moments and got no answer. */
  silent?: { since: Date; until: Date };
  /** Only unconfirmed votes that a restore held back. */
  restored?: true;
  neverSent?: true;
};

export type ResentRange = {
  resent: number;
  mayArriveTwice: number;
  /** The range has more votes than one run resends, or `DELIVERED_RESENDS` is used up. */
  more: boolean;
  /** When the limit allows the votes that it left out. */
  nextAllowedAt?: Date;
};

/** The default states of a range. */
export const NOT_ARRIVED: DeliveryState[] = ['none', 'failed'];

function isNotArrived(state: VoteSelection): boolean {
  return NOT_ARRIVED.some((one) => one === state);
}

export function isResendable(state: VoteSelection): boolean {
  return state === 'sent-not-confirmed' || RESENDABLE_STATES.includes(state);
}

const MOST_RESENT = 50_000;
const BATCH = 500;

/** `progress` gets the number of votes queued so far, and the total. */
type RunOptions = { most?: number; progress?: Progress; byId?: ObjectId };

/**
 * Resends a server's votes in the order in which they were cast, each with a new schedule of retries. A repeated run
 * skips votes that are still in the queue. `forOwner`: if the range includes delivered votes, `DELIVERED_RESENDS`
 * limits all votes of the run. Null when the server has no listener.
 */
export async function resendVotes(
  deps: DeliveryDeps,
  serverId: ObjectId,
  range: ResendRange,
  by: string,
  options: RunOptions & { forOwner?: boolean } = {},
): Promise<ResentRange | null> {
  const { most = MOST_RESENT, forOwner = false } = options;
  const hasDelivered = range.states.some((state) => state === 'delivered' || state === 'sent-not-confirmed');
  if (!forOwner || !hasDelivered) return resendRange(deps, serverId, range, by, options);
  const limit = limitFor(DELIVERED_RESENDS, serverId);
  const { taken, resetAt } = await useAllowances(deps, limit, most);
  const resent =
    taken === 0
      ? { resent: 0, mayArriveTwice: 0, more: true }
      : await resendRange(deps, serverId, range, by, { ...options, most: taken });
  const unused = taken - (resent?.resent ?? 0);
  if (unused > 0) await refund(deps, limit, unused);
  return resent?.more && taken < most ? { ...resent, nextAllowedAt: resetAt } : resent;
}

async function resendRange(
  deps: DeliveryDeps,
  serverId: ObjectId,
  range: ResendRange,
  by: string,
  { most = MOST_RESENT, progress = () => undefined, byId }: RunOptions,
): Promise<ResentRange | null> {
  const { votes, listeners, producer, clock } = deps;
  const listener = await listeners.findOne({ serverId }, { projection: { serverId: 1, ...QUEUE_FIELDS } });
  if (!listener) return null;
  const now = clock.now();
  const wanted = filterOf(serverId, range, now);
  const found = await votes.countDocuments(wanted, { limit: most + 1 });
  const total = Math.min(found, most);
  const result: ResentRange = { resent: 0, mayArriveTwice: 0, more: found > most };
  if (total === 0) return result;

  // Before the first vote is changed: if the run is killed, the audit log still contains it.
  await recordAudit(deps, {
    by,
    action: 'vote.resend-range',
    serverId,
    details: {
      since: range.since.toISOString(),
      until: range.until.toISOString(),
      states: range.states,
      ...(range.player === undefined ? {} : { player: range.player }),
      votes: total,
    },
  });
  let from = range.since;
  while (result.resent < most) {
    const size = Math.min(BATCH, most - result.resent);
    const batch = await votes
      .find(filterOf(serverId, { ...range, since: from }, now))
      .sort({ votedAt: 1, _id: 1 })
      .limit(size)
      .toArray();
    const last = batch.at(-1);
    if (!last) break;
    const before = result.resent;
    for (const twice of [false, true]) {
      const ids = batch.filter((vote) => mayArriveTwice(vote) === twice).map(({ _id }) => _id);
      if (ids.length === 0) continue;
      // The write repeats what was decided: if a plugin claims a vote at the same moment, only one of the two matches.
      const { modifiedCount } = await votes.updateMany(
        { serverId, _id: { $in: ids }, $and: [wanted, twice ? {} : ARRIVES_ONCE] },
        resending(now, { by, byId, mayArriveTwice: twice }),
        { writeConcern: DURABLE },
      );
      result.resent += modifiedCount;
      if (twice) result.mayArriveTwice += modifiedCount;
    }
    // Votes that another call has changed are passed, so the run ends.
    from = result.resent > before ? last.votedAt : after(last.votedAt, 1);
    progress(Math.min(result.resent, total), total);
    await wakeListener(producer, listener);
  }
  return result;
}

/** To count a range, at most this many of the newest votes in its states are read. */
const MOST_READ = 50_000;

/** How many votes a run would resend. `more`: the range has more, or has unread votes. */
export async function countResendable(
  { votes, clock }: DeliveryDeps,
  serverId: ObjectId,
  range: ResendRange,
  most = MOST_RESENT,
): Promise<{ votes: number; more: boolean }> {
  const now = clock.now();
  const wanted = filterOf(serverId, range, now);
  const inStates = votesIn(serverId, range, now);
  const [read, found] = await Promise.all([
    votes.countDocuments(inStates, { limit: MOST_READ }),
    votes
      .aggregate<{ votes: number }>([
        { $match: inStates },
        { $sort: { votedAt: -1 } },
        { $limit: MOST_READ },
        { $match: wanted },
        { $limit: most + 1 },
        { $count: 'votes' },
      ])
      .next(),
  ]);
  const counted = found?.votes ?? 0;
  return { votes: Math.min(counted, most), more: counted > most || read === MOST_READ };
}

/** What the index `BY_STATE` has of a range: which votes are resent is decided after reading them. */
function votesIn(
  serverId: ObjectId,
  { since, until, states, player, silent, restored }: ResendRange,
  now: Date,
): Filter<Vote> {
  const oldest = after(now, -RESENDABLE_MS);
  return {
    serverId,
    ...(player === undefined ? {} : { usernameKey: usernameKey(player) }),
    'delivery.state': { $in: silent || restored ? ['unconfirmed' as const] : statesOf(states) },
    votedAt: { $gte: since > oldest ? since : oldest, $lt: until },
  };
}

function filterOf(serverId: ObjectId, range: ResendRange, now: Date): Filter<Vote> {
  const { states, silent, restored, twice, neverSent } = range;
  return {
    ...votesIn(serverId, range, now),
    // Imported votes have negative numbers.
    seq: { $gt: 0 },
    quarantinedAt: { $exists: false },
    ...(neverSent ? { 'delivery.attemptCount': 0 } : {}),
    ...(restored ? { 'delivery.restoredAt': { $exists: true }, claim: { $exists: false } } : {}),
    // A vote that this run has resent, and whose delivery has ended again, is not resent once more.
    'delivery.events': { $not: { $elemMatch: { kind: 'resent', at: { $gte: now } } } },
    $and: [silent ? silentVotes(silent) : chosen(states, twice)],
  };
}

/** Votes of other selections than `NOT_ARRIVED` may all arrive twice. */
function chosen(states: VoteSelection[], twice: ResendRange['twice']): Filter<Vote> {
  if (twice === 'also') return selected(states);
  const notArrived = selected(states.filter(isNotArrived));
  if (twice === 'only') return { $and: [notArrived, { $nor: [ARRIVES_ONCE] }] };
  const others = selected(states.filter((state) => !isNotArrived(state)));
  return { $or: [{ $and: [notArrived, ARRIVES_ONCE] }, others] };
}

function statesOf(selections: VoteSelection[]): DeliveryState[] {
  const states = selections.map((one) => (one === 'sent-not-confirmed' ? 'delivered' : one));
  return RESENDABLE_STATES.filter((state) => states.includes(state));
}

function silentVotes(range: { since: Date; until: Date }): Filter<Vote> {
  return {
    'delivery.restoredAt': { $exists: false },
    claim: { $exists: false },
    $and: [endedSilently(range), withArrival('may-have-arrived')],
  };
}

function endedSilently({ since, until }: { since: Date; until: Date }): Filter<Vote> {
  const last = (field: string) => ({ $last: `$delivery.attempts.${field}` });
  const between = [{ $gt: [last('at'), since] }, { $lt: [last('at'), until] }];
  const silent = OUTCOME_CODES.filter((code) => OUTCOMES[code].isSilent);
  return { $expr: { $and: [...between, { $in: [last('code'), silent] }] } };
}
