import type { Collection, Document, ObjectId, UUID } from 'mongodb';
import { DELIVERY_EXPIRES_MS, RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { QUEUE_FIELDS, wakeListener } from '../listeners/delivery-queues.ts';
import type { Listener } from '../listeners/listener.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import { after, type Clock, HOUR } from '../platform/clock.ts';
import { type Allowance, type RateLimit, useAllowance } from '../platform/limits/rate-limit.ts';
import { DURABLE } from '../platform/mongo.ts';
import type { Producer } from '../platform/producer.ts';
import { type Delivery, type DeliveryState, isImported, type Vote } from '../votes/vote.ts';

export type ResendDeps = {
  votes: Collection<Vote>;
  listeners: Collection<Listener>;
  auditLog: Collection<AuditEntry>;
  rateLimits: Collection<RateLimit>;
  producer: Producer;
  clock: Clock;
};

/** The limit on resends of a server's delivered votes by its owner: each of these votes may arrive twice. */
export const DELIVERED_RESENDS: Allowance = { times: 500, windowMs: HOUR };

/** The key of the allowance `DELIVERED_RESENDS` for a server. */
export function deliveredResendsOf(serverId: ObjectId): string {
  return `resend-delivered:${serverId.toHexString()}`;
}

export type Resent =
  /** The vote is in the queue again. `mayArriveTwice`: it was delivered before, or may have been. */
  | { kind: 'resent'; from: DeliveryState; mayArriveTwice: boolean }
  /** The vote is waiting or being sent already; nothing changed. */
  | { kind: 'under-way'; state: DeliveryState }
  | { kind: 'not-found' }
  | { kind: 'no-listener' }
  /** The vote was imported from another site; imported votes are never forwarded. */
  | { kind: 'imported' }
  /** The vote is in a quarantine; an operator must decide first. */
  | { kind: 'quarantined' }
  /** Votes can be resent for 30 days only. */
  | { kind: 'too-old' }
  /** The owner has resent too many delivered votes of this server. */
  | { kind: 'too-many'; nextAllowedAt: Date };

/** States in which a vote can be resent. Votes in the other states are in the queue already. */
export const RESENDABLE_STATES: DeliveryState[] = ['none', 'delivered', 'unconfirmed', 'failed'];

/**
 * Puts a vote into the queue again, or for the first time if it was cast without a listener. Its schedule of retries
 * begins anew, and its timeline keeps the earlier events. If the vote is in the queue already, nothing changes.
 *
 * @param by - the e-mail address of the user who resends the vote, or `cli`; `byId`: the user's id, if there is a user
 * @param forOwner - whether the limit `DELIVERED_RESENDS` applies; operators have no such limit
 * @throws the driver's error when MongoDB fails
 */
export async function resendVote(
  deps: ResendDeps,
  voteId: UUID,
  by: string,
  { forOwner = false, byId }: { forOwner?: boolean; byId?: ObjectId } = {},
): Promise<Resent> {
  const { votes, listeners, producer, clock } = deps;
  const now = clock.now();
  const vote = await votes.findOne({ _id: voteId });
  if (!vote) return { kind: 'not-found' };
  const why = whyNotResend(vote, now);
  if (why) return why;
  const { serverId, delivery } = vote;
  const { state } = delivery;
  const listener = await listeners.findOne({ serverId }, { projection: { serverId: 1, ...QUEUE_FIELDS } });
  if (!listener) return { kind: 'no-listener' };

  if (forOwner && state === 'delivered') {
    const nextAllowedAt = await useAllowance(deps, deliveredResendsOf(serverId), DELIVERED_RESENDS);
    if (nextAllowedAt) return { kind: 'too-many', nextAllowedAt };
  }
  const mayArriveTwice = mayHaveArrived(vote);
  const changed = await votes.updateOne(
    { serverId, _id: voteId, 'delivery.state': state },
    resending(now, { by, byId, mayArriveTwice }),
    { writeConcern: DURABLE },
  );
  if (changed.matchedCount === 0) return { kind: 'under-way', state: 'waiting' };
  await recordAudit(deps, {
    by,
    action: 'vote.resend',
    serverId,
    details: { voteId: voteId.toString(), from: state },
  });
  await wakeListener(producer, listener);
  return { kind: 'resent', from: state, mayArriveTwice };
}

/** Why a vote cannot be resent at `now`; null when it can be, provided that its server has a listener. */
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

/** The update that puts a vote into the queue again with a new schedule; `resend` is the event for its timeline. */
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
    { $unset: ['delivery.deliveredAt', 'delivery.restoredAt', 'delivery.unavailableEnds'] },
  ];
}

/**
 * How often a website answered a vote with a server error (HTTP 5xx or 408) or a rate limit (429). It may have taken
 * the vote even so.
 */
export function timesUnavailable({ codes, attempts }: Delivery): number {
  // Older versions did not count all codes, and a vote with many attempts stores only the newest ones. Neither number
  // is ever too high, so the higher one is used.
  const stored = attempts.filter(({ code }) => code === 'http-unavailable' || code === 'http-limited').length;
  return Math.max((codes?.['http-unavailable'] ?? 0) + (codes?.['http-limited'] ?? 0), stored);
}

/** Whether a vote was delivered before, or may have been: if it is sent again, it may arrive twice. */
export function mayHaveArrived({ delivery }: Vote): boolean {
  return (
    delivery.state === 'delivered' ||
    delivery.events.some(({ kind }) => kind === 'restored') ||
    (delivery.ends.ambiguous ?? 0) > 0 ||
    (delivery.ends.delivered ?? 0) > 0 ||
    timesUnavailable(delivery) > 0
  );
}
