import type { Collection, Document, ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { after, type Clock } from '../platform/clock.ts';
import type { Progress } from '../platform/progress.ts';
import { type Delivery, RESTORED_VOTES, type Vote } from '../votes/vote.ts';
import { DELIVERY_ENDED } from './drain/after-attempt.ts';
import type { ResendDeps } from './resend-vote.ts';
import { type ResendRange, type ResentRange, resendVotes } from './resend-votes.ts';

/** States in which nothing sends a vote by itself. */
const ENDED = new Set<unknown>(['none', 'delivered', 'unconfirmed', 'failed'] satisfies Delivery['state'][]);

/**
 * Holds back a vote of a backup that was open: it may have been delivered since, so it becomes `unconfirmed`, and only a
 * resend sends it. A quarantined vote stays in its quarantine, and is not sent when that is lifted. Changes `vote`, which
 * is as it was stored.
 *
 * @returns whether the vote was open, or held back in the backup already
 */
export function holdRestoredVote(vote: Document, now: Date): boolean {
  const { delivery } = vote;
  if (delivery.restoredAt && !vote.quarantinedAt) return true;
  const isOpen = !ENDED.has(delivery.state);
  if (!isOpen && !vote.quarantinedAt) return false;
  delivery.events = [...(delivery.events ?? []), { at: now, kind: 'restored', from: delivery.state }];
  delivery.restoredAt = now;
  if (!isOpen) return false;
  delivery.state = 'unconfirmed';
  for (const field of Object.keys(DELIVERY_ENDED)) delete delivery[field.replace('delivery.', '')];
  return true;
}

type Held = { serverId: ObjectId; votes: number };
type CountDeps = { votes: Collection<Vote>; clock: Clock };

/** The servers with votes that a restore holds back and that can still be sent, and the number of these votes. */
export async function heldByRestore({ votes, clock }: CountDeps, only?: ObjectId): Promise<Held[]> {
  const held = {
    ...(only ? { serverId: only } : {}),
    'delivery.restoredAt': { $exists: true },
    'delivery.state': 'unconfirmed',
    votedAt: { $gt: after(clock.now(), -RESENDABLE_MS) },
  } as const;
  const counts = [
    { $match: held },
    { $group: { _id: '$serverId', votes: { $sum: 1 } } },
    { $sort: { votes: -1 } },
  ];
  const found = await votes
    .aggregate<{ _id: ObjectId; votes: number }>(counts, { hint: RESTORED_VOTES })
    .toArray();
  return found.map(({ _id, votes }) => ({ serverId: _id, votes }));
}

/** What was sent of a server; null if it has no listener. */
type SentHeld = { serverId: ObjectId; resent: ResentRange | null };

/**
 * Sends the votes that a restore holds back. Their timelines say that they may arrive twice. A repeated run takes only
 * votes that are still held.
 *
 * @param by - who sends them, for the audit log and the timelines
 * @param progress - called with the number of finished servers
 */
export async function sendRestoredVotes(
  deps: ResendDeps,
  held: { serverId: ObjectId }[],
  by: string,
  progress: Progress,
): Promise<SentHeld[]> {
  const sent: SentHeld[] = [];
  for (const { serverId } of held) {
    const resent = await resendVotes(deps, serverId, rangeOf(deps), by);
    sent.push({ serverId, resent });
    progress(sent.length, held.length);
  }
  return sent;
}

function rangeOf({ clock }: { clock: Clock }): ResendRange {
  const now = clock.now();
  return { since: after(now, -RESENDABLE_MS), until: now, states: ['unconfirmed'], restored: true };
}
