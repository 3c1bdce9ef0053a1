import net, { type Socket } from 'node:net';
import { QueryError, requireAskedPort, socketError } from './query-error.ts';

/** No honest server says more in one query. */
const MOST_BYTES = 256 * 1_024;

/** Bytes handed to a parser, counted anew each time: a far end that drips must not keep it busy. */
const MOST_PARSED = 128 * MOST_BYTES;

/** How long an answer that cannot be read may yet be completed by a late segment. */
const LATE_SEGMENT_MS = 1_000;

/**
 * Where an answer ends, if the protocol says so at its beginning: the length of the first whole one, or
 * undefined while its end has not come.
 */
export type Framing = (received: Buffer) => number | undefined;

/** One query's TCP connection. */
export class TcpConnection {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #framing: Framing | undefined;
  readonly #opened: Promise<void>;
  #fail: (error: Error) => void = () => {};
  #failed: Error | undefined;
  #ended = false;
  #received = 0;
  #parsed = 0;
  /** Milliseconds that connecting took; null before. */
  roundTripMs: number | null = null;

  /** @throws {QueryError} for a port that nothing of ours is sent to */
  constructor(address: string, port: number, where: string, framing?: Framing) {
    requireAskedPort(port);
    this.#where = where;
    this.#framing = framing;
    const began = performance.now();
    this.#socket = net.connect({ host: address, port, noDelay: true });
    this.#opened = new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#socket.on('connect', () => {
        this.roundTripMs = performance.now() - began;
        resolve();
      });
    });
    this.#opened.catch(() => {});
    this.#socket
      .on('error', (error) => this.fail(socketError(error, where)))
      .on('end', () => {
        this.#ended = true;
      })
      .on('close', () => {
        if (!this.#failed) this.fail(this.#closed());
      });
  }

  /** @throws {QueryError} when there is no connection */
  opened(): Promise<void> {
    return this.#opened;
  }

  /**
   * Sends a request and hands all that came since to `take` until it makes something of it.
   *
   * @param take - returns undefined while more is needed. What it throws counts only when no more comes.
   * @throws {QueryError} or what `take` threw
   */
  exchange(bytes: Buffer | string, take: (bytes: Buffer) => unknown): Promise<unknown> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
      let unread: unknown;
      let timer: NodeJS.Timeout | undefined;
      const settle = (act: () => void) => {
        clearTimeout(timer);
        socket.off('data', onData).off('end', onEnd).pause();
        this.#fail = () => {};
        act();
      };
      const onEnd = () => settle(() => reject(unread ?? this.#closed()));
      const onData = (segment: Buffer) => {
        clearTimeout(timer);
        received = received.length === 0 ? segment : Buffer.concat([received, segment]);
        try {
          this.#count(segment.length, received.length);
          const made = this.#read(received, take);
          unread = undefined;
          if (made !== undefined) settle(() => resolve(made));
        } catch (error) {
          unread = error;
          if (error instanceof QueryError) onEnd();
          else timer = setTimeout(onEnd, LATE_SEGMENT_MS);
        }
      };
      if (this.#failed || this.#ended) {
        reject(this.#failed ?? this.#closed());
        return;
      }
      this.#fail = (error) => settle(() => reject(unread ?? error));
      socket.on('data', onData).on('end', onEnd).resume();
      socket.write(bytes);
    });
  }

  #count(segment: number, received: number): void {
    this.#received += segment;
    this.#parsed += received;
    if (this.#received <= MOST_BYTES && this.#parsed <= MOST_PARSED) return;
    throw new QueryError('answer-too-long', `${this.#where} sends more than a game server has to say.`);
  }

  #read(received: Buffer, take: (bytes: Buffer) => unknown): unknown {
    if (!this.#framing) return take(received);
    const length = this.#framing(received);
    if (length === undefined) return undefined;
    if (length > MOST_BYTES) {
      throw new QueryError('answer-too-long', `${this.#where} announces more than a game server has to say.`);
    }
    if (received.length < length) return undefined;
    const made = take(received.subarray(0, length));
    if (made === undefined) {
      throw new QueryError('answer-broken', `What ${this.#where} sends is not an answer of this game.`);
    }
    return made;
  }

  #closed(): QueryError {
    return new QueryError('closed', `${this.#where} closed the connection before there was an answer.`);
  }

  /** Ends the connection; whoever waits, now or later, is told `error`. */
  fail(error: Error): void {
    this.#failed ??= error;
    this.#socket.destroy();
    this.#fail(this.#failed);
  }
}
