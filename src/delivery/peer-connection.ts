import net, { isIPv6, type Socket } from 'node:net';
import { type Outcome, type OutcomeCode, outcome } from '../listeners/outcomes.ts';
import { AddressError, isRefusedPort } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import { type ResolveOptions, resolveAddress } from '../platform/resolve-address.ts';
import type { OnStep } from './diagnosis/diagnosis.ts';

/** The next event of a connection, or why the wait for it ended. `late`: no event came in time. */
export type ReadResult =
  | { kind: 'bytes'; bytes: Buffer }
  /** The peer closed its side normally. */
  | { kind: 'closed' }
  /** The connection was reset, or the peer no longer responds. */
  | { kind: 'broken'; code: string }
  | { kind: 'late' }
  | { kind: 'stopped' };

/** How long to wait: until a time on `performance.now()`, or until `stop` is aborted. */
export type Deadline = { until: number; stop?: AbortSignal | undefined };

export function deadlineIn(ms: number, stop?: AbortSignal): Deadline {
  return { until: performance.now() + ms, stop };
}

/** Reads one piece at a time and pauses between two reads: a peer that sends too much cannot fill the memory. */
export class PeerConnection {
  readonly #socket: Socket;
  #broken: string | undefined;

  /** @param socket - a connected socket, which this connection owns from now on */
  constructor(socket: Socket) {
    this.#socket = socket;
    // The handler is never removed: without it, an error between two reads would be an uncaught exception.
    socket.on('error', (error) => {
      this.#broken ??= errorCode(error);
    });
  }

  /** The peer's next event before the deadline. */
  next({ until, stop }: Deadline): Promise<ReadResult> {
    return this.#nextEvent((late) => after(until, late), stop);
  }

  /**
   * Returns the peer's next event if it has already arrived, otherwise `late`. It waits for two iterations of the event
   * loop: after only one, the sockets may not have been polled yet.
   */
  readArrived(): Promise<ReadResult> {
    return this.#nextEvent((late) => {
      let turn = setImmediate(() => {
        turn = setImmediate(late);
      });
      return () => clearImmediate(turn);
    });
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** The socket itself, for a library that uses it from now on; `destroy` still closes it. */
  get socket(): Socket {
    return this.#socket;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** @param giveUp - starts a timer that calls `late`; returns a function that cancels the timer */
  #nextEvent(giveUp: (late: () => void) => () => void, stop?: AbortSignal): Promise<ReadResult> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      const settle = (received: ReadResult) => {
        cancel();
        stop?.removeEventListener('abort', onStop);
        socket.off('data', onData).off('end', onEnd).off('close', onClose).pause();
        resolve(received);
      };
      const onData = (bytes: Buffer) => settle({ kind: 'bytes', bytes });
      const onEnd = () => settle({ kind: 'closed' });
      const onClose = () =>
        settle(this.#broken ? { kind: 'broken', code: this.#broken } : { kind: 'closed' });
      const onStop = () => settle({ kind: 'stopped' });
      const cancel = giveUp(() => settle({ kind: 'late' }));

      if (stop?.aborted) onStop();
      else if (socket.destroyed) onClose();
      else {
        stop?.addEventListener('abort', onStop);
        socket.on('data', onData).on('end', onEnd).on('close', onClose).resume();
      }
    });
  }
}

/**
 * Calls `late` when the time `until` has passed; returns a function that cancels the call. If the process is busy, the
 * timer fires late, and an answer that arrived in time may still be unread. So `late` is called one turn of the event
 * loop after the timer, unless `until` had passed before this call.
 */
function after(until: number, late: () => void): () => void {
  const remaining = until - performance.now();
  let turn: NodeJS.Immediate | undefined;
  const timer = setTimeout(
    () => {
      if (remaining <= 0) late();
      else turn = setImmediate(late);
    },
    Math.max(0, Math.ceil(remaining)),
  );
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}

/** If a host has many addresses that do not respond, trying all of them would leave too little time for each. */
const MOST_ADDRESSES = 4;

/**
 * If the addresses failed in different ways, the failure that is first in this list is reported. A limit comes first:
 * an address that was not tried because of a limit may work, although the others failed.
 */
const FAILURE_PRIORITY = [
  'outgoing-limited',
  'our-fault',
  'closed-before-greeting',
  'connection-refused',
  'refused-over-ipv6',
  'firewall-rejected',
  'connect-timeout',
  'unreachable',
] as const satisfies OutcomeCode[];

export type DialFailure = (typeof FAILURE_PRIORITY)[number] | 'address-refused' | 'stopped-before-written';

/**
 * Connects to the first address that accepts the connection. Each address gets an equal share of the remaining time.
 * The time of `mayConnect`, which queries MongoDB, is not counted: a slow database does not make a listener look slow.
 *
 * @param addresses - checked IP addresses (see address-guard.ts), never names
 * @param mayConnect - called before each connection; if it returns false, this address is skipped
 * @returns a connection, or why there is none; `address-refused` for a port that Tallyport never connects to
 */
