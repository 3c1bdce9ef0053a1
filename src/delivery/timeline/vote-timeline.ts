import type { Collection } from 'mongodb';
import { RESENDABLE_MS } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { firstBeyondAscii } from '../../listeners/listener-state.ts';
import { saidIn } from '../../listeners/outcomes.ts';
import { after } from '../../platform/clock.ts';
import { arrivalOf, timesArrived } from '../../votes/arrival.ts';
import type { VoteExclusion } from '../../votes/exclusions/vote-exclusion.ts';
import { isConfirmed } from '../../votes/sent-not-confirmed.ts';
import { type Attempt, type Delivery, isImported, type Vote } from '../../votes/vote.ts';
import type { DeliveryDeps } from '../deps.ts';
import { explain, type Known } from '../diagnosis/explain.ts';
import { type Explained, hasTaken, knownOf, listenerReason } from '../diagnosis/listener-reason.ts';
import { waitingFor } from '../waiting-for.ts';
import { counts, olderAttempts, olderCount } from './older-attempts.ts';
import type {
  AttemptEvent,
  AttemptOutcome,
  DeliveryStatus,
  TimelineEvent,
  VoteTimeline,
} from './timeline-event.ts';

/** Votes before one in its listener's queue are counted up to this number. */
export const MOST_AHEAD = 100;

type WaitedFor = Pick<Listener, 'pause' | 'breaker' | 'limited'> &
  Explained &
  Partial<Pick<Listener, 'beyondAscii'>>;

export async function voteTimeline(
  { votes, voteExclusions }: DeliveryDeps,
  vote: Vote,
  listener: WaitedFor | null,
  now: Date,
): Promise<VoteTimeline> {
  const [exclusions, ahead] = await Promise.all([
    vote.excludedBy ? voteExclusions.find({ _id: { $in: vote.excludedBy } }).toArray() : [],
    countAhead(votes, vote),
  ]);
  return {
    status: statusOf(vote, { listener, ahead, now, exclusions }),
    arrival: arrivalOf(vote.delivery),
    mayHaveArrivedTwice: timesArrived(vote.delivery) > 1,
    nameMayBeMangled: (listener && firstBeyondAscii(listener)?.equals(vote._id)) ?? false,
    events: eventsOf(vote, exclusions, listener),
  };
}

/** Up to `MOST_AHEAD`; 0 if the vote does not wait. */
async function countAhead(votes: Collection<Vote>, { serverId, _id, delivery }: Vote): Promise<number> {
  const { state, nextAt } = delivery;
  if (state !== 'waiting' || !nextAt) return 0;
  const ahead = await votes
    .find({
      serverId,
      $or: [
        { 'delivery.nextAt': { $gt: new Date(0), $lt: nextAt } },
        { 'delivery.nextAt': nextAt, _id: { $lt: _id } },
      ],
    })
    .project({ _id: 1 })
    .limit(MOST_AHEAD)
    .toArray();
  return ahead.length;
}

type Failed = Extract<DeliveryStatus, { state: 'failed' }>;

/** Without position, time limits and why the listener is stopped, which is the same for all votes of a list. */
export function briefStatus(vote: Vote, listener: WaitedFor | null, now: Date): DeliveryStatus {
  const status = statusOf(vote, { listener, ahead: null, now, exclusions: [] });
  if (status.state === 'waiting') return { ...status, reason: null, givenUpAt: null };
  return 'resendableUntil' in status ? { ...status, resendableUntil: null } : status;
}

function statusOf(
  vote: Vote,
  context: { listener: WaitedFor | null; ahead: number | null; now: Date; exclusions: VoteExclusion[] },
): DeliveryStatus {
  const { listener, ahead, now, exclusions } = context;
  const { delivery } = vote;
  const { state, attempts } = delivery;
  const resendableUntil = after(vote.votedAt, RESENDABLE_MS);
  const fetched = attempts.at(-1)?.protocol === 'fetch';
  switch (state) {
    case 'none':
      return { state, why: whyNone(vote, exclusions) };
    case 'waiting':
      return {
        state,
        waitingFor: waitingFor(vote, listener, now) ?? { kind: 'turn' },
        reason: listener && listenerReason(listener),
        ahead,
        givenUpAt: delivery.expiresAt ?? null,
        fetched: listener?.protocol === 'fetch',
      };
    case 'sending':
      return { state, since: attempts.at(-1)?.at ?? null, fetched };
    case 'delivered':
      return { state, at: delivery.deliveredAt ?? null, confirmed: isConfirmed(delivery), fetched };
    case 'unconfirmed':
      return { state, why: whyUnconfirmed(delivery), resendableUntil, fetched };
    case 'failed':
      return { state, ...whyFailed(delivery), resendableUntil };
  }
}

function whyUnconfirmed({ restoredAt, attempts }: Delivery) {
  if (restoredAt) return 'restored';
  const sent = attempts.findLast((one) => one.class === 'ambiguous' || one.code === 'http-unavailable');
  return sent?.code === 'http-unavailable' ? 'server-error' : 'no-answer';
}

