import { type Collection, type Filter, ObjectId, type UpdateFilter, type WithId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../audit/audit-log.ts';
import { after, type Clock, SECOND } from '../clock.ts';
import { failWaitingVotes } from '../delivery/listeners.ts';
import { parseInput } from '../input.ts';
import { isDuplicateKey } from '../mongo.ts';
import type { Producer } from '../queues.ts';
import { requestRanks } from '../ranking/request-ranks.ts';
import type { Vote } from '../votes/vote.ts';
import type { ProbeState, Server } from './server.ts';
import type { ServerDraft } from './server-draft.ts';
import {
  type NewServer,
  newServer,
  type ServerChanges,
  type ServerSettings,
  serverChanges,
} from './server-settings.ts';
import { freeSlug, isId, slugOf } from './slug.ts';

/** How often a server is probed while it answers, in seconds; see probing/probe-state.ts. */
export const PROBE_INTERVAL_SECONDS = 300;

/** What decides where and how a server is asked. */
const ASKED_AT = ['address', 'port', 'queryPort', 'game'] as const;

/** The state of a server that was never probed: due at once. */
export function newProbeState(now: Date): ProbeState {
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
    nextAt: now,
    urgent: true,
    scheduledAt: now,
    claim: null,
    claimSeconds: 0,
    revision: 0,
    askedUntil: null,
  };
}

type Listing = { servers: Collection<Server>; auditLog: Collection<AuditEntry>; clock: Clock };
/** The list itself changes, and with it the ranking. */
type ListChange = Listing & { producer: Pick<Producer, 'add'> };

/**
 * Lists a server. It stands in the last place of the ranking at first, and all of its figures are unknown.
 *
 * @param by - who asked, for the audit log
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function addServer(
  { servers, auditLog, clock, producer }: ListChange,
  input: NewServer,
  by: string,
): Promise<{ serverId: string; slug: string }> {
  const settings = parseInput(newServer, input);
  const _id = new ObjectId();
  const now = clock.now();
  const server = newListing({ _id, settings, now, listedAt: now, rankPosition: await lastPlace(servers) });
  const slug = await insertUnderFreeSlug(servers, server);
  if (slug === null) throw new Error(`the id ${_id.toHexString()} is taken`);
  const serverId = _id.toHexString();
  await recordAudit(
    { auditLog, clock },
    { by, action: 'server.add', serverId: _id, details: { ...settings, slug } },
  );
  await requestRanks(producer);
  return { serverId, slug };
}

/** The place of a server that is listed now. */
export async function lastPlace(servers: Collection<Server>): Promise<number> {
  return (await servers.countDocuments({ removedAt: null, hiddenAt: null })) + 1;
}

/** A server of which nothing is known yet but what its owner says. */
export function newListing({
  _id,
  settings,
  now,
  listedAt,
  rankPosition,
}: {
  _id: ObjectId;
  settings: ServerSettings;
  now: Date;
  listedAt: Date;
  rankPosition: number;
}): Omit<Server, 'slug'> {
  return {
    _id,
    ...settings,
    listedAt,
    removedAt: null,
    rankPosition,
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
    probe: newProbeState(now),
    lastReport: null,
  };
}

/**
 * Inserts a server under a slug made of its name. The unique index decides who gets a slug; whoever comes too late
 * looks for the next free one.
 *
 * @returns the slug; null when the server's id is taken
 */
export async function insertUnderFreeSlug(
  servers: Collection<Server>,
  server: Omit<Server, 'slug'>,
): Promise<string | null> {
  const wanted = slugOf(server.name, server._id.toHexString());
  for (;;) {
    const slug = freeSlug(wanted, await slugsLike(servers, wanted));
    const taken = await insertListing(servers, { ...server, slug });
    if (!taken) return slug;
    if (taken === 'id') return null;
  }
}

/**
 * Inserts a server unless its id or its slug is taken: both are never used again.
 *
 * @returns what is taken; null when the server was inserted
 */
export async function insertListing(
  servers: Collection<Server>,
  server: Server,
): Promise<'id' | 'slug' | null> {
  try {
    await servers.insertOne(server);
    return null;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const standing = await servers.findOne({ _id: server._id }, { projection: { _id: 1 } });
    return standing ? 'id' : 'slug';
  }
}

