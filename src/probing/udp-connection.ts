import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { QueryError, requireAllowedPort, socketError } from './query-error.ts';

/** Of one query, in bytes; real servers send less. */
const MOST_BYTES = 64 * 1_024;

/** Empty datagrams are limited too. */
const LEAST_DATAGRAM = 64;

/** The address is resolved and checked already. */
function noLookup(
  address: string,
  _options: unknown,
  done: (error: null, address: string, family: number) => void,
) {
  done(null, address, isIPv6(address) ? 6 : 4);
}

type Exchange = {
  bytes: Buffer;
  timeoutMs: number;
  /** Called with every datagram; undefined while it needs more. */
  take?: ((bytes: Buffer) => unknown) | undefined;
  /** Undefined makes the request fail. */
  onTimeout?: (() => unknown) | undefined;
};

/**
 * Receives only from the queried address and port, and reports ICMP "port unreachable". Each query has its own, so a
 * busy process neither loses answers nor mixes them up.
 */
export class UdpConnection {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #waiting = new Set<Waiting>();
  #connected = false;
  #received = 0;
  #failed: Error | undefined;
  /** The shortest from a request to the first datagram after it, in milliseconds. */
  roundTripMs: number | null = null;

  /** @throws {QueryError} for a refused port */
  constructor(address: string, port: number, where: string) {
    requireAllowedPort(port);
    this.#where = where;
    this.#socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', lookup: noLookup });
    this.#socket
      .on('message', (bytes) => this.#receive(bytes))
      .on('error', (error) => this.fail(socketError(error, where)))
      .connect(port, address, (error?: Error) => {
        if (error) this.fail(socketError(error, where));
        this.#connected = !error;
        for (const waiting of this.#waiting) waiting.send();
      });
  }

  /** UDP loses datagrams: after half of the timeout, the request is sent once more. */
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

  #receive(bytes: Buffer): void {
    this.#received += Math.max(bytes.length, LEAST_DATAGRAM);
    if (this.#received > MOST_BYTES) {
      this.fail(
        new QueryError('answer-too-long', `${this.#where} sends more data than a game server should.`),
      );
      return;
    }
    for (const waiting of this.#waiting) waiting.take(bytes);
  }

  /** Pending and later requests reject with `error`. */
  fail(error: Error): void {
    if (this.#failed) return;
    this.#failed = error;
    this.#socket.close();
    for (const waiting of this.#waiting) waiting.settle({ error });
  }
}

type Settled = { made: unknown } | { error: unknown };

type WaitingFor = { where: string; send(): void; measured(ms: number): void; settle(settled: Settled): void };

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
    const { take, onTimeout, timeoutMs } = this.#exchange;
    this.#sentAt = performance.now();
    this.#deps.send();
    if (take || onTimeout) this.#timer = setTimeout(() => this.#repeat(), timeoutMs / 2);
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

  /** An answer has begun to arrive: the request is not repeated. */
  #waitForMore(tookMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#giveUp(), Math.max(0, this.#exchange.timeoutMs - tookMs));
  }

  #giveUp(): void {
    try {
      const made = this.#exchange.onTimeout?.();
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
