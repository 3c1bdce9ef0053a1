import { type Collection, type Filter, ObjectId, type UpdateFilter, type WithId } from 'mongodb';
import { isProbed } from '../games/games.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, SECOND } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { ServersDeps } from './deps.ts';
import { NEVER_PROBED } from './listing-pause.ts';
import { requestRanks } from './request-ranks.ts';
import type { ProbeState, Server } from './server.ts';
import {
  type NewServer,
  newServer,
  type ServerChanges,
  type ServerSettings,
  serverChanges,
} from './server-settings.ts';
import { insertUnderFreeSlug, slugForName } from './server-slugs.ts';
import { isId } from './slug.ts';

/** While the server answers; see probing/probe-state.ts. */
export const PROBE_INTERVAL_SECONDS = 300;

const PROBE_SETTINGS = ['address', 'port', 'queryPort', 'game'] as const;

/** Servers without a game are not in the `due_probes` index. */
function firstProbeAt(game: string | null | undefined, now: Date): Date {
  return game && !isProbed(game) ? NEVER_PROBED : now;
}

export function newProbeState(now: Date, game?: string | null): ProbeState {
  return {
    status: 'unknown',
    latencyMs: null,
    checkedAt: null,
    succeededAt: null,
    failures: 0,
    failuresByHand: 0,
    failingSince: null,
    offlineSince: null,
    intervalSeconds: PROBE_INTERVAL_SECONDS,
    nextAt: firstProbeAt(game, now),
    urgent: true,
    scheduledAt: now,
    claim: null,
    claimSeconds: 0,
    revision: 0,
  };
}

/**
 * Until the next ranking, the rank is one after the last rank.
 *
 * @param by - the user or command that listed it, for the audit log
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function addServer(deps: ServersDeps, input: NewServer, by: string) {
  const { servers, clock } = deps;
  const settings = parseInput(newServer, input);
  const _id = new ObjectId();
  const now = clock.now();
  const server = newListing({ _id, settings, now, listedAt: now, rankPosition: await nextRank(servers) });
  const slug = await insertUnderFreeSlug(servers, server);
  if (slug === null) throw new Error(`the id ${_id.toHexString()} is taken`);
  const serverId = _id.toHexString();
  const details = { ...settings, slug };
  await recordAudit(deps, { by, action: 'server.add', serverId: _id, details });
  await requestRanks(deps.producer);
  return { serverId, slug };
}

export async function nextRank(servers: Collection<Server>): Promise<number> {
  return (await servers.countDocuments({ removedAt: null, hiddenAt: null })) + 1;
}

type Listing = Pick<Server, '_id' | 'listedAt' | 'rankPosition'> & { settings: ServerSettings; now: Date };

export function newListing({ settings, now, ...listing }: Listing): Omit<Server, 'slug' | 'slugs'> {
  return {
    ...listing,
    ...settings,
    changedAt: now,
    removedAt: null,
    ranked: null,
    current: {
      onlinePlayers: 0,
      maxPlayers: 0,
      motd: '',
      version: '',
      reportedLatencyMs: null,
      checkedAt: null,
    },
    daily: {
      averagePlayers: 0,
      peakPlayers: 0,
      averageLatency: null,
      uptimePercentage: null,
      probedUptime: null,
    },
    probe: newProbeState(now, settings.game),
    lastReport: null,
  };
}

/** The lists of the ranking depend on these settings. */
const RANKED_SETTINGS = ['name', 'game', 'countryCode', 'address'] as const;

