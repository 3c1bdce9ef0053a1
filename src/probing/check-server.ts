import type { Collection, Document, ObjectId, WithId } from 'mongodb';
import { isProbed } from '../games/games.ts';
import { REPORT_VALID_MS, type Source, statusAt } from '../history/current-status.ts';
import type { HistoryDeps } from '../history/deps.ts';
import { storeSample } from '../history/store-sample.ts';
import { testReturnedListener } from '../history/test-returned-listener.ts';
import { after, MINUTE } from '../platform/clock.ts';
import { type MayConnect, mayConnectFor } from '../platform/limits/outgoing-limit.ts';
import { takeIcon } from '../servers/pictures.ts';
import type { ProbeState, Server } from '../servers/server.ts';
import type { Ask, Probe, ProbeFailure, Target } from './ask.ts';
import type { Canary } from './canary.ts';
import { comparedPlayers } from './players-differ.ts';
import { jumpedPlayers } from './players-jump.ts';
import { type Check, type SampleOfCheck, stateAfter } from './probe-state.ts';

export type CheckDeps = HistoryDeps & {
  ask: Ask;
  canary: Canary;
};

/**
 * The result of a check.
 *
 * - `recorded`: the result counts; `server` is the server afterwards.
 * - `void`: the result does not count, because the server was removed, edited or taken again meanwhile, or a result is
 *   already recorded.
 * - `stopped`: this process stops, or has no sockets or slots left; the server's state is unchanged.
 * - `limited`: a limit of connections was reached; the server is due within a minute, its status is unchanged.
 * - `no-game`: the server has no game, or one that cannot be queried.
 */
export type Checked =
  | { kind: 'recorded'; probe: Probe; end: Check['end']; server: WithId<Server> }
  | { kind: 'void' | 'stopped' | 'limited' | 'no-game' };

/** Failures that a network error may have caused. After one of these, the query is repeated at once. */
const RETRIED: ReadonlySet<ProbeFailure> = new Set(['answer-broken', 'closed']);

/** Failures after which the server's state is unknown, because Tallyport refuses to query it. */
const NOT_ASKED: ReadonlySet<ProbeFailure> = new Set(['game-unknown', 'address-refused']);

/**
 * Checks a server whose probe this process has taken, and records the result. If two calls check a server for the same
 * take, only one result counts: recording a result removes the take.
 *
 * @throws the driver's error when MongoDB fails; the next probe is then made at its planned time
 */
export async function checkTakenServer(
  deps: CheckDeps,
  serverId: ObjectId,
  signal?: AbortSignal,
): Promise<Checked> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  const claim = server?.probe.claim;
  if (!server || !claim) return { kind: 'void' };
  // If the server was online, the probe interval limits the connections enough.
  const accountId = server.ownerId?.toHexString() ?? null;
  const mayConnect =
    server.probe.status === 'online' ? undefined : mayConnectFor(deps, accountId, server.port);
  return check(deps, server, {
    byHand: false,
    mayConnect,
    counts: (now) => now.probe.claim?.toString() === claim.toString(),
    signal,
  });
}

/**
 * Checks a server for an operator, without a limit of connections. The result changes the server's state, but not its
 * uptime or averages, because its sample covers no time.
 *
 * @throws the driver's error if MongoDB fails
 */
export async function checkServer(
  deps: CheckDeps,
  server: WithId<Server>,
  signal?: AbortSignal,
): Promise<Checked> {
  const address = queriedAddress(server);
  return check(deps, server, {
    byHand: true,
    mayConnect: undefined,
    counts: (now) => queriedAddress(now) === address,
    signal,
  });
}

function queriedAddress({ game, address, port, queryPort }: Server): string {
  return JSON.stringify([game, address, port, queryPort ?? null]);
}

type CheckOptions = {
  byHand: boolean;
  /** Whether the result still counts. Called with the server as it is when the result is recorded. */
  counts(server: Server): boolean;
  signal: AbortSignal | undefined;
  /** Passed to `ask`; undefined if connections are not limited. */
  mayConnect: MayConnect | undefined;
};

async function check(deps: CheckDeps, server: WithId<Server>, options: CheckOptions): Promise<Checked> {
  const { game, address, port, queryPort, probe: before } = server;
  if (!game || !isProbed(game)) return { kind: 'no-game' };
  const startedAt = deps.clock.now();
  const target = { game, host: address, port, queryPort: queryPort ?? null };
  const probe = await queryTwice(deps.ask, target, options);
  if (!probe.ok && probe.failure === 'stopped') return { kind: 'stopped' };
  if (!probe.ok && probe.failure === 'outgoing-limited') {
    await postpone(deps, server);
    return { kind: 'limited' };
  }
  const end = await judge(deps.canary, server, probe);
  // During a shutdown the failure of the canary may come from the shutdown, so it does not count.
  if (end === 'canary-failed' && options.signal?.aborted) return { kind: 'stopped' };
  const after = await record(deps, server, { probe, end, startedAt }, options);
  if (!after) return { kind: 'void' };
  if (probe.ok) await takeIcon(deps, after, probe.answer.icon);
  const wasOnline = before.failures === 0 && statusAt(server, startedAt) === 'online';
  if (probe.ok && !wasOnline) await testReturnedListener(deps, server._id);
  return { kind: 'recorded', probe, end, server: after };
}

async function queryTwice(ask: Ask, target: Target, { signal, mayConnect }: CheckOptions): Promise<Probe> {
  const probe = await ask(target, signal, mayConnect);
  if (probe.ok || !RETRIED.has(probe.failure)) return probe;
  const again = await ask(target, signal, mayConnect);
  // If a limit prevents the second query, the first result counts.
  return !again.ok && again.failure === 'outgoing-limited' ? probe : again;
}

