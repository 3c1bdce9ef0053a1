import type { Collection, Document, ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { after, type Clock } from '../platform/clock.ts';
import type { Progress } from '../platform/progress.ts';
import { type Delivery, RESTORED_VOTES, type Vote } from '../votes/vote.ts';
import { DELIVERY_ENDED } from './drain/after-attempt.ts';
import type { ResendDeps } from './resend-vote.ts';
import { type ResendRange, type ResentRange, resendVotes } from './resend-votes.ts';

/** States in which a vote is not sent unless somebody resends it. */
const ENDED = new Set<unknown>(['none', 'delivered', 'unconfirmed', 'failed'] satisfies Delivery['state'][]);

/**
 * Holds back a vote that was open in a backup: it may have been delivered since the backup, so it becomes `unconfirmed`
 * and is sent only by a resend. A vote in quarantine stays there, and is held back when the quarantine is lifted.
 * Changes `vote`, a stored document.
 *
 * @returns whether the vote was open, or was already held back in the backup
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

/**
 * The servers whose votes a restore holds back, with the number of these votes. Only votes that can still be sent
 * count.
 */
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

/** The result for one server; `resent` is null if the server has no listener. */
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
