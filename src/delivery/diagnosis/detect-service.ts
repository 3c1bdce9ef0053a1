import type { Collection } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { hasAcknowledged } from '../../listeners/listener-state.ts';
import { hasNotGreeted, type OutcomeCode } from '../../listeners/outcomes.ts';
import { AddressError, type AddressRanges } from '../../platform/address-guard.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { MayConnect, OutgoingLimitDeps } from '../../platform/limits/outgoing-limit.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import { deadlineIn, dial } from '../connection.ts';
import { Destination } from '../destination.ts';
import { type Detecting, type Detection, detectProtocol, protocolOf } from './detect-protocol.ts';

type DetectDeps = { config: Pick<Config, 'LISTENER_TIMEOUT_MS'> & AddressRanges };
type StoreDeps = { listeners: Collection<Listener>; clock: Clock };

/** `mayConnect`: called before each connection. `stop`: ends the detection early. */
type Connecting = { mayConnect: MayConnect; stop?: AbortSignal };

/**
 * Detects what answers in place of a Votifier listener: from its first bytes if it sent some, otherwise by what it answers
 * to other protocols. Takes up to twice `LISTENER_TIMEOUT_MS`.
 *
 * @param code - the outcome of the attempt before: `hasNotGreeted`
 * @returns `incomplete` as for `detectProtocol`, also when the host has no allowed address any more
 */
export async function detectService(
  { config }: DetectDeps,
  { host, port }: Pick<Listener, 'host' | 'port'>,
  code: OutcomeCode,
  { mayConnect, stop }: Connecting,
): Promise<Detection> {
  const timeoutMs = config.LISTENER_TIMEOUT_MS;
  const addresses = await addressesOf(host, config, stop);
  return code === 'not-votifier'
    ? detectBanner(addresses, port, { timeoutMs, mayConnect, stop })
    : detectProtocol(addresses, port, { timeoutMs, mayConnect, stop });
}

/**
 * Stores what was detected with a listener, unless its settings changed meanwhile. An incomplete detection leaves what
 * an earlier one found.
 */
export async function storeDetected(
  { listeners, clock }: StoreDeps,
  { serverId, _id, updatedAt }: Listener,
  found: Detection,
): Promise<void> {
  if (found === 'incomplete') return;
  const detected = { at: clock.now(), ...(found === 'unrecognised' ? {} : { service: found.fault }) };
  await listeners.updateOne({ serverId, _id, updatedAt }, { $set: { detected } });
}

/**
 * Detects once for its settings what answers in place of a listener that has taken no vote and is paused or unreachable
 * because nothing greeted (docs/adr/0123-votes-at-risk.md). A listener that has taken votes or a test vote is only slow or
 * hangs: it is sent nothing but votes. An incomplete detection is not stored, so a later drain repeats it.
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
  if (protocol === 'http' || !code || !hasNotGreeted(code) || hasAcknowledged(listener)) return;
  if (detected && detected.at >= updatedAt) return;
  const destination = new Destination(deps, listener, { accountId });
  const found = await detectService(deps, listener, code, { mayConnect: destination.mayConnect, stop });
  await storeDetected(deps, listener, found);
}

/** Checked once more: the name may have changed since the test vote. Empty when there is no address to connect to. */
async function addressesOf(
  host: string,
  config: DetectDeps['config'],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  try {
    return await resolveAddress(host, { ranges: config, timeoutMs: config.LISTENER_TIMEOUT_MS, signal });
  } catch (error) {
    if (error instanceof AddressError) return [];
    throw error;
  }
}

/** Detects the protocol of a service by the first bytes that it sends unasked. */
async function detectBanner(
  addresses: string[],
  port: number,
  { timeoutMs, mayConnect, stop }: Detecting,
): Promise<Detection> {
  const connection = await dial(addresses, port, deadlineIn(timeoutMs, stop), mayConnect);
  if (typeof connection === 'string') {
    // If it cannot be reached any more: a paused listener is not asked again with each vote.
    const isLater = connection === 'outgoing-limited' || connection === 'stopped-before-written';
    return isLater ? 'incomplete' : 'unrecognised';
  }
  try {
    const received = await connection.next(deadlineIn(timeoutMs, stop));
    if (received.kind === 'bytes') return { fault: protocolOf(received.bytes), reply: received.bytes };
    return received.kind === 'stopped' ? 'incomplete' : 'unrecognised';
  } finally {
    connection.destroy();
  }
}
