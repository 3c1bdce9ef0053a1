import type { ObjectId } from 'mongodb';
import { LONGEST_OPEN_MS } from '../listeners/delivery-limits.ts';
import { after, SECOND } from '../platform/clock.ts';
import { ARRIVAL } from '../votes/arrival.ts';
import { latestAt } from '../votes/latest-at.ts';
import type { NotificationsDeps } from './deps.ts';

/** How many of the votes that an outage delayed have which state. */
export type DeliveryCounts = {
  waiting: number;
  arrived: number;
  lost: number;
};

/** A vote counts as delayed if it waited for longer. */
const WAITED_MS = 30 * SECOND;

const QUEUED_AGAIN_AT = latestAt('$delivery.events', { $in: ['$$this.kind', ['resent', 'released']] });
const QUEUED_AT = { $max: ['$votedAt', QUEUED_AGAIN_AT] };
const ENDED_AT = { $max: [{ $max: '$delivery.attempts.at' }, { $max: '$delivery.events.at' }] };

/**
 * If the outage goes on, `since` is null and only the waiting votes are counted: the other counts read the delivered
 * votes of 33 days.
 */
export async function countDelayedVotes(
  { votes }: NotificationsDeps,
  serverId: ObjectId,
  since: Date | null,
): Promise<DeliveryCounts> {
  const waiting = votes.countDocuments({ serverId, 'delivery.state': { $in: ['waiting', 'sending'] } });
  if (!since) return { waiting: await waiting, arrived: 0, lost: 0 };
  const votedAt = { $gte: after(since, -LONGEST_OPEN_MS) };
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