async function slugsLike(servers: Collection<Server>, slug: string): Promise<Set<string>> {
  const alike = servers.find({ slug: { $regex: `^${slug}(-\\d+)?$` } }, { projection: { slug: 1 } });
  return new Set(await alike.map((server) => server.slug).toArray());
}

/**
 * Changes the settings of a listed server. Its slug stays, because it stands in addresses that people keep. Where
 * it is asked at another place or in another way, what was known of its being there is forgotten: a probe under
 * way counts no more, and the next one is due at once.
 *
 * @returns the server as it is now; null when there is no such listed server
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function editServer(
  { servers, auditLog, clock }: Listing,
  serverId: ObjectId,
  changes: ServerChanges,
  by: string,
): Promise<WithId<Server> | null> {
  const standing = await servers.findOne({ _id: serverId, removedAt: null });
  const settings = changed(standing, parseInput(serverChanges, changes));
  const edited =
    Object.keys(settings).length === 0
      ? standing
      : await servers.findOneAndUpdate(
          { _id: serverId, removedAt: null },
          ASKED_AT.some((key) => key in settings) ? askedAnew(settings, clock.now()) : { $set: settings },
          { returnDocument: 'after' },
        );
  if (edited)
    await recordAudit({ auditLog, clock }, { by, action: 'server.edit', serverId, details: settings });
  return edited;
}

/** Those settings that are others than before: what stays must not have the server asked anew. */
function changed(
  standing: WithId<Server> | null,
  settings: Partial<ServerSettings>,
): Partial<ServerSettings> {
  const entries = Object.entries(settings) as [keyof ServerSettings, unknown][];
  return Object.fromEntries(entries.filter(([key, value]) => (standing?.[key] ?? null) !== value));
}

function askedAnew(settings: Partial<ServerSettings>, now: Date): UpdateFilter<Server> {
  return {
    $set: {
      ...settings,
      'probe.status': 'unknown',
      'probe.failures': 0,
      'probe.failuresByHand': 0,
      'probe.failingSince': null,
      'probe.offlineSince': null,
      'probe.intervalSeconds': PROBE_INTERVAL_SECONDS,
      'probe.nextAt': now,
      'probe.urgent': true,
      'probe.claim': null,
    },
    $min: { 'probe.scheduledAt': after(now, PROBE_INTERVAL_SECONDS * SECOND) },
    $inc: { 'probe.revision': 1 },
  };
}

/**
 * Takes a server off the list for ever: its tokens are refused, its waiting votes are failed. The document stays,
 * so that its id and slug are never used again. Killed half-way, running it again finishes it.
 *
 * @returns the server and how many waiting votes were failed; null when there never was such a server
 */
export async function removeServer(
  deps: ListChange & { votes: Collection<Vote>; serverDrafts: Collection<ServerDraft> },
  serverId: ObjectId,
  by: string,
): Promise<{ server: WithId<Server>; failedVotes: number } | null> {
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId },
    [{ $set: { removedAt: { $ifNull: ['$removedAt', deps.clock.now()] } } }],
    { returnDocument: 'after' },
  );
  if (!server) return null;
  await deps.serverDrafts.deleteOne({ serverId });
  const failedVotes = await failWaitingVotes(deps, serverId);
  await recordAudit(deps, {
    by,
    action: 'server.remove',
    serverId,
    details: { slug: server.slug, failedVotes },
  });
  await requestRanks(deps.producer);
  return { server, failedVotes };
}

/**
 * Finds a server by its id or its slug, in upper or lower case.
 *
 * @param removed - `true` finds removed servers too
 */
export function findServer(
  { servers }: Pick<Listing, 'servers'>,
  text: string,
  { removed = false } = {},
): Promise<WithId<Server> | null> {
  const name = text.toLowerCase();
  const named: Filter<Server> = isId(name) ? { _id: new ObjectId(name) } : { slug: name };
  return servers.findOne(removed ? named : { ...named, removedAt: null });
}

/**
 * The listed servers in the order of their rank.
 *
 * @param removed - `true` adds the removed ones
 */
export function listServers(
  { servers }: Pick<Listing, 'servers'>,
  { removed = false } = {},
): Promise<WithId<Server>[]> {
  return servers
    .find(removed ? {} : { removedAt: null })
    .sort({ rankPosition: 1, listedAt: 1, _id: 1 })
    .toArray();
}
