import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectId } from 'mongodb';
import { explain } from '../delivery/diagnosis/explain.ts';
import { t } from '../language/t.ts';
import { isUnknownResult } from '../platform/mongo.ts';
import type { AppDeps } from '../process/app-deps.ts';
import type { Vote } from '../votes/vote.ts';

const LOOK_EVERY_MS = 250;

function messageAbout({ delivery }: Vote): string | null {
  const failed = delivery.attempts.findLast(({ code }) => code !== undefined && code !== null);
  if (!failed?.code || delivery.state === 'delivered') return null;
  const { cause } = explain(failed.code, failed.protocol);
  return `${delivery.state} after ${delivery.attemptCount} ${delivery.attemptCount === 1 ? 'attempt' : 'attempts'}: ${t(cause)}`;
}

async function openVotes(votes: AppDeps['votes'], serverId: ObjectId): Promise<Vote[]> {
  try {
    return await votes.find({ serverId, 'delivery.queuedAt': { $exists: true } }).toArray();
  } catch (error) {
    if (isUnknownResult(error)) return [];
    throw error;
  }
}

/** 0 if the database does not answer. */
export async function waitingVotes({ votes }: Pick<AppDeps, 'votes'>, serverId: ObjectId): Promise<number> {
  return (await openVotes(votes, serverId)).length;
}

/** Calls `notify` for every waiting vote whenever its message changes. */
export async function watchVotes(
  { votes }: Pick<AppDeps, 'votes'>,
  serverId: ObjectId,
  notify: (username: string, message: string) => void,
  stopping: AbortSignal,
): Promise<void> {
  const sent = new Map<string, string>();
  while (!stopping.aborted) {
    const open = await openVotes(votes, serverId).catch((error: unknown) => {
      // When the demo stops, it closes the connection to the database, so an error is expected.
      if (stopping.aborted) return [];
      throw error;
    });
    for (const vote of open) {
      const id = vote._id.toString();
      const message = messageAbout(vote);
      if (message && sent.get(id) !== message) notify(vote.username, message);
      if (message) sent.set(id, message);
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
