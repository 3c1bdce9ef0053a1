import { anyOf } from '../../platform/batching/find-loader.ts';
import { after, MINUTE } from '../../platform/clock.ts';
import type { EventsDeps } from '../deps.ts';
import type { VoteWatch } from './vote-watch.ts';
import type { WatchedServer } from './watched-servers.ts';

/** If `vote.counted` is added to an old subscription: it gets the votes since then, not those since it was created. */
const NEWLY_MS = 5 * MINUTE;

/** Of those that somebody wants votes or milestones of, by server. A new one begins with the subscription. */
export async function readWatches(
  { voteWatches }: EventsDeps,
  servers: Map<string, WatchedServer>,
  now: Date,
): Promise<Map<string, VoteWatch>> {
  const watches = new Map<string, VoteWatch>();
  for (const [id, { serverId: _id, since }] of servers) {
    const newly = after(now, -NEWLY_MS);
    if (since) watches.set(id, { _id, until: since > newly ? since : newly });
  }
  const ids = [...watches.values()].map(({ _id }) => _id);
  if (ids.length > 0)
    for (const watch of await voteWatches.find({ _id: anyOf(ids) }).toArray())
      watches.set(watch._id.toHexString(), watch);
  return watches;
}

/** A later look of another process may have come further. */
export async function recordWatches({ voteWatches }: EventsDeps, watches: VoteWatch[]): Promise<void> {
  if (watches.length === 0) return;
  await voteWatches.bulkWrite(
    watches.map(({ _id, ...progress }) => ({
      updateOne: { filter: { _id }, update: { $max: progress }, upsert: true },
    })),
    { ordered: false },
  );
}

/** Of servers, or milestones, that nobody wants any more: if somebody does later, they begin anew. */
export async function forgetWatches(
  { voteWatches }: EventsDeps,
  servers: Map<string, WatchedServer>,
): Promise<void> {
  const all = [...servers.values()];
  const ids = (some: WatchedServer[]) => some.map(({ serverId }) => serverId);
  await voteWatches.deleteMany({ _id: { $nin: ids(all.filter(({ since }) => since)) } });
  await voteWatches.updateMany(
    {
      _id: { $nin: ids(all.filter(({ wantsMilestones }) => wantsMilestones)) },
      milestone: { $exists: true },
    },
    { $unset: { milestone: '' } },
  );
}
