import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectId } from 'mongodb';
import { explain } from '../delivery/diagnosis/explanations.ts';
import { isUnknownResult } from '../platform/mongo.ts';
import type { Platform } from '../process/platform.ts';
import type { Vote } from '../votes/vote.ts';

const LOOK_EVERY_MS = 250;

/** What a user should know of a vote that has not arrived; null while there is nothing to tell. */
function news({ delivery }: Vote): string | null {
  const failed = delivery.attempts.findLast(({ code }) => code !== undefined && code !== null);
  if (!failed?.code || delivery.state === 'delivered') return null;
  const { cause } = explain(failed.code, failed.protocol);
  return `${delivery.state} after ${delivery.attemptCount} ${delivery.attemptCount === 1 ? 'attempt' : 'attempts'}: ${cause}`;
}

async function openVotes(votes: Platform['votes'], serverId: ObjectId): Promise<Vote[]> {
  try {
    return await votes.find({ serverId, 'delivery.queuedAt': { $exists: true } }).toArray();
  } catch (error) {
    if (isUnknownResult(error)) return [];
    throw error;
  }
}

/** How many votes of a server have to wait at this moment; 0 while the database is away. */
export async function waitingVotes({ votes }: Pick<Platform, 'votes'>, serverId: ObjectId): Promise<number> {
  return (await openVotes(votes, serverId)).length;
}

/**
 * Tells of every vote of a server that has to wait, each time something new is known of it, until `stopping` is
 * aborted. While the database is away there is nothing to tell.
 */
export async function watchVotes(
  { votes }: Pick<Platform, 'votes'>,
  serverId: ObjectId,
  tell: (username: string, news: string) => void,
  stopping: AbortSignal,
): Promise<void> {
  const told = new Map<string, string>();
  while (!stopping.aborted) {
    const open = await openVotes(votes, serverId).catch((error: unknown) => {
      // Whoever stops closes the database too.
      if (stopping.aborted) return [];
      throw error;
    });
    for (const vote of open) {
      const id = vote._id.toString();
      const now = news(vote);
      if (now && told.get(id) !== now) tell(vote.username, now);
      if (now) told.set(id, now);
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
