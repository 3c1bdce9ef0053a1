import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { QueryError, requireAskedPort, socketError } from './query-error.ts';

/** No honest server says more in one query. */
const MOST_BYTES = 64 * 1_024;

/** What a datagram counts at least, so that empty ones are bounded too. */
const LEAST_DATAGRAM = 64;

/** The address is already found and checked: nothing is looked up. */
function asItIs(
  address: string,
  _options: unknown,
  done: (error: null, address: string, family: number) => void,
) {
  done(null, address, isIPv6(address) ? 6 : 4);
}

/** What one request waits for. */
type Exchange = {
  bytes: Buffer;
  timeoutMs: number;
  /** Is handed every datagram until it makes something of one; returns undefined while more is needed. */
  take?: ((bytes: Buffer) => unknown) | undefined;
  /** Asked when the time is over: what to go on with, or undefined to fail. */
  late?: (() => unknown) | undefined;
};

/**
 * One query's UDP socket, connected: only the asked address and port are received, and the far machine's "nothing
 * listens here" (ICMP) reaches us. Every socket is one query's own, so a busy process loses no answers,
 * and none of another query is taken for ours.
 */
export class UdpConnection {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #waiting = new Set<Waiting>();
  #connected = false;
  #received = 0;
  #failed: Error | undefined;
  /** Milliseconds from a request to the first datagram after it, the shortest; null before there was one. */
  roundTripMs: number | null = null;

  /** @throws {QueryError} for a port that nothing of ours is sent to */
  constructor(address: string, port: number, where: string) {
    requireAskedPort(port);
    this.#where = where;
    this.#socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', lookup: asItIs });
    this.#socket
      .on('message', (bytes) => this.#hear(bytes))
      .on('error', (error) => this.fail(socketError(error, where)))
      .connect(port, address, (error?: Error) => {
        if (error) this.fail(socketError(error, where));
        this.#connected = !error;
        for (const waiting of this.#waiting) waiting.send();
      });
  }

  /**
   * Sends a request and waits for what `take` makes of the answers. UDP loses datagrams, so a request without
   * any answer is repeated once, half-way.
   *
   * @throws {QueryError} or what `take` and `late` throw
   */
  exchange(exchange: Exchange): Promise<unknown> {
    if (this.#failed) return Promise.reject(this.#failed);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting = new Waiting(exchange, {
      where: this.#where,
      send: () => this.#send(exchange.bytes),
      measured: (ms) => {
        this.roundTripMs = Math.min(ms, this.roundTripMs ?? ms);
      },
      settle: (settled) => {
        this.#waiting.delete(waiting);
        if ('made' in settled) resolve(settled.made);
        else reject(settled.error);
      },
    });
    this.#waiting.add(waiting);
    if (this.#connected) waiting.send();
    return promise;
  }

  #send(bytes: Buffer): void {
    if (this.#failed) return;
    this.#socket.send(bytes, (error) => {
      if (error) this.fail(socketError(error, this.#where));
    });
  }

  #hear(bytes: Buffer): void {
    this.#received += Math.max(bytes.length, LEAST_DATAGRAM);
    if (this.#received > MOST_BYTES) {
      this.fail(
        new QueryError('answer-too-long', `${this.#where} sends more than a game server has to say.`),
      );
      return;
    }
    for (const waiting of this.#waiting) waiting.take(bytes);
  }

  /** Ends the connection; whoever waits for an answer, now or later, is told `error`. */
  fail(error: Error): void {
    if (this.#failed) return;
    this.#failed = error;
    this.#socket.close();
    for (const waiting of this.#waiting) waiting.settle({ error });
  }
}

/** How a request ended. */
type Settled = { made: unknown } | { error: unknown };

type WaitingFor = { where: string; send(): void; measured(ms: number): void; settle(settled: Settled): void };

/** A request under way. */
class Waiting {
  readonly #exchange: Exchange;
  readonly #deps: WaitingFor;
  #sentAt = 0;
  #received = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(exchange: Exchange, deps: WaitingFor) {
    this.#exchange = exchange;
    this.#deps = deps;
  }

  send(): void {
    const { take, late, timeoutMs } = this.#exchange;
    this.#sentAt = performance.now();
    this.#deps.send();
    if (take || late) this.#timer = setTimeout(() => this.#repeat(), timeoutMs / 2);
    else this.settle({ made: null });
  }

  #repeat(): void {
    this.#deps.send();
    this.#timer = setTimeout(() => this.#giveUp(), this.#exchange.timeoutMs / 2);
  }

  take(bytes: Buffer): void {
    this.#received = true;
    const tookMs = performance.now() - this.#sentAt;
    this.#deps.measured(tookMs);
    try {
      const made = this.#exchange.take?.(bytes);
      if (made === undefined) this.#waitForMore(tookMs);
      else this.settle({ made });
    } catch (error) {
      this.settle({ error });
    }
  }

  /** An answer has begun: the request is not to be repeated. */
  #waitForMore(tookMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), Math.max(0, this.#exchange.timeoutMs - tookMs));
  }

  #giveUp(): void {
    try {
      const made = this.#exchange.late?.();
      this.settle(made === undefined ? { error: this.#silence() } : { made });
    } catch (error) {
      this.settle({ error });
    }
  }

  #silence(): QueryError {
    const { where } = this.#deps;
    return this.#received
      ? new QueryError('answer-broken', `What ${where} sends is not an answer of this game.`)
      : new QueryError('no-answer', `${where} did not answer in time.`);
  }

  settle(settled: Settled): void {
    clearTimeout(this.#timer);
    this.#deps.settle(settled);
  }
}
