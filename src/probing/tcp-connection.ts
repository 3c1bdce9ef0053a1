import net, { type Socket } from 'node:net';
import { QueryError, requireAllowedPort, socketError } from './query-error.ts';

/** Over one connection; real servers send less. */
const MOST_BYTES = 256 * 1_024;

/** Each segment passes all bytes of the answer to the parser again: a server that sends byte by byte is limited. */
const MOST_PARSED = 128 * MOST_BYTES;

/** A late segment may complete an answer that cannot be read. */
const LATE_SEGMENT_MS = 1_000;

export class TcpConnection {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #opened: Promise<void>;
  #fail: (error: Error) => void = () => {};
  #failed: Error | undefined;
  #ended = false;
  #received = 0;
  #parsed = 0;
  /** How long connecting took, in milliseconds. */
  roundTripMs: number | null = null;

  /** @throws {QueryError} for a refused port */
  constructor(address: string, port: number, where: string) {
    requireAllowedPort(port);
    this.#where = where;
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

  get hasReceived(): boolean {
    return this.#received > 0;
  }

  /** @throws {QueryError} when there is no connection */
  opened(): Promise<void> {
    return this.#opened;
  }

  /**
   * Sends a request. `take` gets all data since, until it returns a result; an error of it that is no QueryError counts
   * only if no more data arrives.
   */
  exchange<T>(bytes: Buffer | string, take: (bytes: Buffer) => T | undefined): Promise<T> {
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
          const made = take(received);
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
    throw new QueryError('answer-too-long', `${this.#where} sends more data than a game server should.`);
  }

  #closed(): QueryError {
    return new QueryError('closed', `${this.#where} closed the connection before there was an answer.`);
  }

  /** Pending and later requests reject with `error`. */
  fail(error: Error): void {
    this.#failed ??= error;
    this.#socket.destroy();
    this.#fail(this.#failed);
  }
}
