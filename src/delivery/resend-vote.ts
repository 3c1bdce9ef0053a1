import type { Document, Filter, ObjectId, UUID } from 'mongodb';
import { DELIVERY_EXPIRES_MS, RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { QUEUE_FIELDS, wakeListener } from '../listeners/delivery-queues.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, HOUR } from '../platform/clock.ts';
import { defineLimit, limitFor } from '../platform/limits/define-limit.ts';
import { useAllowance } from '../platform/limits/rate-limit.ts';
import { DURABLE } from '../platform/mongo.ts';
import { arrivalOf, withArrival } from '../votes/arrival.ts';
import { type DeliveryState, isImported, type Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';

/** Each of these votes arrives twice. */
export const DELIVERED_RESENDS = defineLimit({
  key: 'resend-delivered',
  what: 'Resends of votes that arrived or were sent and not confirmed, by the owner',
  of: 'server',
  times: 500,
  windowMs: HOUR,
  beyond: '429',
});

export type Resent =
  /** The vote is in the queue again. */
  | { kind: 'resent'; from: DeliveryState; mayArriveTwice: boolean }
  /** The caller did not expect that (`onlyOnce`). */
  | { kind: 'may-arrive-twice' }
  /** It was claimed, or its delivery went on, at the same moment. Nothing was sent. */
  | { kind: 'changed' }
  /** Waiting or being sent already. */
  | { kind: 'under-way'; state: DeliveryState }
  | { kind: 'not-found' }
  | { kind: 'no-listener' }
  | { kind: 'imported' }
  | { kind: 'quarantined' }
  | { kind: 'too-old' }
  | { kind: 'too-many'; nextAllowedAt: Date };

/** `forOwner`: `DELIVERED_RESENDS` applies. `onlyOnce`: for a caller who saw a vote that surely did not arrive. */
type ResendOptions = { forOwner?: boolean; onlyOnce?: boolean; byId?: ObjectId | undefined };

/** Votes in the other states are in the queue already. */
export const RESENDABLE_STATES: DeliveryState[] = ['none', 'delivered', 'unconfirmed', 'failed'];

/**
 * Puts a vote into the queue again, or for the first time if it was cast without a listener. Its schedule of retries
 * begins anew, and its timeline keeps the earlier events.
 *
 * @param by - the e-mail address of the user who resends it, or `cli`
 */
export async function resendVote(
  deps: DeliveryDeps,
  voteId: UUID,
  by: string,
  { forOwner = false, onlyOnce = false, byId }: ResendOptions = {},
): Promise<Resent> {
  const { votes, listeners, producer, clock } = deps;
  const now = clock.now();
  const vote = await votes.findOne({ _id: voteId });
  if (!vote) return { kind: 'not-found' };
  const why = whyNotResend(vote, now);
  if (why) return why;
  const { serverId } = vote;
  const { state } = vote.delivery;
  const twice = mayArriveTwice(vote);
  if (twice && onlyOnce) return { kind: 'may-arrive-twice' };
  const listener = await listeners.findOne({ serverId }, { projection: { serverId: 1, ...QUEUE_FIELDS } });
  if (!listener) return { kind: 'no-listener' };

  if (forOwner && (state === 'delivered' || arrivalOf(vote.delivery) === 'arrived')) {
    const nextAllowedAt = await useAllowance(deps, limitFor(DELIVERED_RESENDS, serverId));
    if (nextAllowedAt) return { kind: 'too-many', nextAllowedAt };
  }
  // The write repeats what was decided: if a plugin claims the vote at the same moment, only one of the two matches.
  const changed = await votes.updateOne(
    { serverId, _id: voteId, 'delivery.state': state, ...(twice ? {} : ARRIVES_ONCE) },
    resending(now, { by, byId, mayArriveTwice: twice }),
    { writeConcern: DURABLE },
  );
  if (changed.matchedCount === 0) {
    const newer = await votes.findOne({ serverId, _id: voteId });
    return (newer && whyNotResend(newer, now)) ?? { kind: 'changed' };
  }
  await recordAudit(deps, {
    by,
    action: 'vote.resend',
    serverId,
    details: { voteId: voteId.toString(), from: state },
  });
  await wakeListener(producer, listener);
  return { kind: 'resent', from: state, mayArriveTwice: twice };
}

/** Null when it can be resent, provided that its server has a listener. */
export function whyNotResend(
  vote: Vote,
  now: Date,
): Extract<Resent, { kind: 'imported' | 'quarantined' | 'under-way' | 'too-old' }> | null {
  const { state } = vote.delivery;
  if (isImported(vote)) return { kind: 'imported' };
  if (vote.quarantinedAt) return { kind: 'quarantined' };
  if (!RESENDABLE_STATES.includes(state)) return { kind: 'under-way', state };
  return after(vote.votedAt, RESENDABLE_MS) <= now ? { kind: 'too-old' } : null;
}

/** `resend` is the event for the timeline. */
export function resending(
  now: Date,
  { byId, ...resend }: { by: string; byId: ObjectId | undefined; mayArriveTwice: boolean },
): Document[] {
  const written = { at: now, kind: 'resent', ...resend, ...(byId ? { byId } : {}) };
  const event = { $mergeObjects: [{ $literal: written }, { from: '$delivery.state' }] };
  return [
    {
      $set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': now,
        'delivery.dueBy': 'resend',
        'delivery.queuedAt': now,
        'delivery.expiresAt': after(now, DELIVERY_EXPIRES_MS),
        'delivery.step': 0,
        'delivery.ambiguousEnds': 0,
        'delivery.events': { $concatArrays: ['$delivery.events', [event]] },
      },
    },
    { $unset: ['delivery.deliveredAt', 'delivery.restoredAt'] },
  ];
}

/** Whether the player may be rewarded twice: the vote arrived or may have arrived, or a plugin claimed it. */
export function mayArriveTwice({ claim, delivery }: Pick<Vote, 'claim' | 'delivery'>): boolean {
  return Boolean(claim) || arrivalOf(delivery) !== 'surely-not';
}

/** `mayArriveTwice` is false. */
export const ARRIVES_ONCE: Filter<Vote> = { claim: { $exists: false }, ...withArrival('surely-not') };