/**
 * A new name usually gives a new slug (see `slugForName`). If a probe setting changes, the result of a running probe is
 * ignored, and the next probe is due at once. Null when there is no such listed server.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function editServer(
  { servers, auditLog, clock, producer }: ServersDeps,
  serverId: ObjectId,
  changes: ServerChanges,
  by: string,
): Promise<WithId<Server> | null> {
  const wanted = parseInput(serverChanges, changes);
  for (;;) {
    const existing = await servers.findOne({ _id: serverId, removedAt: null });
    if (!existing) return null;
    const settings = changed(existing, wanted);
    const edited = await applyChanges(servers, existing, settings, clock.now());
    // Another request has renamed the server, or another server has taken the slug.
    if (!edited) continue;
    const details = edited.slug === existing.slug ? settings : { ...settings, slug: edited.slug };
    await recordAudit({ auditLog, clock }, { by, action: 'server.edit', serverId, details });
    if (RANKED_SETTINGS.some((key) => key in settings)) await requestRanks(producer);
    return edited;
  }
}

/** False for invalid changes. */
export function resetsProbe(existing: WithId<Server>, changes: ServerChanges): boolean {
  const { success, data } = serverChanges.safeParse(changes);
  return success && PROBE_SETTINGS.some((key) => key in changed(existing, data));
}

/** Null if the server was renamed or removed meanwhile, or its new slug is taken. */
async function applyChanges(
  servers: Collection<Server>,
  existing: WithId<Server>,
  settings: Partial<ServerSettings>,
  now: Date,
): Promise<WithId<Server> | null> {
  if (Object.keys(settings).length === 0) return existing;
  const { _id, name, slug: before } = existing;
  const slug = settings.name === undefined ? before : await slugForName(servers, existing, settings.name);
  const fields = { ...settings, changedAt: now };
  const update = PROBE_SETTINGS.some((key) => key in settings)
    ? withProbeReset(fields, 'game' in settings ? settings.game : existing.game, now)
    : { $set: fields };
  const slugs = { $each: [before, slug] };
  const renaming = { ...update, $set: { ...update.$set, slug }, $addToSet: { slugs } };
  try {
    return await servers.findOneAndUpdate(
      { _id, removedAt: null, ...(settings.name === undefined ? {} : { name, slug: before }) },
      settings.name === undefined ? update : renaming,
      { returnDocument: 'after' },
    );
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return null;
  }
}

/** A setting with the same value must not reset the probe state. */
function changed(existing: WithId<Server>, settings: Partial<ServerSettings>): Partial<ServerSettings> {
  const entries = Object.entries(settings) as [keyof ServerSettings, unknown][];
  return Object.fromEntries(entries.filter(([key, value]) => (existing[key] ?? null) !== value));
}

function withProbeReset(
  settings: Partial<ServerSettings> & Pick<Server, 'changedAt'>,
  game: string | null | undefined,
  now: Date,
): UpdateFilter<Server> {
  const reset = probeReset(game, now);
  return {
    $set: { ...settings, ...reset.$set },
    $min: { 'probe.scheduledAt': after(now, PROBE_INTERVAL_SECONDS * SECOND) },
    $inc: reset.$inc,
  };
}

/** The next probe is due at once, and nothing of earlier ones counts. A probe under way is void. */
export function probeReset(game: string | null | undefined, now: Date) {
  return {
    $set: {
      'probe.status': 'unknown' as const,
      'probe.failures': 0,
      'probe.failuresByHand': 0,
      'probe.failingSince': null,
      'probe.offlineSince': null,
      'probe.intervalSeconds': PROBE_INTERVAL_SECONDS,
      'probe.nextAt': firstProbeAt(game, now),
      'probe.urgent': true,
      'probe.claim': null,
    },
    $inc: { 'probe.revision': 1 },
  };
}

/** By id, or by a current or earlier slug in any case; with `removed` also removed servers. */
export function findServer({ servers }: ServersDeps, text: string, { removed = false } = {}) {
  const name = text.toLowerCase();
  // A server of an older version may have no `slugs`, only `slug`: see `slugsOf`.
  const bySlug = { $or: [{ slugs: name }, { slug: name }] };
  const named: Filter<Server> = isId(name) ? { _id: new ObjectId(name) } : bySlug;
  return servers.findOne(removed ? named : { ...named, removedAt: null });
}

/** By rank; with `removed` also the removed ones. */
export function listServers({ servers }: Pick<ServersDeps, 'servers'>, { removed = false } = {}) {
  return servers
    .find(removed ? {} : { removedAt: null })
    .sort({ rankPosition: 1, listedAt: 1, _id: 1 })
    .toArray();
}
