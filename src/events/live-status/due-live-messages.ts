import type { ObjectId } from 'mongodb';
import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import type { EventsDeps } from '../deps.ts';
import { readLiveSources, seenOf } from './live-content.ts';
import type { LiveMessage } from './live-message.ts';

/** A job waits for the rest of its minute. Otherwise an edit that took a second would wait for the minute after. */
const AHEAD_MS = 15 * SECOND;

const BATCH = 500;

/** So often Discord is asked whether an unchanged message was deleted. */
const LOOKED_FOR_EVERY_MS = 15 * MINUTE;
/** In a minute. Changed messages share the limit of all requests with these (update-live-messages). */
const MOST_LOOKED_FOR = 300;

export function isToBeLookedFor({ askedAt }: Pick<LiveMessage, 'askedAt'>, now: Date): boolean {
  return !askedAt || now.getTime() - askedAt.getTime() >= LOOKED_FOR_EVERY_MS;
}

const LOOKED_AT = { serverId: 1, removedAt: 1, messageId: 1, seen: 1, askedAt: 1 } as const;
type Looked = Pick<LiveMessage, '_id' | keyof typeof LOOKED_AT>;

/**
 * Messages that may have to be sent: new, deleted or removed ones, and those whose server or goal has changed; then some
 * that Discord has to be asked for, those that it was asked for the longest ago first. Three queries for 500 of them.
 */
export async function dueLiveMessages(deps: EventsDeps): Promise<ObjectId[]> {
  const now = deps.clock.now();
  const found = deps.liveMessages.find(
    { nextAt: { $lte: after(now, AHEAD_MS) } },
    {
      projection: LOOKED_AT,
      batchSize: BATCH,
      sort: { nextAt: 1 },
    },
  );
  const due: ObjectId[] = [];
  const unchanged: Looked[] = [];
  let batch: Looked[] = [];
  const look = async () => {
    const changed = await changedOf(deps, batch, now);
    due.push(...changed.map(({ _id }) => _id));
    unchanged.push(...batch.filter((live) => !changed.includes(live) && isToBeLookedFor(live, now)));
    batch = [];
  };
  for await (const live of found) {
    batch.push(live);
    if (batch.length === BATCH) await look();
  }
  await look();
  const askedFor = unchanged
    .toSorted((a, b) => (a.askedAt?.getTime() ?? 0) - (b.askedAt?.getTime() ?? 0))
    .slice(0, MOST_LOOKED_FOR);
  return [...due, ...askedFor.map(({ _id }) => _id)];
}

async function changedOf(deps: EventsDeps, batch: Looked[], now: Date): Promise<Looked[]> {
  if (batch.length === 0) return [];
  const sources = await readLiveSources(
    deps,
    batch.map(({ serverId }) => serverId),
  );
  return batch.filter(({ serverId, removedAt, messageId, seen }) => {
    const source = sources.get(serverId.toHexString());
    // Without a server, a run deletes the message.
    return removedAt || !messageId || !source || seenOf(source, now) !== seen;
  });
}
