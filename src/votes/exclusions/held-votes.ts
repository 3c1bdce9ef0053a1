import type { Collection, WithId } from 'mongodb';
import { readPage, type Slice } from '../../platform/slices.ts';
import { EXCLUDED_VOTES, type Vote } from '../vote.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

type ReadDeps = { votes: Collection<Vote>; voteExclusions: Collection<VoteExclusion> };

/** A player with held votes of one quarantine. `seq` is the lowest number of these votes. */
export type HeldName = { usernameKey: string; username: string; votes: number; seq: number; newest: Date };

/** An open quarantine, the number of votes that it holds, and their players, newest first. */
export type OpenQuarantine = { quarantine: WithId<VoteExclusion>; votes: number; names: HeldName[] };

/** At most this many votes of one quarantine are read, the newest first. */
export const MOST_HELD_READ = 1_000;

/** A page of open quarantines, the newest first. */
export async function openQuarantines(
  deps: ReadDeps,
  { from, limit }: { from?: string | undefined; limit: number },
): Promise<Slice<OpenQuarantine>> {
  const { rows, next } = await readPage(deps.voteExclusions, {
    filter: { state: 'quarantined' },
    by: { field: 'at', direction: -1 },
    from,
    limit,
  });
  return { rows: await Promise.all(rows.map((quarantine) => withVotes(deps, quarantine))), next };
}

async function withVotes({ votes }: ReadDeps, quarantine: WithId<VoteExclusion>): Promise<OpenQuarantine> {
  const { _id: excludedBy, serverId, since } = quarantine;
  const held = { serverId, votedAt: { $gte: since }, excludedAt: { $gt: new Date(0) }, excludedBy };
  const names = await votes
    .aggregate<HeldName>(
      [
        { $match: held },
        { $sort: { votedAt: -1 } },
        { $limit: MOST_HELD_READ },
        {
          $group: {
            _id: '$usernameKey',
            username: { $first: '$username' },
            votes: { $sum: 1 },
            seq: { $min: '$seq' },
            newest: { $max: '$votedAt' },
          },
        },
        { $sort: { newest: -1, _id: 1 } },
        { $project: { _id: 0, usernameKey: '$_id', username: 1, votes: 1, seq: 1, newest: 1 } },
      ],
      { hint: EXCLUDED_VOTES },
    )
    .toArray();
  return { quarantine, votes: names.reduce((sum, name) => sum + name.votes, 0), names };
}

/** The open quarantines of one origin on all servers; or one quarantine without an origin (`origin` is null). */
export type QuarantineGroup<T = OpenQuarantine> = { origin: string | null; quarantines: T[] };

/** Groups quarantines by their origin. The groups are in the order in which their first quarantines occur. */
export function groupQuarantines<T extends { quarantine: Pick<VoteExclusion, '_id' | 'origin'> }>(
  open: T[],
): QuarantineGroup<T>[] {
  const groups = Map.groupBy(open, ({ quarantine }) => quarantine.origin ?? quarantine._id.toHexString());
  return [...groups.values()].map((quarantines) => ({
    origin: quarantines[0]?.quarantine.origin ?? null,
    quarantines,
  }));
}
