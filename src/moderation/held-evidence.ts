import type { ObjectId } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import type { Slice } from '../platform/slices.ts';
import { CURRENT_PLAYERS, playersSeen } from '../ranking/evidence/players-seen.ts';
import type { PlayersSeen } from '../ranking/evidence/weigh-day.ts';
import {
  type HeldName,
  type OpenQuarantine,
  openGroups,
  type QuarantineGroup,
} from '../votes/exclusions/held-votes.ts';
import { namesKnownSince } from '../votes/exclusions/name-ages.ts';
import { playerHash } from '../votes/web/origin-keys.ts';
import { countNetworks, type NetworkCount } from '../votes/web/vote-origin.ts';
import type { ModerationDeps } from './deps.ts';
import { type Named, named } from './needs-attention.ts';

export const RECENT_NAME_DAYS = 30;

/** `of`: how many names were looked up, the newest first. The others: how long they are known on their server. */
export type NameAges = { of: number; firstTime: number; recent: number; older: number };

export type HeldOnServer = OpenQuarantine & {
  server: Named;
  ages: NameAges;
  /** That used the vote form since the first held vote. `ofPlayers`: those that used a looked-up name. */
  networks: NetworkCount;
  /** The most players that our checks saw in 30 days; null if no check saw a number. */
  playersSeen: number | null;
};

/** The held votes of one origin, such as a network, on all servers; or of one quarantine without an origin. */
export type HeldVotes = QuarantineGroup<HeldOnServer>;

/** Each quarantine costs a few small queries. */
export const HELD_A_PAGE = 40;

const NAMES_LOOKED_UP = 100;

/** The newest group first. A group is on one page only; if it has more quarantines, the page has the newest ones. */
export async function heldVotes(
  deps: ModerationDeps,
  { from, limit = HELD_A_PAGE }: { from?: string | undefined; limit?: number } = {},
): Promise<Slice<HeldVotes>> {
  const { rows, next } = await openGroups(deps, { from, limit });
  const held = await withEvidence(
    deps,
    rows.flatMap(({ quarantines }) => quarantines),
  );
  const groups = rows.map((group) => ({
    ...group,
    quarantines: group.quarantines.flatMap(({ quarantine }) => held.get(quarantine._id.toHexString()) ?? []),
  }));
  return { rows: groups.filter(({ quarantines }) => quarantines.length > 0), next };
}

/** By the id of their quarantine. Those of removed servers are left out. */
async function withEvidence(
  deps: ModerationDeps,
  open: OpenQuarantine[],
): Promise<Map<string, HeldOnServer>> {
  const ofServers = await named(deps, open, ({ quarantine }) => quarantine.serverId);
  const seen = await playersOf(
    deps,
    ofServers.map(({ server }) => server._id),
  );
  const held = ofServers.map(async ({ server, row }): Promise<[string, HeldOnServer]> => {
    const playersSeen = seen.get(server._id.toHexString())?.most ?? null;
    const one = { ...row, server, playersSeen, ...(await evidenceOf(deps, row)) };
    return [row.quarantine._id.toHexString(), one];
  });
  return new Map(await Promise.all(held));
}

async function playersOf(deps: ModerationDeps, ids: ObjectId[]): Promise<Map<string, PlayersSeen>> {
  if (ids.length === 0) return new Map();
  const now = deps.clock.now();
  const servers = await deps.servers.find({ _id: { $in: ids } }, { projection: CURRENT_PLAYERS }).toArray();
  return playersSeen(deps, servers, dayOf(now), now);
}

async function evidenceOf(
  deps: ModerationDeps,
  { quarantine: { serverId, since }, names }: OpenQuarantine,
): Promise<Pick<HeldOnServer, 'ages' | 'networks'>> {
  const newest = names.slice(0, NAMES_LOOKED_UP);
  const players = newest.map(({ usernameKey }) => playerHash(deps, usernameKey));
  const [ages, networks] = await Promise.all([
    agesOf(deps, serverId, newest),
    countNetworks(deps, serverId, since, players),
  ]);
  return { ages, networks };
}

async function agesOf(deps: ModerationDeps, serverId: ObjectId, names: HeldName[]): Promise<NameAges> {
  const keys = names.map(({ usernameKey }) => usernameKey);
  const knownSince = await namesKnownSince(deps, serverId, keys);
  const monthAgo = after(deps.clock.now(), -RECENT_NAME_DAYS * DAY);
  const older = [...knownSince.values()].filter((since) => since < monthAgo).length;
  const recent = knownSince.size - older;
  return { of: names.length, firstTime: names.length - knownSince.size, recent, older };
}