/** Gives the probe back. The server is due at most a minute later, when the limits of connections are reset. */
async function postpone({ servers, clock }: CheckDeps, { _id, probe }: WithId<Server>): Promise<void> {
  await servers.updateOne(
    { _id, removedAt: null, 'probe.revision': probe.revision },
    {
      $min: { 'probe.nextAt': after(clock.now(), MINUTE) },
      $set: { 'probe.claim': null },
      $inc: { 'probe.revision': 1 },
    },
  );
}

async function judge(canary: Canary, server: WithId<Server>, probe: Probe): Promise<Check['end']> {
  if (!probe.ok && NOT_ASKED.has(probe.failure)) return 'not-asked';
  const { succeededAt, offlineSince } = server.probe;
  // Computed from the probes, not from the status: after a time without checks, the status of an offline server is
  // unknown. Such a server must not count as newly failing.
  const lastSeenOnline = !!succeededAt && !offlineSince;
  canary.note(server._id.toHexString(), { lastSeenOnline, answered: probe.ok });
  if (probe.ok) return 'answered';
  return (await canary.works()) ? 'failed' : 'canary-failed';
}

type CheckResult = { probe: Probe; end: Check['end']; startedAt: Date };

/**
 * Records the result of a check: one conditional update of the server, then the sample for the history. If the process
 * crashes between the two, the sample is lost, and nothing is counted twice.
 *
 * @returns the updated server; null when the check no longer counts
 */
async function record(
  deps: CheckDeps,
  server: WithId<Server>,
  { probe, end, startedAt }: CheckResult,
  { byHand, counts }: CheckOptions,
): Promise<WithId<Server> | null> {
  const now = deps.clock.now();
  const latencyMs = probe.ok ? probe.answer.latencyMs : 0;
  const ended: Check = end === 'answered' ? { end, byHand, latencyMs } : { end, byHand };
  let before: WithId<Server> | null = server;
  while (before && counts(before)) {
    const { state, sample } = stateAfter(before.probe, ended, now);
    const claim = byHand ? (state.claim ?? null) : null;
    const changes = {
      ...probeFields({ ...state, claim }),
      ...currentFields(probe, startedAt, now),
      ...(probe.ok && probe.answer.onlinePlayers !== null
        ? {
            ...comparedPlayers(probe.answer.onlinePlayers, now),
            ...jumpedPlayers(before, probe.answer.onlinePlayers, now),
          }
        : {}),
    };
    const after = await updateUnchanged(deps.servers, before, changes);
    if (after) {
      if (sample)
        await storeSample(deps, { ...sampleOf(sample, probe, after), at: now, serverId: after._id });
      return after;
    }
    // If another write came first (a check by hand, a take, an edit), the server is read again.
    before = await deps.servers.findOne({ _id: server._id, removedAt: null });
  }
  return null;
}

function updateUnchanged(
  servers: Collection<Server>,
  { _id, probe: { revision } }: WithId<Server>,
  changes: Document,
): Promise<WithId<Server> | null> {
  const counted = { ...changes, 'probe.revision': { $literal: revision + 1 } };
  const unchanged = { _id, removedAt: null, 'probe.revision': revision };
  return servers.findOneAndUpdate(unchanged, [{ $set: counted }], { returnDocument: 'after' });
}

/** The update of all probe fields except the revision, which `updateUnchanged` increments. */
function probeFields(state: ProbeState): Document {
  const { revision: _revision, ...fields } = state;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [`probe.${key}`, { $literal: value }]),
  );
}

/**
 * The update of the current figures. A report that arrived after the query was sent is newer than the answer and wins.
 * If the answer has no message or version, the last one stays. If the answer hides the players, the number of a report
 * that is still valid stays.
 */
function currentFields(probe: Probe, startedAt: Date, now: Date): Document {
  const checkedAt = { 'current.checkedAt': { $max: ['$current.checkedAt', now] } };
  if (!probe.ok) return checkedAt;
  const reportedAt = { $ifNull: ['$lastReport.at', new Date(0)] };
  const reportIsNewer = { $gt: [reportedAt, startedAt] };
  const { onlinePlayers, maxPlayers, motd, version } = probe.answer;
  const isReported = {
    $and: [
      { $eq: ['$current.playersSource', 'reports' satisfies Source] },
      { $gt: [reportedAt, after(now, -REPORT_VALID_MS)] },
    ],
  };
  const keepsPlayers = onlinePlayers === null ? { $or: [reportIsNewer, isReported] } : reportIsNewer;
  const players = {
    onlinePlayers: onlinePlayers ?? 0,
    playersHidden: onlinePlayers === null,
    maxPlayers: maxPlayers ?? 0,
    playersSource: 'probes' satisfies Source,
  };
  const texts = Object.fromEntries(Object.entries({ motd, version }).filter(([, text]) => text !== ''));
  return { ...checkedAt, ...fieldsUnless(keepsPlayers, players), ...fieldsUnless(reportIsNewer, texts) };
}

/** Sets fields of the current figures unless `keeps` is true. */
function fieldsUnless(keeps: Document, values: Record<string, unknown>): Document {
  const fields = Object.entries(values).map(([key, value]) => [
    `current.${key}`,
    { $cond: [keeps, `$current.${key}`, { $literal: value }] },
  ]);
  return Object.fromEntries(fields);
}

function sampleOf(sample: SampleOfCheck, probe: Probe, { current }: Server) {
  const figures = probe.ok
    ? probe.answer
    : { onlinePlayers: 0, maxPlayers: current.maxPlayers, latencyMs: null };
  const { onlinePlayers, maxPlayers, latencyMs } = figures;
  return { ...sample, source: 'probe' as const, onlinePlayers, maxPlayers: maxPlayers ?? 0, latencyMs };
}
