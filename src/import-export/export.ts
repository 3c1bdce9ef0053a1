import type { ObjectId, WithId } from 'mongodb';
import { computableDays } from '../history/aggregate-day.ts';
import type { HistoryDeps } from '../history/deps.ts';
import type { StatusSample } from '../history/status-sample.ts';
import { startOfDay } from '../platform/periods/period-marks.ts';
import type { Server } from '../servers/server.ts';
import { namelessId } from '../votes/nameless.ts';
import type { Vote } from '../votes/vote.ts';
import { countVotesBetween } from '../votes/vote-figures.ts';
import { profileRecord } from './profile-record.ts';

export type TimeRange = { since?: Date | undefined; until?: Date | undefined };

export type Export = { total: number; lines: AsyncIterable<string> };

const LAST_MOMENT = 8.64e15;

/** A fixed number, so memory does not grow with the history. */
const BATCH = 1_000;

/**
 * Oldest first. Days of which only sums are left are not exported (after 35 days), nor reports of days that are too old
 * to be computed: an import would refuse them.
 */
export async function exportSamples(
  { statusSamples, clock }: HistoryDeps,
  serverId: ObjectId,
  span: TimeRange,
): Promise<Export> {
  const firstReport = startOfDay(computableDays(clock.now()).first);
  const wanted = {
    serverId,
    ...between('at', span),
    $or: [{ source: 'probe' as const }, { at: { $gte: firstReport } }],
  };
  const samples = statusSamples.find(wanted).sort({ at: 1 }).batchSize(BATCH);
  return { total: await statusSamples.countDocuments(wanted), lines: linesOf(samples, sampleRecord) };
}

async function* linesOf<T>(
  documents: AsyncIterable<T>,
  record: (document: T) => object | Promise<object>,
): AsyncIterable<string> {
  for await (const document of documents) yield `${JSON.stringify(await record(document))}\n`;
}

function sampleRecord(sample: StatusSample): object {
  const { status, reason, source, seconds } = sample;
  return {
    server_id: sample.serverId.toHexString(),
    at: sample.at.toISOString(),
    online: status === 'unknown' ? null : status === 'online',
    online_players: sample.onlinePlayers ?? 0,
    ...(typeof sample.onlinePlayers === 'number' ? {} : { players_hidden: true }),
    max_players: sample.maxPlayers,
    latency_ms: sample.latencyMs ?? null,
    ...(source === 'report' ? { source } : { seconds }),
    ...(status === 'unknown' ? { reason: reason ?? 'unconfirmed' } : {}),
  };
}

/** The oldest listing first. An import would make hidden servers visible, so only `serverId` exports one. */
export async function exportServers({ servers, users }: HistoryDeps, serverId?: ObjectId): Promise<Export> {
  const wanted = serverId ? { _id: serverId } : { removedAt: null, hiddenAt: null };
  const found = servers.find(wanted).sort({ listedAt: 1, _id: 1 }).batchSize(BATCH);
  const record = async (server: WithId<Server>) => {
    const owner = server.ownerId ? await users.findOne({ _id: server.ownerId }) : null;
    return serverRecord(server, owner?.email ?? server.ownerEmail ?? null);
  };
  return { total: await servers.countDocuments(wanted), lines: linesOf(found, record) };
}

function serverRecord(server: WithId<Server>, ownerEmail: string | null): object {
  const profile = profileRecord(server.profile);
  return {
    server_id: server._id.toHexString(),
    slug: server.slug,
    name: server.name,
    address: server.address,
    connection_port: server.port,
    query_port: server.queryPort ?? null,
    ...(server.second ? { second_address: server.second.address, second_port: server.second.port } : {}),
    game: server.game ?? null,
    country_code: server.countryCode ?? null,
    is_premium: server.isPremium,
    date_added: server.listedAt.toISOString(),
    owner_email: ownerEmail,
    ...pauseRecord(server),
    ...(server.howToVote ? { how_to_vote: server.howToVote } : {}),
    ...(profile ? { profile } : {}),
  };
}

function pauseRecord({ listingPause, earlierPauses }: Server): object {
  const earlier = earlierPauses?.map(({ from, until }) => ({ from, until })) ?? [];
  return {
    ...(listingPause
      ? {
          pause: {
            from: listingPause.at,
            until: listingPause.until ?? null,
            text: listingPause.text ?? null,
          },
        }
      : {}),
    ...(earlier.length > 0 ? { earlier_pauses: earlier } : {}),
  };
}

/** Oldest first. Excluded votes are left out. */
export async function exportVotes(
  { votes }: HistoryDeps,
  serverId: ObjectId,
  span: TimeRange,
): Promise<Export> {
  const counting = { serverId, ...between('votedAt', span), excludedAt: { $exists: false } };
  const found = votes
    .find(counting, { projection: { serverId: 1, username: 1, usernameKey: 1, votedAt: 1 } })
    .sort({ votedAt: 1 })
    .batchSize(BATCH);
  const total = await countVotesBetween(
    votes,
    serverId,
    span.since ?? new Date(0),
    span.until ?? new Date(LAST_MOMENT),
  );
  return { total, lines: linesOf(found, voteRecord) };
}

function voteRecord({ serverId, username, usernameKey, votedAt }: Vote): object {
  const nameless = namelessId(usernameKey);
  return {
    server_id: serverId.toHexString(),
    username,
    voted_at: votedAt.toISOString(),
    // Votes without a player name may have the same time. `nameless` distinguishes them, so an import stores all.
    ...(nameless === null ? {} : { nameless }),
  };
}

function between(field: string, { since, until }: TimeRange): Record<string, unknown> {
  if (!since && !until) return {};
  return { [field]: { ...(since ? { $gte: since } : {}), ...(until ? { $lt: until } : {}) } };
}
