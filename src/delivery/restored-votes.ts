import type { Document, ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { after, DAY } from '../platform/clock.ts';
import type { Progress } from '../platform/progress.ts';
import { RESTORED_VOTES } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { DELIVERY_ENDED } from './drain/after-attempt.ts';
import { RESENDABLE_STATES } from './resend-vote.ts';
import { type ResentRange, resendVotes } from './resend-votes.ts';

/**
 * Holds back a vote that was waiting or being sent in a backup: it may have been delivered since, so it becomes
 * `unconfirmed` and is sent only by a resend; after a quarantine, if it is in one
 * (docs/adr/0102-backups-and-held-votes.md). What could be resent or claimed since the backup gets an event only.
 *
 * @param vote - a stored document, which is changed in place
 * @returns whether the vote was waiting or being sent, or was already held back in the backup
 */
export function holdRestoredVote(vote: Document, now: Date): boolean {
  const { delivery } = vote;
  if (delivery.restoredAt && !vote.quarantinedAt) return true;
  const isOpen = !RESENDABLE_STATES.includes(delivery.state);
  const isHeld = isOpen || Boolean(vote.quarantinedAt);
  if (!isHeld && !mayHaveChangedSince(vote, now)) return false;
  delivery.events = [...(delivery.events ?? []), { at: now, kind: 'restored', from: delivery.state }];
  if (isHeld) delivery.restoredAt = now;
  if (!isOpen) return false;
  delivery.state = 'unconfirmed';
  for (const field of Object.keys(DELIVERY_ENDED)) delete delivery[field.replace('delivery.', '')];
  return true;
}

/** Delivered votes can be claimed for a day. The restore may be some days after the backup. */
const CLAIMABLE_MS = 7 * DAY;

function mayHaveChangedSince({ seq, votedAt, claim, delivery }: Document, now: Date): boolean {
  if (seq < 0 || claim) return false;
  return votedAt > after(now, -(delivery.state === 'delivered' ? CLAIMABLE_MS : RESENDABLE_MS));
}

/** The servers with votes that a restore held back and that can still be sent, highest number first. */
export async function heldByRestore({ votes, clock }: DeliveryDeps, only?: ObjectId) {
  const held = {
    ...(only ? { serverId: only } : {}),
    'delivery.restoredAt': { $exists: true },
    'delivery.state': 'unconfirmed',
    // The player has the reward.
    claim: { $exists: false },
    votedAt: { $gt: after(clock.now(), -RESENDABLE_MS) },
  } as const;
  const summed = { $group: { _id: '$serverId', votes: { $sum: 1 } } };
  const found = votes.aggregate<{ _id: ObjectId; votes: number }>(
    [{ $match: held }, summed, { $sort: { votes: -1 } }],
    { hint: RESTORED_VOTES },
  );
  return found.map(({ _id, votes }) => ({ serverId: _id, votes })).toArray();
}

/** Sends the votes that a restore held back. `resent` is null if the server has no listener. Safe to run again. */
export async function sendRestoredVotes(
  deps: DeliveryDeps,
  held: { serverId: ObjectId }[],
  by: string,
  progress: Progress,
): Promise<{ serverId: ObjectId; resent: ResentRange | null }[]> {
  const sent: { serverId: ObjectId; resent: ResentRange | null }[] = [];
  for (const { serverId } of held) {
    const until = deps.clock.now();
    const range = { since: after(until, -RESENDABLE_MS), until, states: ['unconfirmed' as const] };
    const resent = await resendVotes(deps, serverId, { ...range, restored: true }, by);
    sent.push({ serverId, resent });
    progress(sent.length, held.length);
  }
  return sent;
}
