import net, { isIPv6, type Socket } from 'node:net';
import { type Outcome, type OutcomeCode, outcome } from '../listeners/outcomes.ts';
import { AddressError, isRefusedPort } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import { type ResolveOptions, resolveAddress } from '../platform/resolve-address.ts';
import type { OnStep } from './diagnosis/diagnosis.ts';

/** `late`: no event came in time. */
export type ReadResult =
  | { kind: 'bytes'; bytes: Buffer }
  /** The peer closed its side normally. */
  | { kind: 'closed' }
  /** The connection was reset, or the peer no longer responds. */
  | { kind: 'broken'; code: string }
  | { kind: 'late' }
  | { kind: 'stopped' };

/** `until` is a time on `performance.now()`. */
export type Deadline = { until: number; stop?: AbortSignal | undefined };

export function deadlineIn(ms: number, stop?: AbortSignal): Deadline {
  return { until: performance.now() + ms, stop };
}

/** Reads one piece at a time and pauses between two reads: a peer that sends too much cannot fill the memory. */
export class PeerConnection {
  readonly #socket: Socket;
  #broken: string | undefined;

  /** Owns the connected socket from now on. */
  constructor(socket: Socket) {
    this.#socket = socket;
    // Never removed: an error between two reads would be an uncaught exception.
    socket.on('error', (error) => {
      this.#broken ??= errorCode(error);
    });
  }

  next({ until, stop }: Deadline): Promise<ReadResult> {
    return this.#nextEvent((late) => after(until, late), stop);
  }

  /**
   * What has arrived already, otherwise `late`: after two turns of the event loop, as one may not have polled the
   * sockets.
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

  /** For a library that uses it from now on; `destroy` still closes it. */
  get socket(): Socket {
    return this.#socket;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** @param giveUp - starts a timer that calls `late`; returns what cancels it */
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
 * Calls `late` at `until`; returns what cancels the call. In a busy process the timer fires late, and an answer in time
 * may still be unread: `late` comes one turn of the event loop later, unless `until` had passed before this call.
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

/** More addresses would leave too little time for each. */
const MOST_ADDRESSES = 4;

/** The failure that is reported is the first of these: an address that a limit left out may work. */
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
 * Connects to the first address that accepts the connection; each gets an equal share of the remaining time. The time
 * of `mayConnect`, which queries MongoDB, is not counted: a slow database does not make a listener look slow.
 *
 * @param addresses - checked IP addresses (see address-guard.ts), never names
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
      // A destroyed socket may still report an error, so it keeps its handler.
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

/** Before this a firewall sent EHOSTUNREACH: a router first looks for the machine (ARP). */
const AT_ONCE_MS = 1_000;

/**
 * What the error of `connect(2)` means. Many plugins listen over IPv4 only: a refusal over IPv6 is a case of its own.
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
    // Linux reports EACCES for the ICMP message “prohibited” over IPv6, and EPERM if this machine's firewall blocks.
    case 'EACCES':
    case 'EPERM':
      return 'firewall-rejected';
    case 'EHOSTUNREACH':
      return tookMs < AT_ONCE_MS ? 'firewall-rejected' : 'unreachable';
    // This machine has too few sockets or too little memory.
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

/** `timeoutMs` limits the look-up and, separately, the connection. */
type ConnectOptions = ResolveOptions & {
  onStep?: OnStep | undefined;
  destination?: { mayConnect: MayConnect } | undefined;
};

/** @param addresses - checked ones of a listener's host */
export async function connectTo(
  addresses: string[],
  port: number,
  { timeoutMs, signal, destination }: ConnectOptions,
): Promise<PeerConnection | Outcome> {
  const connected = await dial(addresses, port, deadlineIn(timeoutMs, signal), destination?.mayConnect);
  return typeof connected === 'string' ? outcome(connected, 'resolved') : connected;
}

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
