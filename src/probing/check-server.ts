import type { Collection, Document, ObjectId, WithId } from 'mongodb';
import { type Source, statusAt } from '../history/current-status.ts';
import { keepSample } from '../history/keep-sample.ts';
import type { StatusSample } from '../history/status-sample.ts';
import { type Waking, wakeListener } from '../history/wake-listener.ts';
import type { Batcher } from '../platform/batching/batcher.ts';
import { after, MINUTE } from '../platform/clock.ts';
import { type MayConnect, mayConnectFor, type OutgoingLimiting } from '../platform/limits/outgoing-limit.ts';
import type { ProbeState, Server } from '../servers/server.ts';
import type { Ask, Probe, ProbeFailure, Target } from './ask.ts';
import type { Canary } from './canary.ts';
import { comparedPlayers } from './players-differ.ts';
import { type Check, type SampleOfCheck, stateAfter } from './probe-state.ts';

/** What checks work on. */
export type Checking = Waking &
  OutgoingLimiting & {
    servers: Collection<Server>;
    statusSamples: Collection<StatusSample>;
    batcher: Batcher;
    ask: Ask;
    canary: Canary;
  };

/**
 * What became of a check.
 *
 * - `recorded`: it counts; `server` is the server after it.
 * - `void`: it does not, because the server was removed, edited or claimed anew meanwhile, or its end is recorded.
 * - `stopped`: this process stops, or is out of sockets; nothing is said of the server.
 * - `limited`: an allowance of connections is used up, so it is asked a minute later; nothing is said of the server.
 * - `no-game`: the server has no game, so nobody knows how to ask it.
 */
export type Checked =
  | { kind: 'recorded'; probe: Probe; end: Check['end']; server: WithId<Server> }
  | { kind: 'void' | 'stopped' | 'limited' | 'no-game' };

/** What may be the network's mood and not the server's state: asked once more at once. */
const ASKED_AGAIN: ReadonlySet<ProbeFailure> = new Set(['answer-broken', 'closed']);

/** We refuse to ask: that says nothing of the server. */
const NOT_ASKED: ReadonlySet<ProbeFailure> = new Set(['game-unknown', 'address-refused']);

/**
 * Checks the server whose probe is claimed and records the end. Run twice, it counts once: the first end that is
 * recorded uses the claim up.
 *
 * @throws what MongoDB throws; the server's next probe comes at its planned time
 */
export async function checkClaimedServer(
  deps: Checking,
  serverId: ObjectId,
  signal?: AbortSignal,
): Promise<Checked> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  const claim = server?.probe.claim;
  if (!server || !claim) return { kind: 'void' };
  // The planned interval is limit enough for a server that answers.
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
 * Checks a server because an operator asked for it, without a limit: it counts for the state, and not for the averages.
 *
 * @throws what MongoDB throws
 */
export async function checkServer(
  deps: Checking,
  server: WithId<Server>,
  signal?: AbortSignal,
): Promise<Checked> {
  const asked = queriedAddress(server);
  return check(deps, server, {
    byHand: true,
    mayConnect: undefined,
    counts: (now) => queriedAddress(now) === asked,
    signal,
  });
}

function queriedAddress({ game, address, port, queryPort }: Server): string {
  return JSON.stringify([game, address, port, queryPort ?? null]);
}

type Manner = {
  byHand: boolean;
  /** Whether the end still counts for the server as it is when it is recorded. */
  counts(server: Server): boolean;
  signal: AbortSignal | undefined;
  /** Asked before each connection; absent where nothing is limited. */
  mayConnect: MayConnect | undefined;
};

async function check(deps: Checking, server: WithId<Server>, manner: Manner): Promise<Checked> {
  const { game, address, port, queryPort, probe: before } = server;
  if (!game) return { kind: 'no-game' };
  const startedAt = deps.clock.now();
  const target = { game, host: address, port, queryPort: queryPort ?? null };
  const probe = await askTwice(deps.ask, target, manner);
  if (!probe.ok && probe.failure === 'stopped') return { kind: 'stopped' };
  if (!probe.ok && probe.failure === 'outgoing-limited') {
    await postpone(deps, server);
    return { kind: 'limited' };
  }
  const end = await judge(deps.canary, server, probe);
  // While we stop, a canary's silence means nothing either.
  if (end === 'canary-failed' && manner.signal?.aborted) return { kind: 'stopped' };
  const after = await record(deps, server, { probe, end, startedAt }, manner);
  if (!after) return { kind: 'void' };
  const wasThere = before.failures === 0 && statusAt(server, startedAt) === 'online';
  if (probe.ok && !wasThere) await wakeListener(deps, server._id);
  return { kind: 'recorded', probe, end, server: after };
}

