import type { Collection, ObjectId } from 'mongodb';
import { DELIVERY_EXPIRES_MS } from '../listeners/schedule.ts';
import { after, SECOND } from '../platform/clock.ts';
import type { Vote } from '../votes/vote.ts';

/** What became of the votes that an outage held up. */
export type DeliveryCounts = {
  /** Not yet delivered, and still tried. */
  waiting: number;
  /** Delivered after the outage had begun, some time after they were cast. */
  arrived: number;
  /** Given up, or perhaps arrived. */
  lost: number;
};

/** A vote that took longer than this had to wait; what is slower than usual had not. */
const WAITED_MS = 30 * SECOND;

/** Counts the votes that an outage which began at `since` held up. */
export async function countDeliveries(
  { votes }: { votes: Collection<Vote> },
  serverId: ObjectId,
  since: Date,
): Promise<DeliveryCounts> {
  // Whatever waited when the outage began had been cast no longer ago than this.
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
