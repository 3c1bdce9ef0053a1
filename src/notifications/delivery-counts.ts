import type { Collection, ObjectId } from 'mongodb';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import { after, SECOND } from '../platform/clock.ts';
import type { Vote } from '../votes/vote.ts';

/** The state of the votes that an outage delayed. */
export type DeliveryCounts = {
  /** Not delivered yet; delivery continues. */
  waiting: number;
  /** Delivered after the start of the outage, with a delay. */
  arrived: number;
  /** Cast after the start of the outage, and failed or unconfirmed. */
  lost: number;
};

/** A vote counts as delayed if its delivery took longer than this. */
const WAITED_MS = 30 * SECOND;

/** Counts the votes that were delayed by an outage that began at `since`. */
export async function countDeliveries(
  { votes }: { votes: Collection<Vote> },
  serverId: ObjectId,
  since: Date,
): Promise<DeliveryCounts> {
  // A vote that was waiting when the outage began was cast at most `DELIVERY_EXPIRES_MS` before `since`.
  const votedAt = { $gte: after(since, -DELIVERY_EXPIRES_MS) };
  const waited = { $gt: [{ $subtract: ['$delivery.deliveredAt', '$votedAt'] }, WAITED_MS] };
  const [waiting, arrived, lost] = await Promise.all([
    votes.countDocuments({ serverId, 'delivery.state': { $in: ['waiting', 'sending'] } }),
    votes.countDocuments({
      serverId,
      'delivery.state': 'delivered',
      votedAt,
      'delivery.deliveredAt': { $gte: since },
      $expr: waited,
    }),
    votes.countDocuments({
      serverId,
      'delivery.state': { $in: ['failed', 'unconfirmed'] },
      votedAt: { $gte: since },
    }),
  ]);
  return { waiting, arrived, lost };
}
