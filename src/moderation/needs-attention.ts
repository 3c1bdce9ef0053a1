import type { Filter, ObjectId, WithId } from 'mongodb';
import { type ListenerReason, listenerReason, REASON_FIELDS } from '../delivery/diagnosis/listener-reason.ts';
import { neglectedListeners } from '../delivery/fetch/fetching-listener.ts';
import { LONGEST_OPEN_MS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { lastCalled } from '../listeners/listener-state.ts';
import { after, HOUR } from '../platform/clock.ts';
import { COMPARED_WITHIN_MS } from '../probing/players-differ.ts';
import { JUMP_SHOWN_MS } from '../probing/players-jump.ts';
import { LEFT_MS } from '../ranking/evidence/allow-votes.ts';
import type { Server } from '../servers/server.ts';
import { FAILED_VOTES, OPEN_WORK } from '../votes/vote.ts';
import type { ModerationDeps } from './deps.ts';

export type Named = Pick<Server, '_id' | 'name'>;

export type AttentionRows<T> = { rows: T[]; more: boolean };

export type StuckListener = { server: Named; reason: ListenerReason; waiting: number };

export type ListenersDown = {
  paused: AttentionRows<StuckListener>;
  unreachable: AttentionRows<StuckListener>;
  /** Listeners that fetch, but have not fetched for 10 minutes although votes wait. */
  unfetched: AttentionRows<{ server: Named; since: Date; waiting: number }>;
  failed: AttentionRows<{ server: Named; votes: number; newest: Date }>;
};

export type UnusualFigures = {
  unusualVotes: AttentionRows<{ server: Named } & NonNullable<Server['unusualVotes']>>;
  /** Votes that do not count for the rank until an operator allows them. `allowed`: the allowance of a day. */
  waitingVotes: AttentionRows<{ server: Named; waiting: number; votesCount: number; allowed: number }>;
  playersJumped: AttentionRows<{ server: Named } & NonNullable<Server['playersJumped']>>;
  playersDiffer: AttentionRows<{ server: Named } & NonNullable<Server['playersDiffer']>>;
};

const LISTED = 20;

export const COUNTED = 1_000;

/** Each query uses a small partial index and reads a bounded number of documents. */
export async function listenersDown(deps: ModerationDeps): Promise<ListenersDown> {
  const [paused, unreachable, unfetched, failed] = await Promise.all([
    stuckListeners(deps, { 'pause.code': { $exists: true } }, 'pause.at'),
    stuckListeners(deps, { 'breaker.openSince': { $exists: true }, pause: null }, 'breaker.openSince'),
    unfetchedListeners(deps),
    failedVotes(deps),
  ]);
  return { paused, unreachable, unfetched, failed };
}

export async function unusualFigures(deps: ModerationDeps): Promise<UnusualFigures> {
  const now = deps.clock.now();
  const [unusualVotes, waitingVotes, playersJumped, playersDiffer] = await Promise.all([
    flaggedServers(deps, 'unusualVotes', 'unusualVotes.votes', { $gt: 0 }),
    serversWithWaitingVotes(deps),
    flaggedServers(deps, 'playersJumped', 'playersJumped.at', { $gt: after(now, -JUMP_SHOWN_MS) }),
    flaggedServers(deps, 'playersDiffer', 'playersDiffer.at', { $gt: after(now, -COMPARED_WITHIN_MS) }),
  ]);
  return { unusualVotes, waitingVotes, playersJumped, playersDiffer };
}

/** `since`: the field with the time of the failure; the newest is first. */
async function stuckListeners(
  deps: ModerationDeps,
  filter: Filter<Listener>,
  since: string,
): Promise<AttentionRows<StuckListener>> {
  const found = await deps.listeners
    .find(filter, { projection: { ...REASON_FIELDS, serverId: 1 } })
    .sort({ [since]: -1 })
    .limit(LISTED + 1)
    .toArray();
  const rows = await named(deps, found, ({ serverId }) => serverId);
  const stuck = rows.flatMap(({ server, row }) => {
    const reason = listenerReason(row);
    return reason ? [withWaiting(deps, { server, reason })] : [];
  });
  return kind(await Promise.all(stuck));
}

async function unfetchedListeners(deps: ModerationDeps): Promise<ListenersDown['unfetched']> {
  const { listeners, more } = await neglectedListeners(deps);
  const found = listeners
    .toSorted((a, b) => lastCalled(b).getTime() - lastCalled(a).getTime())
    .slice(0, LISTED + 1);
  const rows = await named(deps, found, ({ serverId }) => serverId);
  const waiting = rows.map(({ server, row }) => withWaiting(deps, { server, since: lastCalled(row) }));
  const shown = kind(await Promise.all(waiting));
  return { rows: shown.rows, more: shown.more || more };
}

async function withWaiting<T extends { server: Named }>(
  { votes }: ModerationDeps,
  stuck: T,
): Promise<T & { waiting: number }> {
  const open = { serverId: stuck.server._id, 'delivery.queuedAt': { $gt: new Date(0) } };
  return { ...stuck, waiting: await votes.countDocuments(open, { hint: OPEN_WORK, limit: COUNTED }) };
}

export const FAILED_HOURS = 24;

/**
 * A vote fails at the latest `LONGEST_OPEN_MS` after it was cast. If over `COUNTED` failed, the numbers are lower bounds.
 * This is one of the few queries for votes without a server id (ADR 88).
 */
async function failedVotes(deps: ModerationDeps): Promise<ListenersDown['failed']> {
  const now = deps.clock.now();
  const failed = await deps.votes
    .aggregate<{ _id: ObjectId; votes: number; newest: Date }>(
      [
        {
          $match: {
            'delivery.state': 'failed',
            votedAt: { $gte: after(now, -LONGEST_OPEN_MS - FAILED_HOURS * HOUR) },
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
        { $match: { failedAt: { $gte: after(now, -FAILED_HOURS * HOUR) } } },
        { $group: { _id: '$serverId', votes: { $sum: 1 }, newest: { $max: '$failedAt' } } },
        { $sort: { newest: -1, _id: 1 } },
        { $limit: LISTED + 1 },
      ],
      { hint: FAILED_VOTES },
    )
    .toArray();
  const rows = await named(deps, failed, ({ _id }) => _id);
  return kind(rows.map(({ server, row: { votes, newest } }) => ({ server, votes, newest })));
}

type Flag = 'unusualVotes' | 'playersJumped' | 'playersDiffer';

async function flaggedServers<F extends Flag>(
  { servers }: ModerationDeps,
  flag: F,
  by: string,
  filter: { $gt: Date | number },
): Promise<AttentionRows<{ server: Named } & NonNullable<Server[F]>>> {
  const found = await servers
    .find({ [by]: filter, removedAt: null }, { projection: { name: 1, [flag]: 1 } })
    .sort({ [by]: -1 })
    .limit(LISTED + 1)
    .toArray();
  return kind(
    found.flatMap(({ _id, name, [flag]: value }) => (value ? [{ server: { _id, name }, ...value }] : [])),
  );
}

async function serversWithWaitingVotes({
  servers,
  clock,
}: ModerationDeps): Promise<UnusualFigures['waitingVotes']> {
  const found = await servers
    .find(
      {
        'ranked.waiting': { $gt: 0 },
        removedAt: null,
        waitingLeftAt: { $not: { $gt: after(clock.now(), -LEFT_MS) } },
      },
      { projection: { name: 1, 'ranked.waiting': 1, 'ranked.votesCount': 1, 'voteAllowance.votes': 1 } },
    )
    .sort({ 'ranked.waiting': -1 })
    .limit(LISTED + 1)
    .toArray();
  return kind(
    found.map(({ ranked, voteAllowance, ...server }) => ({
      server,
      waiting: ranked?.waiting ?? 0,
      votesCount: ranked?.votesCount ?? 0,
      allowed: voteAllowance?.votes ?? 0,
    })),
  );
}

function kind<T>(rows: T[]): AttentionRows<T> {
  return { rows: rows.slice(0, LISTED), more: rows.length > LISTED };
}

/** Rows of removed servers are left out. */
export async function named<T>(
  { servers }: ModerationDeps,
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

export type AttentionCounts = {
  held: number;
  reviews: number;
  complaints: number;
  listeners: number;
  servers: number;
  figures: number;
};

export const COUNTED_UP_TO = 100;

export async function countAttention(deps: ModerationDeps): Promise<AttentionCounts> {
  const limit = COUNTED_UP_TO;
  const [held, reviews, complaints, listeners, servers, figures] = await Promise.all([
    countHeld(deps),
    deps.reviews.countDocuments({ state: 'pending' }, { limit }),
    countServersWithComplaints(deps),
    rowsOf(listenersDown(deps)),
    deps.servers.countDocuments({ isUnseen: true }, { limit, hint: 'new_servers' }),
    rowsOf(unusualFigures(deps)),
  ]);
  return { held, reviews, complaints, listeners, servers, figures };
}

async function countHeld({ voteExclusions }: ModerationDeps): Promise<number> {
  const open = await voteExclusions
    .find({ state: 'quarantined' }, { projection: { origin: 1 }, limit: COUNTED_UP_TO })
    .toArray();
  return new Set(open.map(({ _id, origin }) => origin ?? _id.toHexString())).size;
}

async function countServersWithComplaints({ complaints }: ModerationDeps): Promise<number> {
  const open = await complaints
    .find({ isOpen: true }, { projection: { serverId: 1 }, limit: COUNTED_UP_TO })
    .sort({ at: -1, _id: -1 })
    .toArray();
  return new Set(open.map(({ serverId }) => serverId.toHexString())).size;
}

async function rowsOf(kinds: Promise<Record<string, { rows: unknown[] }>>): Promise<number> {
  return Object.values(await kinds).reduce((sum, { rows }) => sum + rows.length, 0);
}
