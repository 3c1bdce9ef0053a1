import type { Document } from 'mongodb';
import { editionOf } from '../games/editions.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { AddressState, CheckedState } from '../servers/checked-state.ts';
import { secondOf } from '../servers/second-address.ts';
import type { Server } from '../servers/server.ts';
import type { Ask, Probe, ProbeFailure, Target } from './ask.ts';
import { addressStateAfter, type Check, isAddressDue } from './probe-state.ts';
import { type Answered, playersOfBoth } from './same-players.ts';

export type AskOptions = {
  byHand: boolean;
  signal: AbortSignal | undefined;
  mayConnect(state: CheckedState, port: number): MayConnect | undefined;
};

/** Null: this address was not asked now. */
export type AddressProbes = { first: Probe | null; second: Probe | null };

/** How the check of each address ended, as `Check` of the whole server. Null: its state stays. */
export type AddressEnds = { first: AddressEnd | null; second: AddressEnd | null };
type AddressEnd = { end: Check['end']; latencyMs: number; onlinePlayers: number | null };

/** A network error may have caused them: the query is repeated at once. */
const RETRIED: ReadonlySet<ProbeFailure> = new Set(['answer-broken', 'closed']);

/** Tallyport refuses to query the server, so its state is unknown. */
const NOT_ASKED: ReadonlySet<ProbeFailure> = new Set(['game-unknown', 'address-refused']);

export function isNotAsked(probe: Probe): boolean {
  return !probe.ok && NOT_ASKED.has(probe.failure);
}

/**
 * Asks the address of the server, or both at the same time. `each` is null for a server with one address. An address
 * that has been offline for long is asked less often, but always when the other one does not answer.
 */
export async function askAddresses(
  ask: Ask,
  server: Server & { game: string },
  options: AskOptions,
  now: Date,
): Promise<{ probe: Probe; each: AddressProbes | null }> {
  const { game, address, port, queryPort, probe } = server;
  const target = { game, host: address, port, queryPort: queryPort ?? null };
  const second = secondOf(server);
  if (!second) return { probe: await queryTwice(ask, target, options, probe), each: null };
  const { firstState, state } = second;
  const other = { game: second.game.id, host: second.address, port: second.port, queryPort: null };
  const askFirst = () => queryTwice(ask, target, options, firstState);
  const askSecond = () => queryTwice(ask, other, options, state);
  const isDue = (one: AddressState) => options.byHand || isAddressDue(one, now);
  const each: AddressProbes = { first: null, second: null };
  [each.first, each.second] = await Promise.all([
    isDue(firstState) ? askFirst() : null,
    isDue(state) ? askSecond() : null,
  ]);
  if (!each.first?.ok && !each.second?.ok) {
    [each.first, each.second] = await Promise.all([each.first ?? askFirst(), each.second ?? askSecond()]);
  }
  const mayHide = (probe: Probe | null, { status }: AddressState) =>
    probe !== null && !probe.ok && probe.failure === 'outgoing-limited' && status !== 'offline';
  const isPostponed = mayHide(each.first, firstState) || mayHide(each.second, state);
  return { probe: probeOfBoth(game, each, isPostponed), each };
}

async function queryTwice(
  ask: Ask,
  target: Target,
  { signal, mayConnect }: AskOptions,
  state: CheckedState,
): Promise<Probe> {
  const allowed = mayConnect(state, target.port);
  const probe = await ask(target, signal, allowed);
  if (probe.ok || !RETRIED.has(probe.failure)) return probe;
  const again = await ask(target, signal, allowed);
  // A limit prevents the second query.
  return !again.ok && again.failure === 'outgoing-limited' ? probe : again;
}

/**
 * Online if one of them answers. If none does: what ends the check or postpones it, then a failure that counts. So an
 * address that Tallyport refuses to ask, or that was offline and is limited now, does not keep the other one's failures
 * from counting.
 *
 * @param isPostponed - an address was not asked because of a limit, and may be online
 */
function probeOfBoth(game: string, { first, second }: AddressProbes, isPostponed: boolean): Probe {
  const probes = [first, second].filter((probe) => probe !== null);
  const stopped = probes.find((probe) => !probe.ok && probe.failure === 'stopped');
  if (stopped) return stopped;
  if (first?.ok && second?.ok) return bothAnswered(game, first, second);
  const answered = probes.find(({ ok }) => ok);
  const limited = probes.find((probe) => !probe.ok && probe.failure === 'outgoing-limited');
  const counted = probes.find((probe) => !isNotAsked(probe) && probe !== limited);
  const [chosen] = [answered, isPostponed ? limited : counted, limited, counted, ...probes].filter(
    (probe) => probe !== undefined,
  );
  if (!chosen) throw new Error('no address was asked');
  return chosen;
}

/** Message, version, icon and latency are those of the first address. */
function bothAnswered(game: string, first: Answered, second: Answered): Probe {
  const [java, bedrock] = editionOf(game) === 'java' ? [first, second] : [second, first];
  const { motd, version, icon = second.answer.icon } = first.answer;
  const texts = { motd: motd || second.answer.motd, version: version || second.answer.version };
  return {
    ...first,
    answer: {
      ...first.answer,
      ...texts,
      ...(icon === undefined ? {} : { icon }),
      ...playersOfBoth(java, bedrock),
    },
  };
}

/** `canaryWorks` is asked once, only if an address failed: each failure counts only if the canary answers after it. */
export async function endsOf(
  { first, second }: AddressProbes,
  canaryWorks: () => Promise<boolean>,
): Promise<AddressEnds> {
  const failed = [first, second].some(
    (probe) => probe && !probe.ok && !isNotAsked(probe) && !isLimited(probe),
  );
  const isCounted = failed && (await canaryWorks());
  const endOf = (probe: Probe | null): AddressEnd | null => {
    if (!probe || isLimited(probe)) return null;
    const failure = isCounted ? 'failed' : 'canary-failed';
    if (!probe.ok)
      return { end: isNotAsked(probe) ? 'not-asked' : failure, latencyMs: 0, onlinePlayers: null };
    const { latencyMs, onlinePlayers } = probe.answer;
    return { end: 'answered', latencyMs, onlinePlayers };
  };
  return { first: endOf(first), second: endOf(second) };
}

function isLimited(probe: Probe): boolean {
  return !probe.ok && probe.failure === 'outgoing-limited';
}

/** A part of the update that records a check. */
export function addressFields(
  { second, probe }: Server,
  ends: AddressEnds | null,
  byHand: boolean,
  now: Date,
): Document {
  if (!second || !ends) return {};
  const { claimSeconds: seconds, intervalSeconds } = probe;
  const next = (before: AddressState, ended: AddressEnd | null): AddressState => {
    if (!ended) return before;
    const { end, latencyMs, onlinePlayers } = ended;
    const check: Check = end === 'answered' ? { end, byHand, latencyMs } : { end, byHand };
    const state = addressStateAfter(before, check, now, { seconds, intervalSeconds });
    return end === 'answered' ? { ...state, onlinePlayers } : state;
  };
  return {
    'second.firstState': { $literal: next(second.firstState, ends.first) },
    'second.state': { $literal: next(second.state, ends.second) },
  };
}
