import type { Collection, Document, ObjectId } from 'mongodb';
import { RESENDABLE_MS } from '../listeners/delivery-limits.ts';
import { after, type Clock } from '../platform/clock.ts';
import type { Progress } from '../platform/progress.ts';
import type { Vote } from '../votes/vote.ts';
import { DELIVERY_ENDED } from './drain/after-attempt.ts';
import type { Resending } from './resend-vote.ts';
import { countResendable, type ResendRange, type ResentRange, resendVotes } from './resend-votes.ts';
import type { RestoreRecord } from './restore-record.ts';

/**
 * Holds back a vote that was open when the backup was taken: it may have been delivered since, so it becomes
 * `unconfirmed`, and only a resend sends it. Changes the vote as it is stored in a backup.
 *
 * @returns whether the vote was open
 */
export function holdRestoredVote(vote: Document, now: Date): boolean {
  const { delivery } = vote as Pick<Vote, 'delivery'>;
  if (delivery?.state !== 'waiting' && delivery?.state !== 'sending') return false;
  delivery.events.push({ at: now, kind: 'restored', from: delivery.state });
  delivery.state = 'unconfirmed';
  for (const field of Object.keys(DELIVERY_ENDED)) delete vote.delivery[field.replace('delivery.', '')];
  return true;
}

type Held = { serverId: ObjectId; votes: number; more: boolean };
type Counting = { votes: Collection<Vote>; restores: Collection<RestoreRecord>; clock: Clock };

/** The servers with votes that a restore holds back and that can still be sent, and the number of these votes. */
export async function heldByRestore(deps: Counting, only?: ObjectId): Promise<Held[]> {
  const records = await deps.restores.find().toArray();
  const servers = new Map(
    records.flatMap(({ held }) => held).map(({ serverId }) => [`${serverId}`, serverId]),
  );
  const held: Held[] = [];
  for (const serverId of servers.values()) {
    if (only && !serverId.equals(only)) continue;
    const count = await countResendable(deps, serverId, rangeOf(deps));
    if (count.votes > 0) held.push({ serverId, ...count });
  }
  return held;
}

/** Votes that were sent, by server; null for a server without a listener. */
export type SentHeld = { serverId: ObjectId; resent: ResentRange | null };

/**
 * Sends the votes that a restore holds back. Their timelines say that they may arrive twice. A repeated run takes only
 * votes that are still held.
 *
 * @param by - who sends them, for the audit log and the timelines
 * @param progress - called with the number of finished servers
 */
export async function sendRestoredVotes(
  deps: Resending & Counting,
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
