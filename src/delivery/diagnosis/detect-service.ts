import type { Collection } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { hasTakenVotes } from '../../listeners/listener-state.ts';
import { hasNotGreeted, type OutcomeCode } from '../../listeners/outcomes.ts';
import { AddressError, type AddressRanges } from '../../platform/address-guard.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { MayConnect, OutgoingLimitDeps } from '../../platform/limits/outgoing-limit.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import { deadlineIn, dial } from '../connection.ts';
import { Destination } from '../destination.ts';
import { type DetectedProtocol, detectProtocol, protocolOf } from './detect-protocol.ts';

type DetectDeps = { config: Pick<Config, 'LISTENER_TIMEOUT_MS'> & AddressRanges };
type StoreDeps = { listeners: Collection<Listener>; clock: Clock };

/** `mayConnect`: called before each connection. `stop`: ends the detection early. */
type Connecting = { mayConnect: MayConnect; stop?: AbortSignal };

/**
 * Detects what answers in place of a Votifier listener: from its first bytes if it sent some, otherwise by what it answers
 * to other protocols. Takes up to twice `LISTENER_TIMEOUT_MS`.
 *
 * @param code - the outcome of the attempt before: `hasNotGreeted`
 * @returns null when nothing was recognised
 */
export async function detectService(
  { config }: DetectDeps,
  { host, port }: Pick<Listener, 'host' | 'port'>,
  code: OutcomeCode,
  { mayConnect, stop }: Connecting,
): Promise<DetectedProtocol | null> {
  const timeoutMs = config.LISTENER_TIMEOUT_MS;
  const addresses = await addressesOf(host, config);
  if (code !== 'not-votifier') return detectProtocol(addresses, port, { timeoutMs, mayConnect, stop });
  const banner = await readBanner(addresses, port, timeoutMs, mayConnect);
  return banner && { fault: protocolOf(banner), reply: banner };
}

/** Stores what was detected with a listener, unless its settings changed meanwhile. */
export async function storeDetected(
  { listeners, clock }: StoreDeps,
  { serverId, _id, updatedAt }: Listener,
  found: DetectedProtocol | null,
): Promise<void> {
  const detected = { at: clock.now(), ...(found ? { service: found.fault } : {}) };
  await listeners.updateOne({ serverId, _id, updatedAt }, { $set: { detected } });
}

/**
 * Detects once for its settings what answers in place of a listener that has taken no vote and is paused or unreachable
 * because nothing greeted (docs/adr/0123-votes-at-risk.md). A listener that has taken votes is only slow or hangs: it is
 * sent nothing but votes.
 *
 * @param accountId - the owner of the listener's server; null when it has none
 */
export async function detectOnce(
  deps: DetectDeps & StoreDeps & OutgoingLimitDeps,
  listener: Listener,
  { accountId, stop }: { accountId: string | null; stop: AbortSignal },
): Promise<void> {
  const { pause, breaker, detected, updatedAt, protocol } = listener;
  const code = pause ? pause.code : breaker.openSince && breaker.code;
  if (protocol === 'http' || !code || !hasNotGreeted(code) || hasTakenVotes(listener)) return;
  if (detected && detected.at >= updatedAt) return;
  const destination = new Destination(deps, listener, { accountId });
  const found = await detectService(deps, listener, code, { mayConnect: destination.mayConnect, stop });
  // If a connection was not allowed, or the worker stops, a later drain detects it.
  if (found || (!destination.limited && !stop.aborted)) await storeDetected(deps, listener, found);
}

/** Checked once more: the name may have changed since the test vote. */
async function addressesOf(host: string, config: DetectDeps['config']): Promise<string[]> {
  try {
    return await resolveAddress(host, { ranges: config, timeoutMs: config.LISTENER_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof AddressError) return [];
    throw error;
  }
}

/** The first bytes that a service sends; null when it sends nothing this time. */
async function readBanner(
  addresses: string[],
  port: number,
  timeoutMs: number,
  mayConnect: MayConnect,
): Promise<Buffer | null> {
  const connection = await dial(addresses, port, deadlineIn(timeoutMs), mayConnect);
  if (typeof connection === 'string') return null;
  try {
    const received = await connection.next(deadlineIn(timeoutMs));
    return received.kind === 'bytes' ? received.bytes : null;
  } finally {
    connection.destroy();
  }
}