function whyNone(vote: Vote, exclusions: VoteExclusion[]): Extract<DeliveryStatus, { state: 'none' }>['why'] {
  if (isImported(vote)) return 'imported';
  if (vote.quarantinedAt) return exclusions.some(isDecided) ? 'excluded' : 'quarantined';
  const isRemoved = vote.delivery.events.some(({ kind }) => kind === 'listener-removed');
  return isRemoved ? 'listener-removed' : 'no-listener';
}

/** An operator decided to exclude the votes of a quarantine. */
function isDecided({ isQuarantine, state }: VoteExclusion): boolean {
  return isQuarantine === true && (state === 'confirming' || state === 'excluded');
}

function whyFailed({ attempts, events }: Delivery): Pick<Failed, 'why' | 'cause'> {
  const givenUp = events.findLast(({ kind }) => kind === 'expired' || kind === 'server-removed');
  const refused = attempts.findLast((attempt) => attempt.class === 'vote-only');
  if (givenUp && !(refused && refused.at > givenUp.at)) {
    return { why: givenUp.kind === 'expired' ? 'expired' : 'server-removed', cause: null };
  }
  const cause = refused?.code ? explain(refused.code, refused.protocol).cause : null;
  return { why: 'refused', cause };
}

function eventsOf(vote: Vote, exclusions: VoteExclusion[], listener: Explained | null): TimelineEvent[] {
  const { delivery, cooldownEndedAt, claim } = vote;
  const older = olderAttempts(vote);
  const attempts = attemptEvents(vote, listener);
  const events: TimelineEvent[] = [
    { kind: isImported(vote) ? 'imported' : 'accepted', at: vote.votedAt },
    ...(older ? [older] : []),
    // A resend must come before the attempt that it starts, also at the same time.
    ...delivery.events.map(plainEvent),
    ...attempts,
    ...attempts.flatMap(({ lateAt, number }) => {
      return lateAt ? [{ kind: 'acknowledged-late' as const, at: lateAt, number }] : [];
    }),
    ...(claim ? [{ kind: 'claimed' as const, at: claim.at, tokenId: claim.tokenId.toHexString() }] : []),
    ...(cooldownEndedAt ? [{ kind: 'cooldown-ended' as const, at: cooldownEndedAt }] : []),
    ...exclusions.map((exclusion): TimelineEvent => {
      const { _id, at, by, reason, reasonForOwner = null, state } = exclusion;
      if (state === 'quarantined') return { kind: 'quarantined', at: vote.votedAt, reason };
      return { kind: 'excluded', at, exclusionId: _id.toHexString(), by, reason, reasonForOwner };
    }),
  ];
  return events.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

function plainEvent({ kind, at, by, byId, from, mayArriveTwice }: Delivery['events'][number]): TimelineEvent {
  if (kind !== 'resent') return { kind, at };
  const who = { by: by ?? null, ...(byId ? { byId } : {}) };
  return { kind, at, ...who, from: from ?? null, mayArriveTwice: mayArriveTwice ?? null };
}

function attemptEvents({ delivery, username }: Vote, listener: Explained | null): AttemptEvent[] {
  let number = olderCount(delivery);
  return delivery.attempts.map((attempt, index) => {
    const counted = counts(attempt);
    if (counted) number += 1;
    const { id, at, test, protocol, worker, wokenBy, relayed, lateAt } = attempt;
    const end = endOf(attempt, { ...knownAt(listener, at), username });
    return {
      kind: 'attempt',
      at,
      id: id.toString(),
      number: counted ? number : null,
      test,
      protocol,
      worker,
      wokenBy: wokenBy ?? null,
      relayed: relayed ?? false,
      end,
      underWay: !end && delivery.state === 'sending' && index === delivery.attempts.length - 1,
      lateAt: lateAt ?? null,
    };
  });
}

/**
 * What is known of the listener: whether it had taken a vote is judged at the time of the attempt; a detected service
 * counts unless the settings changed after it; the service name is the current one, for the advice.
 */
function knownAt(listener: Explained | null, at: Date): Known {
  if (!listener) return {};
  const { serviceName, service } = knownOf(listener);
  const { acknowledgedAt, tested, updatedAt } = listener;
  const hadTaken = !!acknowledgedAt && acknowledgedAt < at;
  const tookTest = !!tested && !!updatedAt && tested.at < at && hasTaken({ tested, updatedAt });
  return {
    hasTaken: hadTaken || tookTest,
    serviceName,
    service: updatedAt && at >= updatedAt ? service : null,
  };
}

function endOf(
  { code, class: of, protocol, reached, words, detail, durationMs }: Attempt,
  known: Known,
): AttemptOutcome | null {
  if (!code || !of) return null;
  return {
    code,
    class: of,
    reached: reached ?? null,
    words: words ?? null,
    detail: detail ?? null,
    durationMs: durationMs ?? null,
    ...explain(code, protocol, { ...known, ...saidIn({ words, detail }) }),
  };
}
