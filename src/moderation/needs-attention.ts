import type { Collection, Filter, ObjectId, WithId } from 'mongodb';
import { type ListenerReason, listenerReason, REASON_FIELDS } from '../delivery/diagnosis/listener-reason.ts';
import { neglectedListeners } from '../delivery/fetch/neglected-listeners.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { lastCalled } from '../listeners/listener-state.ts';
import { after, type Clock, DAY } from '../platform/clock.ts';
import { COMPARED_WITHIN_MS } from '../probing/players-differ.ts';
import type { Review } from '../reviews/review.ts';
import type { Server } from '../servers/server.ts';
import type { OpenQuarantine } from '../votes/exclusions/quarantine.ts';
import { quarantineGroups } from '../votes/exclusions/quarantine.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import { FAILED_VOTES, OPEN_WORK, type Vote } from '../votes/vote.ts';
import { countNetworks, type VoteOrigin } from '../votes/web/vote-origin.ts';
import type { Complaint } from './complaint.ts';

type AttentionDeps = {
  complaints: Collection<Complaint>;
  reviews: Collection<Review>;
  voteExclusions: Collection<VoteExclusion>;
  voteOrigins: Collection<VoteOrigin>;
  listeners: Collection<Listener>;
  servers: Collection<Server>;
  votes: Collection<Vote>;
  clock: Clock;
};

/** The server that a row is about. */
export type Named = Pick<Server, '_id' | 'name'>;

/** The rows of one kind, the most urgent first: at most `LISTED` rows; `more` if there are others. */
export type Kind<T> = { rows: T[]; more: boolean };

/** A listener that takes no votes, the reason, and the number of waiting votes (`COUNTED` means that many or more). */
export type StuckListener = { server: Named; reason: ListenerReason; waiting: number };

/** The held votes of one origin on all servers, or those of one server together (`origin` is null). */
export type HeldVotes = {
  origin: string | null;
  /** `networks`: the number of networks that used the server's vote form since then. */
  servers: ({ server: Named; networks: number } & OpenQuarantine)[];
};

/** What needs an operator's attention. */
export type Attention = {
  /** `COUNTED` means that many or more. */
  reviews: { waiting: number; since: Date | null };
  /** Open reports about servers; `COUNTED` means that many or more. */
  complaints: number;
  paused: Kind<StuckListener>;
  unreachable: Kind<StuckListener>;
  /** Listeners that fetch, and have not for 10 minutes although votes wait; the longest first. */
  unfetched: Kind<{ server: Named; since: Date; waiting: number }>;
  failed: Kind<{ server: Named; votes: number; newest: Date }>;
  playersDiffer: Kind<{ server: Named } & NonNullable<Server['playersDiffer']>>;
  unusualVotes: Kind<{ server: Named } & NonNullable<Server['unusualVotes']>>;
  /** Votes of 30 days that do not count for the rank until an operator allows them (see ranking/evidence/). */
  waitingVotes: Kind<{ server: Named; waiting: number; votesCount: number }>;
  /** Grouped by the cause of the suspicion. */
  quarantines: Kind<HeldVotes>;
};

/** The most rows of one kind. */
const LISTED = 20;

/** How many quarantines are read and grouped, over all servers: the oldest ones. */
const MOST_QUARANTINES = 100;

/** Counting stops at this number. */
export const COUNTED = 1_000;

/**
 * What needs an operator's attention now. Each query uses a small partial index and reads a bounded number of
 * documents, whatever the size of the listing.
 */
export async function needsAttention(sources: AttentionDeps): Promise<Attention> {
  const [
    reviews,
    complaints,
    paused,
    unreachable,
    unfetched,
    failed,
    playersDiffer,
    unusualVotes,
    waitingVotes,
    quarantines,
  ] = await Promise.all([
    waitingReviews(sources),
    sources.complaints.countDocuments({ isOpen: true }, { limit: COUNTED }),
    stuckListeners(sources, { 'pause.code': { $exists: true } }, 'pause.at'),
    stuckListeners(sources, { 'breaker.openSince': { $exists: true }, pause: null }, 'breaker.openSince'),
    unfetchedListeners(sources),
    failedVotes(sources),
    differingServers(sources),
    unusualServers(sources),
    serversWithWaitingVotes(sources),
    quarantinedVotes(sources),
  ]);
  return {
    reviews,
    complaints,
    paused,
    unreachable,
    unfetched,
    failed,
    playersDiffer,
    unusualVotes,
    waitingVotes,
    quarantines,
  };
}

async function waitingReviews({ reviews }: AttentionDeps): Promise<Attention['reviews']> {
  const [waiting, oldest] = await Promise.all([
    reviews.countDocuments({ state: 'pending' }, { limit: COUNTED }),
    reviews.findOne({ state: 'pending' }, { sort: { createdAt: 1, _id: 1 }, projection: { createdAt: 1 } }),
  ]);
  return { waiting, since: oldest?.createdAt ?? null };
}

/** The listeners that match, the longest in this state first. */
async function stuckListeners(
  sources: AttentionDeps,
  filter: Filter<Listener>,
  since: string,
): Promise<Kind<StuckListener>> {
  const found = await sources.listeners
    .find(filter, { projection: { ...REASON_FIELDS, serverId: 1 } })
    .sort({ [since]: 1 })
    .limit(LISTED + 1)
    .toArray();
  const rows = await named(sources, found, ({ serverId }) => serverId);
  return kind(
    await Promise.all(
      rows.flatMap(({ server, row }) => {
        const reason = listenerReason(row);
        return reason ? [withWaiting(sources, { server, reason })] : [];
      }),
    ),
  );
}

