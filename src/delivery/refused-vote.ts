import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { after } from '../platform/clock.ts';
import type { Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';

/** `words`: the listener's message. */
export type RefusedVote = { id: string; username: string; at: Date; words?: string };

/** Only the newest failed votes are read: the others may have expired or be very many. */
const LOOKED_AT = 10;

/** Of the last 30 days and with the listener's current settings, among the server's newest ten failed votes. */
export async function lastRefusedVote(
  { votes, clock }: DeliveryDeps,
  { serverId, updatedAt }: Pick<Listener, 'serverId' | 'updatedAt'>,
): Promise<RefusedVote | null> {
  const votedAt = { $gt: after(clock.now(), -RESENDABLE_MS) };
  const failed = await votes
    .find({ serverId, 'delivery.state': 'failed', votedAt })
    .sort({ votedAt: -1 })
    .limit(LOOKED_AT)
    .project<Pick<Vote, '_id' | 'username' | 'delivery'>>({
      username: 1,
      'delivery.attempts': { $slice: -1 },
    })
    .toArray();
  const refused = failed.flatMap(({ _id, username, delivery }): RefusedVote[] => {
    const last = delivery.attempts.at(-1);
    if (last?.class !== 'vote-only' || last.at < updatedAt) return [];
    return [{ id: _id.toString(), username, at: last.at, ...(last.words ? { words: last.words } : {}) }];
  });
  return refused[0] ?? null;
}
