import type { ObjectId, WithId } from 'mongodb';
import { cursorOf, readSlice, type Slice } from '../../platform/slices.ts';
import type { VotesDeps } from '../deps.ts';
import { EXCLUDED_VOTES } from '../vote.ts';
import { COUNTED_OPEN, MOST_DECIDED } from './decide-held.ts';
import { QUARANTINES_OF_ORIGIN, type VoteExclusion } from './vote-exclusion.ts';

/** `seq`: the lowest number of the held votes. */
export type HeldName = { usernameKey: string; username: string; votes: number; seq: number; newest: Date };

/** `votes`: at most `MOST_HELD_READ`. `names`: newest first. */
export type OpenQuarantine = { quarantine: WithId<VoteExclusion>; votes: number; names: HeldName[] };

/** So many held votes of one quarantine are read, the newest first. */
export const MOST_HELD_READ = 1_000;

/** Of one origin on all servers, or one quarantine without. */
export type QuarantineGroup<T = OpenQuarantine> = {
  origin: string | null;
  /** The newest ones, as many as fit on a page. */
  quarantines: T[];
  /** What one decision covers: the newest `MOST_DECIDED`. */
  ids: ObjectId[];
  /** One quarantine each, up to `COUNTED_OPEN`. */
  servers: number;
};

type Group = QuarantineGroup<WithId<VoteExclusion>>;

/** So many votes are scanned to find the groups that begin on a page. */
const MOST_SCANNED = 1_000;

const NEWEST_FIRST = { at: -1, _id: -1 } as const;

/**
 * The newest first. A group that does not fit on the rest of a page begins the next one. `limit`: quarantines a page.
 */
export async function openGroups(
  deps: VotesDeps,
  { from, limit }: { from?: string | undefined; limit: number },
): Promise<Slice<QuarantineGroup>> {
  const { rows, next } = await readGroups(deps, from, limit);
  const withNames = rows.map(async (group) => ({
    ...group,
    quarantines: await Promise.all(group.quarantines.map((quarantine) => withVotes(deps, quarantine))),
  }));
  return { rows: await Promise.all(withNames), next };
}

async function readGroups(deps: VotesDeps, from: string | undefined, limit: number): Promise<Slice<Group>> {
  const groups: Group[] = [];
  const seen = new Set<string>();
  let cursor = from ?? null;
  let free = limit;
  for (let scanned = 0; scanned < MOST_SCANNED; scanned += limit) {
    const { rows, next } = await readSlice(deps.voteExclusions, {
      filter: { state: 'quarantined' },
      by: { field: 'at', direction: -1 },
      from: cursor ?? undefined,
      limit,
    });
    const begun = await Promise.all(
      rows.map((row) => (isNew(row, seen) ? groupAt(deps, row, { from, limit }) : null)),
    );
    for (const [i, row] of rows.entries()) {
      const group = begun[i];
      if (group && groups.length > 0 && group.servers > free) return { rows: groups, next: cursor };
      if (group) groups.push(group);
      free -= group?.quarantines.length ?? 0;
      cursor = cursorOf('at', row);
    }
    if (!next) return { rows: groups, next };
  }
  return { rows: groups, next: cursor };
}

/** Adds the origin to `seen`. */
function isNew({ origin }: VoteExclusion, seen: Set<string>): boolean {
  if (!origin) return true;
  const size = seen.size;
  return seen.add(origin).size > size;
}

/** Null if the group has a newer quarantine on an earlier page. */
async function groupAt(
  { voteExclusions }: VotesDeps,
  row: WithId<VoteExclusion>,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Group | null> {
  const { _id, origin } = row;
  if (!origin) return { origin: null, quarantines: [row], ids: [_id], servers: 1 };
  const open = { origin, state: 'quarantined' } as const;
  const sorted = { sort: NEWEST_FIRST, hint: QUARANTINES_OF_ORIGIN };
  const newest = from && (await voteExclusions.findOne(open, { ...sorted, projection: { _id: 1 } }));
  if (newest && !newest._id.equals(_id)) return null;
  const found = await voteExclusions.find(open, { ...sorted, limit: MOST_DECIDED + 1 }).toArray();
  // Another operator has decided about the group.
  if (found.length === 0) return null;
  const servers =
    found.length > MOST_DECIDED
      ? await voteExclusions.countDocuments(open, { hint: QUARANTINES_OF_ORIGIN, limit: COUNTED_OPEN })
      : found.length;
  const ids = found.slice(0, MOST_DECIDED).map((one) => one._id);
  return { origin, quarantines: found.slice(0, limit), ids, servers };
}

async function withVotes({ votes }: VotesDeps, quarantine: WithId<VoteExclusion>): Promise<OpenQuarantine> {
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
