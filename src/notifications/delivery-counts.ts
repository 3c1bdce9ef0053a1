import type { Collection, ObjectId } from 'mongodb';
import { DELIVERY_EXPIRES_MS, RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { after, SECOND } from '../platform/clock.ts';
import { ARRIVAL } from '../votes/arrival.ts';
import type { Vote } from '../votes/vote.ts';

/** The state of the votes that an outage delayed. */
export type DeliveryCounts = {
  /** Not delivered yet; delivery continues. */
  waiting: number;
  /** Delivered after the start of the outage, with a delay. */
  arrived: number;
  /** Failed or unconfirmed since the start of the outage. */
  lost: number;
};

/** A vote counts as delayed if it waited for its delivery for longer than this. */
const WAITED_MS = 30 * SECOND;

/** A vote can be queued again until this time after it was cast, and then waits for at most `DELIVERY_EXPIRES_MS`. */
const MAY_WAIT_MS = RESENDABLE_MS + DELIVERY_EXPIRES_MS;

const RESENT = {
  $filter: { input: '$delivery.events', cond: { $in: ['$$this.kind', ['resent', 'released']] } },
};
const RESENT_AT = { $max: { $map: { input: RESENT, in: '$$this.at' } } };
const QUEUED_AT = { $max: ['$votedAt', RESENT_AT] };
const ENDED_AT = { $max: [{ $max: '$delivery.attempts.at' }, { $max: '$delivery.events.at' }] };

/**
 * Counts the votes that were delayed by an outage that began at `since`. If it goes on, `since` is null and only the
 * waiting votes are counted: the other counts read the delivered votes of 33 days.
 */
export async function countDeliveries(
  { votes }: { votes: Collection<Vote> },
  serverId: ObjectId,
  since: Date | null,
): Promise<DeliveryCounts> {
  const waiting = votes.countDocuments({ serverId, 'delivery.state': { $in: ['waiting', 'sending'] } });
  if (!since) return { waiting: await waiting, arrived: 0, lost: 0 };
  const votedAt = { $gte: after(since, -MAY_WAIT_MS) };
  const arrived = votes.countDocuments({
    serverId,
    'delivery.state': 'delivered',
    votedAt,
    'delivery.deliveredAt': { $gte: since },
    $expr: { $gt: [{ $subtract: ['$delivery.deliveredAt', QUEUED_AT] }, WAITED_MS] },
  });
  const lost = votes.countDocuments({
    serverId,
    'delivery.state': { $in: ['failed', 'unconfirmed'] },
    votedAt,
    $expr: { $and: [{ $gte: [ENDED_AT, since] }, { $ne: [ARRIVAL, 'arrived'] }] },
  });
  const [stillWaiting, ...ended] = await Promise.all([waiting, arrived, lost]);
  return { waiting: stillWaiting, arrived: ended[0], lost: ended[1] };
}
