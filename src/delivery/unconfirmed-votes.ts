import type { Collection, ObjectId } from 'mongodb';
import { after, type Clock } from '../clock.ts';
import { DURABLE } from '../mongo.ts';
import type { Delivery, Vote } from '../votes/vote.ts';
import { ENDED } from './after-end.ts';
import type { Listener } from './listener.ts';
import type { Resending } from './resend-vote.ts';
import { resendVotes } from './resend-votes.ts';
import { MOST_SENDINGS, mostSendings, RESENDABLE_MS } from './schedule.ts';

/** One change of settings sends no more of them again: it is done in some seconds. The rest are counted and offered. */
const MOST_AT_ONCE = 5_000;

/** Unconfirmed votes of a server that can still be sent again, counted up to `atMost`; all of them by default. */
export function countUnconfirmed(
  { votes, clock }: { votes: Collection<Vote>; clock: Clock },
  serverId: ObjectId,
  atMost?: number,
): Promise<number> {
  const votedAt = { $gt: after(clock.now(), -RESENDABLE_MS) };
  const limit = atMost === undefined ? {} : { limit: atMost };
  return votes.countDocuments({ serverId, 'delivery.state': 'unconfirmed', votedAt }, limit);
}

/**
 * Sends again the votes that a listener's earlier token or key used up: unconfirmed ones whose last attempt ended
 * without a word, after the last vote that the listener took.
 *
 * @param before - the listener as it was with that token or key
 * @param by - who mended it, for the audit log and the timelines
 * @returns how many were put in the queue again
 */
export async function resendUsedUp(
  deps: Resending,
  before: Pick<Listener, 'serverId' | 'lastDeliveredAt'>,
  by: string,
): Promise<number> {
  const now = deps.clock.now();
  const range = {
    since: after(now, -RESENDABLE_MS),
    until: now,
    states: ['unconfirmed' as const],
    silentSince: before.lastDeliveredAt ?? new Date(0),
  };
  const resent = await resendVotes(deps, before.serverId, range, by, { most: MOST_AT_ONCE });
  return resent?.resent ?? 0;
}

/**
 * After an owner lowered the number of sendings: waiting votes that were sent as often already are unconfirmed. Safe
 * to run again.
 */
export async function giveUpSentVotes(
  { votes }: { votes: Collection<Vote> },
  listener: Pick<Listener, 'serverId' | 'maxSendings'>,
): Promise<void> {
  const { serverId } = listener;
  const most = mostSendings(listener);
  if (most === MOST_SENDINGS) return;
  await votes.updateMany(
    { serverId, 'delivery.state': 'waiting', 'delivery.ambiguousEnds': { $gte: most } },
    { $set: { 'delivery.state': 'unconfirmed' }, $unset: ENDED },
    { writeConcern: DURABLE },
  );
}

/**
 * Whether a listener said that it took a delivered vote: false after a bare close in Votifier v1, null where that is
 * not on record.
 */
export function isConfirmed({ state, attempts, codes }: Delivery): boolean | null {
  if (state !== 'delivered') return null;
  const newest = attempts.findLast((attempt) => attempt.class === 'delivered')?.code;
  if (newest) return newest === 'acknowledged';
  if ((codes?.acknowledged ?? 0) > 0) return true;
  return (codes?.['sent-not-confirmed'] ?? 0) > 0 ? false : null;
}
