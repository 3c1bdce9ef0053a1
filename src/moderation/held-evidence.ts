import { after, DAY } from '../platform/clock.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import type { Slice } from '../platform/slices.ts';
import { CURRENT_PLAYERS, playersSeen } from '../ranking/evidence/players-seen.ts';
import { type OpenQuarantine, openGroups, type QuarantineGroup } from '../votes/exclusions/held-votes.ts';
import { namesKnownSince } from '../votes/exclusions/name-ages.ts';
import { playerHash } from '../votes/web/origin-keys.ts';
import { countNetworks, type NetworkCount } from '../votes/web/vote-origin.ts';
import type { ModerationDeps } from './deps.ts';
import { type Named, named } from './needs-attention.ts';

export const RECENT_NAME_DAYS = 30;

export type HeldOnServer = OpenQuarantine & {
  server: Named;
  /** `of`: how many names were looked up, the newest first. The others: how long they are known on their server. */
  ages: { of: number; firstTime: number; recent: number; older: number };
  /** That used the vote form since the first held vote. `ofPlayers`: those that used a looked-up name. */
  networks: NetworkCount;
  /** The most players that our checks saw in 30 days; null if no check saw a number. */
  playersSeen: number | null;
};

/** The held votes of one origin, such as a network, on all servers; or of one quarantine without an origin. */
export type HeldVotes = QuarantineGroup<HeldOnServer>;

const NAMES_LOOKED_UP = 100;

/** A group is on one page only; if it has more quarantines, the page has the newest ones. Each costs small queries. */
export async function heldVotes(
  deps: ModerationDeps,
  { from, limit = 40 }: { from?: string | undefined; limit?: number } = {},
): Promise<Slice<HeldVotes>> {
  const { rows, next } = await openGroups(deps, { from, limit });
  const open = rows.flatMap(({ quarantines }) => quarantines);
  if (open.length === 0) return { rows: [], next };
  const ofServers = await named(deps, open, ({ quarantine }) => quarantine.serverId);
  const ids = ofServers.map(({ server }) => server._id);
  const now = deps.clock.now();
  const servers = await deps.servers.find({ _id: { $in: ids } }, { projection: CURRENT_PLAYERS }).toArray();
  const seen = await playersSeen(deps, servers, dayOf(now), now);
  const withEvidence = ofServers.map(async ({ server, row }): Promise<[string, HeldOnServer]> => {
    const most = seen.get(server._id.toHexString())?.most ?? null;
    const one = { ...row, server, playersSeen: most, ...(await evidenceOf(deps, row)) };
    return [row.quarantine._id.toHexString(), one];
  });
  const held = new Map(await Promise.all(withEvidence));
  const groups = rows.map((group) => ({
    ...group,
    quarantines: group.quarantines.flatMap(({ quarantine }) => held.get(quarantine._id.toHexString()) ?? []),
  }));
  return { rows: groups.filter(({ quarantines }) => quarantines.length > 0), next };
}

async function evidenceOf(
  deps: ModerationDeps,
  { quarantine: { serverId, since }, names }: OpenQuarantine,
): Promise<Pick<HeldOnServer, 'ages' | 'networks'>> {
  const keys = names.slice(0, NAMES_LOOKED_UP).map(({ usernameKey }) => usernameKey);
  const players = keys.map((key) => playerHash(deps, key));
  const [knownSince, networks] = await Promise.all([
    namesKnownSince(deps, serverId, keys),
    countNetworks(deps, serverId, since, players),
  ]);
  const monthAgo = after(deps.clock.now(), -RECENT_NAME_DAYS * DAY);
  const older = [...knownSince.values()].filter((since) => since < monthAgo).length;
  const [of, known] = [keys.length, knownSince.size];
  return { ages: { of, firstTime: of - known, recent: known - older, older }, networks };
}