async function askTwice(ask: Ask, target: Target, { signal, mayConnect }: Manner): Promise<Probe> {
  const probe = await ask(target, signal, mayConnect);
  if (probe.ok || !ASKED_AGAIN.has(probe.failure)) return probe;
  const again = await ask(target, signal, mayConnect);
  // What the first one saw is more than nothing.
  return !again.ok && again.failure === 'outgoing-limited' ? probe : again;
}

/** Gives the claim back: it is due again when the allowances begin anew. */
async function postpone({ servers, clock }: Checking, { _id, probe }: WithId<Server>): Promise<void> {
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
  // Not by its status: a dead server of which nothing was known for a while must not look like one that dies now.
  const lastSeenOnline = !!succeededAt && !offlineSince;
  canary.note(server._id.toHexString(), { lastSeenOnline, answered: probe.ok });
  if (probe.ok) return 'answered';
  return (await canary.works()) ? 'failed' : 'canary-failed';
}

type End = { probe: Probe; end: Check['end']; startedAt: Date };

/**
 * Writes the end of a check: one conditional update of the server, then the sample for the history. Killed between
 * them, a sample is lost and nothing counted twice.
 *
 * @returns the server after it; null when the check does not count any more
 */
async function record(
  deps: Checking,
  asked: WithId<Server>,
  { probe, end, startedAt }: End,
  { byHand, counts }: Manner,
): Promise<WithId<Server> | null> {
  const now = deps.clock.now();
  const latencyMs = probe.ok ? probe.answer.latencyMs : 0;
  const ended: Check = end === 'answered' ? { end, byHand, latencyMs } : { end, byHand };
  let before: WithId<Server> | null = asked;
  while (before && counts(before)) {
    const { state, sample } = stateAfter(before.probe, ended, now);
    const claim = byHand ? (state.claim ?? null) : null;
    const changes = {
      ...probeFields({ ...state, claim }),
      ...currentFields(probe, startedAt, now),
      ...(probe.ok ? comparedPlayers(probe.answer.onlinePlayers, now) : {}),
    };
    const after = await updateUnchanged(deps.servers, before, changes);
    if (after) {
      if (sample) await keepSample(deps, { ...sampleOf(sample, probe, after), at: now, serverId: after._id });
      return after;
    }
    // Somebody else wrote meanwhile: a check by hand, a claim, an edit.
    before = await deps.servers.findOne({ _id: asked._id, removedAt: null });
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

/** All but the revision, which is counted. */
function probeFields(state: ProbeState): Document {
  const { revision: _revision, ...fields } = state;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [`probe.${key}`, { $literal: value }]),
  );
}

/**
 * The current figures. A report that came after the question is newer than the answer; an answer without a message
 * or a version keeps the last one, as a report without them does.
 */
function currentFields(probe: Probe, startedAt: Date, now: Date): Document {
  const checkedAt = { 'current.checkedAt': { $max: ['$current.checkedAt', now] } };
  if (!probe.ok) return checkedAt;
  const reportIsNewer = { $gt: [{ $ifNull: ['$lastReport.at', new Date(0)] }, startedAt] };
  const { onlinePlayers, maxPlayers, motd, version } = probe.answer;
  const playersSource: Source = 'probes';
  const said = Object.entries({ onlinePlayers, maxPlayers, playersSource, motd, version }).filter(
    ([, value]) => value !== '',
  );
  const fields = said.map(([key, value]) => [
    `current.${key}`,
    { $cond: [reportIsNewer, `$current.${key}`, { $literal: value }] },
  ]);
  return { ...checkedAt, ...Object.fromEntries(fields) };
}

function sampleOf(sample: SampleOfCheck, probe: Probe, { current }: Server) {
  const figures = probe.ok
    ? probe.answer
    : { onlinePlayers: 0, maxPlayers: current.maxPlayers, latencyMs: null };
  const { onlinePlayers, maxPlayers, latencyMs } = figures;
  return { ...sample, source: 'probe' as const, onlinePlayers, maxPlayers, latencyMs };
}
