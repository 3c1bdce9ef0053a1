import type { ObjectId } from 'mongodb';
import { LONGEST_OPEN_MS, RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import type { Listener, ResendOwed } from '../listeners/listener.ts';
import { after, MINUTE } from '../platform/clock.ts';
import { latestAt } from '../votes/latest-at.ts';
import { selected, type VoteSelection } from '../votes/sent-not-confirmed.ts';
import type { DeliveryDeps } from './deps.ts';
import { resendVotes } from './resend-votes.ts';

/** A change of settings resends at most this many votes, in some seconds. The sweep resends the others. */
const RESEND_BATCH_SIZE = 5_000;

/** An attempt that ran when the settings changed has ended after this time. */
const SETTLED_MS = 2 * MINUTE;

/** Those that can still be sent again. Counting stops at `atMost`. */
export const countUnconfirmed = counterOf('unconfirmed');

export const countSentNotConfirmed = counterOf('sent-not-confirmed');

function counterOf(selection: VoteSelection) {
  return ({ votes, clock }: DeliveryDeps, serverId: ObjectId, atMost?: number): Promise<number> => {
    const votedAt = { $gt: after(clock.now(), -RESENDABLE_MS) };
    const limit = atMost === undefined ? {} : { limit: atMost };
    return votes.countDocuments({ serverId, ...selected([selection]), votedAt }, limit);
  };
}

/** For a new listener, in case the server had one before. */
export async function resendOwedAfterRemoval(
  deps: DeliveryDeps,
  serverId: ObjectId,
  { at, by }: Pick<ResendOwed, 'at' | 'by'>,
): Promise<ResendOwed> {
  const { votes, clock } = deps;
  // The time of the last delivery was in the removed document, so it is read from the votes. Usually no vote is
  // unconfirmed, and it does not matter.
  if ((await countUnconfirmed(deps, serverId, 1)) === 0) return { at, by, silentSince: NEVER };
  // What is resent was cast in the last 30 days. What was delivered meanwhile may have been resent 30 days after it
  // was.
  const oldest = after(clock.now(), -RESENDABLE_MS - LONGEST_OPEN_MS);
  const newest = await votes
    .aggregate<{ at: Date | null }>(
      [
        { $match: { serverId, votedAt: { $gt: oldest } } },
        { $sort: { votedAt: -1 } },
        { $limit: MOST_READ },
        { $group: { _id: null, at: { $max: DELIVERED_AT } } },
      ],
      { hint: { serverId: 1, votedAt: 1 } },
    )
    .next();
  return { at, by, silentSince: newest?.at ?? NEVER };
}

/** Of the server's votes, to find the last delivery. */
const MOST_READ = 50_000;

/** A resend removes `deliveredAt`; the attempts stay. */
const DELIVERED_AT = {
  $max: [
    '$delivery.deliveredAt',
    { $max: '$delivery.attempts.lateAt' },
    latestAt('$delivery.attempts', { $eq: ['$$this.class', 'delivered'] }),
  ],
};

/** The last delivery if there was none. */
export const NEVER = new Date(0);

/** Resends the votes whose last attempt got no answer after the last delivery and before the change of settings. */
export async function resendSilentVotes(
  deps: DeliveryDeps,
  { serverId, resendOwed }: Pick<Listener, 'serverId' | 'resendOwed'>,
): Promise<{ resent: number; more: boolean }> {
  if (!resendOwed) return { resent: 0, more: false };
  const { at, by, silentSince } = resendOwed;
  const now = deps.clock.now();
  const range = {
    since: after(now, -RESENDABLE_MS),
    until: now,
    states: ['unconfirmed' as const],
    silent: { since: silentSince, until: at },
  };
  const resent = await resendVotes(deps, serverId, range, by, { most: RESEND_BATCH_SIZE });
  return resent ?? { resent: 0, more: false };
}

/**
 * Finishes resends that began over two minutes ago: the process that changed the settings died, there were too many
 * votes for one run, or an attempt with the earlier token or key was still running. Concurrent runs are safe.
 */
export async function finishOwedResends(deps: DeliveryDeps): Promise<void> {
  const { listeners, clock, log } = deps;
  const owed = await listeners.find({ 'resendOwed.at': { $lt: after(clock.now(), -SETTLED_MS) } }).toArray();
  for (const listener of owed) {
    const { serverId, _id, resendOwed } = listener;
    try {
      const { more } = await resendSilentVotes(deps, listener);
      if (more || !resendOwed) continue;
      await listeners.updateOne(
        { serverId, _id, 'resendOwed.at': resendOwed.at },
        { $set: { resendOwed: null } },
      );
    } catch (error) {
      log.warn({ event: 'resend.failed', serverId: serverId.toHexString(), reason: String(error) });
    }
  }
}