export async function dial(
  addresses: string[],
  port: number,
  { until, stop }: Deadline,
  mayConnect?: MayConnect,
): Promise<PeerConnection | DialFailure> {
  if (isRefusedPort(port)) return 'address-refused';
  const candidates = addresses.slice(0, MOST_ADDRESSES);
  const failures: DialFailure[] = [];
  let end = until;
  for (const [index, address] of candidates.entries()) {
    const askedAt = performance.now();
    const isAllowed = !mayConnect || (await mayConnect(address));
    end += performance.now() - askedAt;
    if (!isAllowed) {
      failures.push('outgoing-limited');
      continue;
    }
    const share = (end - performance.now()) / (candidates.length - index);
    const connected = await connect(address, port, deadlineIn(share, stop));
    if (connected instanceof PeerConnection || connected === 'stopped-before-written') return connected;
    failures.push(connected);
  }
  return FAILURE_PRIORITY.find((failure) => failures.includes(failure)) ?? 'unreachable';
}

function connect(
  address: string,
  port: number,
  { until, stop }: Deadline,
): Promise<PeerConnection | DialFailure> {
  return new Promise((resolve) => {
    if (stop?.aborted) {
      resolve('stopped-before-written');
      return;
    }
    const began = performance.now();
    const socket = net.connect({ host: address, port });
    const settle = (result: PeerConnection | DialFailure) => {
      cancel();
      stop?.removeEventListener('abort', onStop);
      socket.off('connect', onConnect);
      // A socket that is destroyed here may still report an error, so it keeps its error handler.
      if (result instanceof PeerConnection) socket.off('error', onError);
      else socket.destroy();
      resolve(result);
    };
    const onConnect = () => settle(new PeerConnection(socket));
    const onError = (error: Error) =>
      settle(connectFailure(errorCode(error), performance.now() - began, isIPv6(address)));
    const onStop = () => settle('stopped-before-written');
    const cancel = after(until, () => settle('connect-timeout'));
    stop?.addEventListener('abort', onStop);
    socket.on('connect', onConnect).on('error', onError);
  });
}

/**
 * If EHOSTUNREACH comes within this time, a firewall sent it. A router takes longer, because it first looks for the
 * machine (ARP).
 */
const AT_ONCE_MS = 1_000;

/**
 * What the system error `code` of `connect(2)`, such as `ECONNREFUSED`, means after `tookMs` milliseconds. Many plugins
 * listen over IPv4 only, so a refusal over IPv6 has a result of its own.
 */
export function connectFailure(code: string, tookMs: number, overIPv6 = false): DialFailure {
  switch (code) {
    case 'ECONNREFUSED':
      return overIPv6 ? 'refused-over-ipv6' : 'connection-refused';
    case 'ETIMEDOUT':
      return 'connect-timeout';
    // The peer accepted the connection and reset it before Node reported it as connected.
    case 'ECONNRESET':
      return 'closed-before-greeting';
    // If a firewall sends the ICMP message “prohibited”, Linux reports EACCES over IPv6. If the firewall of this
    // machine blocks the connection, Linux reports EPERM.
    case 'EACCES':
    case 'EPERM':
      return 'firewall-rejected';
    case 'EHOSTUNREACH':
      return tookMs < AT_ONCE_MS ? 'firewall-rejected' : 'unreachable';
    // This machine has too few sockets or too little memory; the listener is not the cause.
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
    case 'ENOMEM':
      return 'our-fault';
    default:
      return 'unreachable';
  }
}

function errorCode(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}

/** `timeoutMs` limits the look-up of the name and, separately, the connection. Aborting `signal` stops both. */
type ConnectOptions = ResolveOptions & {
  onStep?: OnStep | undefined;
  destination?: { mayConnect: MayConnect } | undefined;
};

/** Connects to one of these checked addresses of a listener's host. Returns the outcome if there is no connection. */
export async function connectTo(
  addresses: string[],
  port: number,
  { timeoutMs, signal, destination }: ConnectOptions,
): Promise<PeerConnection | Outcome> {
  const connected = await dial(addresses, port, deadlineIn(timeoutMs, signal), destination?.mayConnect);
  return typeof connected === 'string' ? outcome(connected, 'resolved') : connected;
}

/** Resolves a listener's host, checks its addresses and connects. Returns the outcome if there is no connection. */
export async function resolveAndConnect(
  host: string,
  port: number,
  options: ConnectOptions,
): Promise<PeerConnection | Outcome> {
  const { onStep } = options;
  onStep?.('name-resolution');
  let addresses: string[];
  try {
    addresses = await resolveAddress(host, { ...options, onResolved: () => onStep?.('address-policy') });
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    if (error.code === 'stopped') return outcome('stopped-before-written', 'none');
    return outcome(error.code, error.code === 'address-refused' ? 'resolved' : 'none');
  }
  onStep?.('connecting');
  return connectTo(addresses, port, options);
}
