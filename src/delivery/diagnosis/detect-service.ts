import type { Listener } from '../../listeners/listener.ts';
import { hasAcknowledged } from '../../listeners/listener-state.ts';
import { type OutcomeCode, outcomeOf } from '../../listeners/outcomes.ts';
import { AddressError } from '../../platform/address-guard.ts';
import { resolveAddress } from '../../platform/resolve-address.ts';
import type { DeliveryDeps } from '../deps.ts';
import { Destination } from '../destination.ts';
import { deadlineIn, dial } from '../peer-connection.ts';
import { type Detecting, type Detection, detectProtocol, protocolOf } from './detect-protocol.ts';

/**
 * Detects the service that answers in place of a Votifier listener. Takes up to three times `LISTENER_TIMEOUT_MS`, with
 * the look-up. `code` is the outcome of the failed attempt.
 */
export async function detectService(
  { config }: DeliveryDeps,
  { host, port }: Pick<Listener, 'host' | 'port'>,
  code: OutcomeCode,
  detecting: Omit<Detecting, 'timeoutMs'>,
): Promise<Detection> {
  const options = { timeoutMs: config.LISTENER_TIMEOUT_MS, ...detecting };
  const addresses = await addressesOf(host, config, options.stop);
  if (addresses.length === 0) return 'incomplete';
  return code === 'not-votifier'
    ? detectBanner(addresses, port, options)
    : detectProtocol(addresses, port, options);
}

/** Stores a detection, unless the listener's settings changed. */
export async function storeDetected(
  { listeners, clock }: DeliveryDeps,
  { serverId, _id, updatedAt }: Listener,
  found: Detection,
): Promise<void> {
  if (found === 'incomplete') return;
  const detected = { at: clock.now(), ...(found === 'unrecognised' ? {} : { service: found.fault }) };
  await listeners.updateOne({ serverId, _id, updatedAt }, { $set: { detected } });
}

/**
 * Detects, once for these settings, which service answers in place of a stopped listener that never greeted
 * (docs/adr/0123-votes-at-risk.md). A listener that has taken votes is only slow or hangs: it is sent nothing but
 * votes. If the detection is incomplete, a later drain repeats it.
 */
export async function detectOnce(
  deps: DeliveryDeps,
  listener: Listener,
  { accountId, stop }: { accountId: string | null; stop: AbortSignal },
): Promise<void> {
  const { pause, breaker, detected, updatedAt, protocol } = listener;
  const code = pause ? pause.code : breaker.openSince && breaker.code;
  if (protocol === 'http' || !code || !outcomeOf(code).hasNotGreeted || hasAcknowledged(listener)) return;
  if (detected && detected.at >= updatedAt) return;
  const destination = new Destination(deps, listener, { accountId });
  const { mayConnect } = destination;
  // One connection at a time: TEST_CONCURRENCY limits the connections to listeners that may never answer.
  const found = await detectService(deps, listener, code, { mayConnect, stop, inTurn: true });
  await storeDetected(deps, listener, found);
}

/** Read anew because they may change; empty if the look-up fails or one is refused. */
async function addressesOf(
  host: string,
  config: DeliveryDeps['config'],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  try {
    return await resolveAddress(host, { ranges: config, timeoutMs: config.LISTENER_TIMEOUT_MS, signal });
  } catch (error) {
    if (error instanceof AddressError) return [];
    throw error;
  }
}

async function detectBanner(
  addresses: string[],
  port: number,
  { timeoutMs, mayConnect, stop }: Detecting,
): Promise<Detection> {
  const connection = await dial(addresses, port, deadlineIn(timeoutMs, stop), mayConnect);
  if (typeof connection === 'string') {
    // If the service is not reachable any more: `unrecognised` is stored, and later drains do not detect it again.
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
