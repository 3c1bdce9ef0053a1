import { type Collection, type Filter, ObjectId, type UpdateFilter, type WithId } from 'mongodb';
import { otherEdition } from '../games/editions.ts';
import { isProbed } from '../games/games.ts';
import { t } from '../language/t.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, SECOND } from '../platform/clock.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { AddressState, CheckedState } from './checked-state.ts';
import type { ServersDeps } from './deps.ts';
import { NEVER_PROBED } from './listing-pause.ts';
import { requestRanks } from './request-ranks.ts';
import {
  newSecond,
  type SecondSettings,
  secondSettings,
  secondSettingsOf,
  stateOfOnly,
} from './second-address.ts';
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
const SECOND_SETTINGS = ['secondAddress', 'secondPort'] as const;

/** Servers without a game are not in the `due_probes` index. */
function firstProbeAt(game: string | null | undefined, now: Date): Date {
  return game && !isProbed(game) ? NEVER_PROBED : now;
}

/** Of what no check has reached. */
const UNCHECKED = {
  status: 'unknown',
  latencyMs: null,
  checkedAt: null,
  succeededAt: null,
  failures: 0,
  failuresByHand: 0,
  failingSince: null,
  offlineSince: null,
  intervalSeconds: PROBE_INTERVAL_SECONDS,
} as const satisfies CheckedState;

export const UNCHECKED_ADDRESS: AddressState = { ...UNCHECKED, onlinePlayers: null };

export function newProbeState(now: Date, game?: string | null): ProbeState {
  return {
    ...UNCHECKED,
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
  const settings = newSettings(input);
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

/** @throws {InvalidDocumentError} with one sentence for each wrong field */
export function newSettings(input: NewServer): ServerSettings {
  const settings = parseInput(newServer, input);
  return { ...settings, ...secondSettings(settings) };
}

export async function nextRank(servers: Collection<Server>): Promise<number> {
  return (await servers.countDocuments({ removedAt: null, hiddenAt: null })) + 1;
}

type Listing = Pick<Server, '_id' | 'listedAt' | 'rankPosition'> & {
  settings: Omit<ServerSettings, keyof SecondSettings> & Partial<SecondSettings>;
  now: Date;
};

export function newListing({ settings, now, ...listing }: Listing): Omit<Server, 'slug' | 'slugs'> {
  const { secondAddress = null, secondPort = null, ...others } = settings;
  const second = newSecond({ secondAddress, secondPort }, UNCHECKED_ADDRESS, UNCHECKED_ADDRESS);
  return {
    ...listing,
    ...others,
    ...(second ? { second } : {}),
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
const RANKED_SETTINGS = ['name', 'game', 'countryCode', 'address', 'secondAddress'] as const;

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
    const settings = changed(existing, withSecond(existing, wanted));
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

/** @throws {InvalidDocumentError} if the game and the second address do not fit */
function withSecond(existing: WithId<Server>, wanted: Partial<ServerSettings>): Partial<ServerSettings> {
  const isOfSecond = SECOND_SETTINGS.some((key) => key in wanted);
  if (!isOfSecond && !('game' in wanted && existing.second)) return wanted;
  if (!isOfSecond && !otherEdition(wanted.game))
    throw new InvalidDocumentError({
      game: t('Remove the second address first: only servers of Minecraft have one.'),
    });
  const { game = null } = { ...existing, ...wanted };
  // Without its address, the port of the second address goes too.
  const isRemoval = wanted.secondAddress === null;
  const settings = { ...secondSettingsOf(existing), ...wanted, ...(isRemoval ? { secondPort: null } : {}) };
  return { ...wanted, ...secondSettings({ ...settings, game }) };
}

/** An update of these depends on the game and the second address. */
const PLACE_SETTINGS = [...PROBE_SETTINGS, ...SECOND_SETTINGS] as const;

function placeOf({ game, second }: WithId<Server>) {
  return {
    game: game ?? null,
    'second.address': second?.address ?? null,
    'second.port': second?.port ?? null,
  } as Filter<Server>;
}

/** Null if the server was renamed, moved or removed meanwhile, or its new slug is taken. */
async function applyChanges(
  servers: Collection<Server>,
  existing: WithId<Server>,
  settings: Partial<ServerSettings>,
  now: Date,
): Promise<WithId<Server> | null> {
  if (Object.keys(settings).length === 0) return existing;
  const { _id, name, slug: before } = existing;
  const slug = settings.name === undefined ? before : await slugForName(servers, existing, settings.name);
  const update = updateFor(existing, settings, now);
  // A paused server is not probed, and stays out of the head of the due ones.
  if (existing.listingPause && update.$set && 'probe.nextAt' in update.$set)
    Object.assign(update.$set, { 'probe.nextAt': NEVER_PROBED, 'probe.urgent': false });
  const slugs = { $each: [before, slug] };
  const renaming = { ...update, $set: { ...update.$set, slug }, $addToSet: { slugs } };
  try {
    return await servers.findOneAndUpdate(
      {
        _id,
        removedAt: null,
        ...(settings.name === undefined ? {} : { name, slug: before }),
        ...(PLACE_SETTINGS.some((key) => key in settings) ? placeOf(existing) : {}),
      },
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
  const before = { ...existing, ...secondSettingsOf(existing) };
  const entries = Object.entries(settings) as [keyof ServerSettings, unknown][];
  return Object.fromEntries(entries.filter(([key, value]) => (before[key] ?? null) !== value));
}

function updateFor(
  existing: WithId<Server>,
  { secondAddress, secondPort, ...settings }: Partial<ServerSettings>,
  now: Date,
): UpdateFilter<Server> {
  const fields = { ...settings, changedAt: now };
  const resets = PROBE_SETTINGS.some((key) => key in settings);
  const update: UpdateFilter<Server> = resets
    ? withProbeReset(fields, 'game' in settings ? settings.game : existing.game, now)
    : { $set: fields };
  const present = secondSettingsOf(existing);
  const changesSecond = secondAddress !== undefined || secondPort !== undefined;
  if (!changesSecond) {
    // The editions change places with the game.
    if (resets && existing.second)
      Object.assign(update.$set ?? {}, { 'second.firstState': UNCHECKED_ADDRESS });
    if (settings.game && existing.second)
      Object.assign(update.$set ?? {}, { 'second.state': UNCHECKED_ADDRESS });
    return update;
  }
  const wanted = {
    secondAddress: secondAddress === undefined ? present.secondAddress : secondAddress,
    secondPort: secondPort === undefined ? present.secondPort : secondPort,
  };
  const before = existing.second?.firstState ?? stateOfOnly(existing);
  const second = newSecond(wanted, resets ? UNCHECKED_ADDRESS : before, UNCHECKED_ADDRESS);
  // Both addresses are asked at once. What is known of the server stays until then.
  const soon = resets ? {} : { 'probe.nextAt': now, 'probe.urgent': true, 'probe.claim': null };
  return {
    ...update,
    $set: { ...update.$set, ...soon, ...(second ? { second } : {}) },
    ...(second ? {} : { $unset: { second: '' } }),
    ...(resets ? {} : { $inc: { 'probe.revision': 1 } }),
  };
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
export function findServer(
  { servers }: Pick<ServersDeps, 'servers'>,
  text: string,
  { removed = false } = {},
) {
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