async function unfetchedListeners(sources: AttentionDeps): Promise<Attention['unfetched']> {
  const found = (await neglectedListeners(sources))
    .toSorted((a, b) => lastCalled(a).getTime() - lastCalled(b).getTime())
    .slice(0, LISTED + 1);
  const rows = await named(sources, found, ({ serverId }) => serverId);
  return kind(
    await Promise.all(
      rows.map(({ server, row }) => withWaiting(sources, { server, since: lastCalled(row) })),
    ),
  );
}

async function withWaiting<T extends { server: Named }>(
  { votes }: AttentionDeps,
  stuck: T,
): Promise<T & { waiting: number }> {
  const open = { serverId: stuck.server._id, 'delivery.queuedAt': { $gt: new Date(0) } };
  return { ...stuck, waiting: await votes.countDocuments(open, { hint: OPEN_WORK, limit: COUNTED }) };
}

/**
 * The votes that failed in the last 24 h, by server. A vote fails at the latest 72 h after it was cast, so the query
 * reads the votes of the last 4 days, at most `COUNTED` of them: with more, the numbers are lower bounds. This is one
 * of the few queries for votes without a server id (ADR 88).
 */
async function failedVotes(sources: AttentionDeps): Promise<Attention['failed']> {
  const now = sources.clock.now();
  const failed = await sources.votes
    .aggregate<{ _id: ObjectId; votes: number; newest: Date }>(
      [
        {
          $match: {
            'delivery.state': 'failed',
            votedAt: { $gte: after(now, -DELIVERY_EXPIRES_MS - DAY) },
          },
        },
        { $sort: { votedAt: -1 } },
        { $limit: COUNTED },
        {
          $project: {
            serverId: 1,
            failedAt: { $max: [{ $max: '$delivery.attempts.at' }, { $max: '$delivery.events.at' }] },
          },
        },
        { $match: { failedAt: { $gte: after(now, -DAY) } } },
        { $group: { _id: '$serverId', votes: { $sum: 1 }, newest: { $max: '$failedAt' } } },
        { $sort: { votes: -1, _id: 1 } },
        { $limit: LISTED + 1 },
      ],
      { hint: FAILED_VOTES },
    )
    .toArray();
  const rows = await named(sources, failed, ({ _id }) => _id);
  return kind(rows.map(({ server, row: { votes, newest } }) => ({ server, votes, newest })));
}

async function differingServers({ servers, clock }: AttentionDeps): Promise<Attention['playersDiffer']> {
  const found = await servers
    .find(
      { 'playersDiffer.at': { $gt: after(clock.now(), -COMPARED_WITHIN_MS) }, removedAt: null },
      { projection: { name: 1, playersDiffer: 1 } },
    )
    .sort({ 'playersDiffer.at': -1 })
    .limit(LISTED + 1)
    .toArray();
  return kind(
    found.flatMap(({ playersDiffer, ...server }) => (playersDiffer ? [{ server, ...playersDiffer }] : [])),
  );
}

async function unusualServers({ servers }: AttentionDeps): Promise<Attention['unusualVotes']> {
  const found = await servers
    .find({ 'unusualVotes.votes': { $gt: 0 }, removedAt: null }, { projection: { name: 1, unusualVotes: 1 } })
    .sort({ 'unusualVotes.votes': -1 })
    .limit(LISTED + 1)
    .toArray();
  return kind(
    found.flatMap(({ unusualVotes, ...server }) => (unusualVotes ? [{ server, ...unusualVotes }] : [])),
  );
}

async function serversWithWaitingVotes({ servers }: AttentionDeps): Promise<Attention['waitingVotes']> {
  const found = await servers
    .find(
      { 'ranked.waiting': { $gt: 0 }, removedAt: null },
      { projection: { name: 1, 'ranked.waiting': 1, 'ranked.votesCount': 1 } },
    )
    .sort({ 'ranked.waiting': -1 })
    .limit(LISTED + 1)
    .toArray();
  return kind(
    found.map(({ ranked, ...server }) => ({
      server,
      waiting: ranked?.waiting ?? 0,
      votesCount: ranked?.votesCount ?? 0,
    })),
  );
}

async function quarantinedVotes(sources: AttentionDeps): Promise<Attention['quarantines']> {
  const groups = await quarantineGroups(sources, { limit: MOST_QUARANTINES });
  const rows = await Promise.all(
    groups.slice(0, LISTED + 1).map(async ({ origin, quarantines }) => {
      const ofServers = await named(sources, quarantines, ({ quarantine }) => quarantine.serverId);
      const servers = ofServers.map(async ({ server, row }) => {
        const networks = await countNetworks(sources, server._id, row.quarantine.since);
        return { server, networks, ...row };
      });
      return { origin, servers: await Promise.all(servers) };
    }),
  );
  return kind(rows.filter(({ servers }) => servers.length > 0));
}

function kind<T>(rows: T[]): Kind<T> {
  return { rows: rows.slice(0, LISTED), more: rows.length > LISTED };
}

/** Adds the server to each row. Rows of removed servers are left out. */
async function named<T>(
  { servers }: AttentionDeps,
  rows: T[],
  serverIdOf: (row: T) => ObjectId,
): Promise<{ server: Named; row: T }[]> {
  if (rows.length === 0) return [];
  const found: WithId<Named>[] = await servers
    .find({ _id: { $in: rows.map(serverIdOf) }, removedAt: null }, { projection: { name: 1 } })
    .toArray();
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  return rows.flatMap((row) => {
    const server = byId.get(serverIdOf(row).toHexString());
    return server ? [{ server, row }] : [];
  });
}
