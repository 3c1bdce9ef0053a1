import type { Collection, Document, ObjectId, WithId } from 'mongodb';
import { isProbed } from '../games/games.ts';
import { REPORT_VALID_MS, type Source, statusAt } from '../history/current-status.ts';
import type { HistoryDeps } from '../history/deps.ts';
import { storeSample } from '../history/store-sample.ts';
import { testReturnedListener } from '../history/test-returned-listener.ts';
import { after, MINUTE } from '../platform/clock.ts';
import { mayConnectFor } from '../platform/limits/outgoing-limit.ts';
import { takeIcon } from '../servers/pictures.ts';
import type { ProbeState, Server } from '../servers/server.ts';
import type { Ask, Probe } from './ask.ts';
import type { Canary } from './canary.ts';
import {
  type AddressEnds,
  type AddressProbes,
  type AskOptions,
  addressFields,
  askAddresses,
  endsOf,
  isNotAsked,
} from './check-addresses.ts';
import { comparedPlayers } from './players-differ.ts';
import { jumpedPlayers } from './players-jump.ts';
import { type Check, type SampleOfCheck, stateAfter } from './probe-state.ts';

export type CheckDeps = HistoryDeps & {
  ask: Ask;
  canary: Canary;
};

/**
 * `void`: the server was removed, edited or taken again meanwhile, or a result is already recorded. `stopped`: this
 * process stops, or has no sockets or slots left. `limited`: the server is due within a minute. `no-game`: none that
 * can be queried.
 */
export type Checked =
  | { kind: 'recorded'; probe: Probe; each: AddressProbes | null; end: Check['end']; server: WithId<Server> }
  | { kind: 'void' | 'stopped' | 'limited' | 'no-game' };

/** Of two calls for the same take, only one result counts: recording it removes the take. */
export async function checkTakenServer(
  deps: CheckDeps,
  serverId: ObjectId,
  signal?: AbortSignal,
): Promise<Checked> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  const claim = server?.probe.claim;
  if (!server || !claim) return { kind: 'void' };
  const accountId = server.ownerId?.toHexString() ?? null;
  return check(deps, server, {
    byHand: false,
    // The probe interval limits the connections to a server that was online.
    mayConnect: ({ status }, port) =>
      status === 'online' ? undefined : mayConnectFor(deps, accountId, port),
    counts: (now) => now.probe.claim?.toString() === claim.toString(),
    signal,
  });
}

/** For an operator, without a limit of connections. Its sample covers no time: uptime and averages do not change. */
export async function checkServer(
  deps: CheckDeps,
  server: WithId<Server>,
  signal?: AbortSignal,
): Promise<Checked> {
  const address = queriedAddress(server);
  return check(deps, server, {
    byHand: true,
    mayConnect: () => undefined,
    counts: (now) => queriedAddress(now) === address,
    signal,
  });
}

function queriedAddress({ game, address, port, queryPort, second }: Server): string {
  return JSON.stringify([game, address, port, queryPort ?? null, second?.address, second?.port]);
}

type CheckOptions = AskOptions & {
  /** Called with the server as it is when the result is recorded. */
  counts(server: Server): boolean;
};

async function check(deps: CheckDeps, server: WithId<Server>, options: CheckOptions): Promise<Checked> {
  const { game, probe: before } = server;
  if (!game || !isProbed(game)) return { kind: 'no-game' };
  const startedAt = deps.clock.now();
  const { probe, each } = await askAddresses(deps.ask, { ...server, game }, options, startedAt);
  if (!probe.ok && probe.failure === 'stopped') return { kind: 'stopped' };
  if (!probe.ok && probe.failure === 'outgoing-limited') {
    await postpone(deps, server);
    return { kind: 'limited' };
  }
  const end = await judge(deps.canary, server, probe);
  const isFailure = end === 'failed' || end === 'canary-failed';
  const ends = each && (await endsOf(each, async () => (isFailure ? end === 'failed' : deps.canary.works())));
  // The failure of the canary may come from the shutdown.
  if (end === 'canary-failed' && options.signal?.aborted) return { kind: 'stopped' };
  const after = await record(deps, server, { probe, end, ends, startedAt }, options);
  if (!after) return { kind: 'void' };
  if (probe.ok) await takeIcon(deps, after, probe.answer.icon);
  const wasOnline = before.failures === 0 && statusAt(server, startedAt) === 'online';
  if (probe.ok && !wasOnline) await testReturnedListener(deps, server._id);
  return { kind: 'recorded', probe, each, end, server: after };
}

/** The server is due at most a minute later, when the limits of connections are reset. */
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
  if (isNotAsked(probe)) return 'not-asked';
  const { succeededAt, offlineSince } = server.probe;
  // Not from the status: after a time without checks it is unknown, and an offline server must not be newly failing.
  const lastSeenOnline = !!succeededAt && !offlineSince;
  canary.note(server._id.toHexString(), { lastSeenOnline, answered: probe.ok });
  if (probe.ok) return 'answered';
  return (await canary.works()) ? 'failed' : 'canary-failed';
}

type CheckResult = { probe: Probe; end: Check['end']; ends: AddressEnds | null; startedAt: Date };

/**
 * One conditional update of the server, then the sample for the history. After a crash between the two the sample is
 * lost, and nothing is counted twice. Null when the check no longer counts.
 */
async function record(
  deps: CheckDeps,
  server: WithId<Server>,
  { probe, end, ends, startedAt }: CheckResult,
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
      ...addressFields(before, ends, byHand, now),
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
    // Another write came first: a check by hand, a take, an edit.
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

/** Without the revision, which `updateUnchanged` increments. */
function probeFields(state: ProbeState): Document {
  const { revision: _revision, ...fields } = state;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [`probe.${key}`, { $literal: value }]),
  );
}

/**
 * A report that arrived after the query was sent wins. The last message and version stay if the answer has none, and so
 * does the number of players of a valid report if it hides them.
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
