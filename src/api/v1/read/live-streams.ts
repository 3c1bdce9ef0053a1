import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { MINUTE, SECOND } from '../../../platform/clock.ts';
import { networksOf } from '../../../platform/limits/network-of.ts';

/** Of a server, by field. */
export type LiveState = Record<string, unknown>;

export const LIVE = {
  /** Between two reads of a server, and two events of a stream. */
  everyMs: 5 * SECOND,
  /** A comment comes after so long without an event. */
  commentMs: 15 * SECOND,
  /** Below the time after which `CONNECTION_LIMITS` closes a connection. Clients of event streams connect again. */
  longestMs: 9 * MINUTE,
  most: 5_000,
  mostOfNetwork: 50,
  /** A client with more unread bytes than this is disconnected. */
  mostUnreadBytes: 16 * 1_024,
};

/** How many streams are visited before other work has its turn. */
const A_TURN = 50;
/** How many servers one query reads. */
const A_READ = 100;

const HELLO = `retry: ${LIVE.everyMs}\n\n`;
const COMMENT = ': still here\n\n';

type Stream = {
  serverId: string;
  response: ServerResponse;
  /** What the client knows. */
  known: LiveState;
  /** By `performance.now()`. */
  openedAt: number;
  writtenAt: number;
  eventAt: number;
};

type Read = (serverIds: string[]) => Promise<Map<string, LiveState>>;
type Limits = typeof LIVE;

/**
 * The open event streams of a process. One timer reads the servers that have streams, all in one query for each
 * hundred, and writes what changed. It runs only while there are streams; nothing of the database is held between reads.
 */
export class LiveStreams {
  readonly #read: Read;
  readonly #limits: Limits;
  readonly #noteFailure: (error: unknown) => void;
  readonly #tickNow: () => void;
  /** By server. Streams that are opened soon after each other share one read. */
  readonly #states: LRUCache<string, LiveState>;
  readonly #streams = new Set<Stream>();
  readonly #ofServers = new Map<string, Set<Stream>>();
  readonly #ofNetworks = new Map<string, number>();
  /** Streams and those that are being opened. */
  #places = 0;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #isEnded = false;

  constructor(read: Read, noteFailure: (error: unknown) => void, limits: Limits = LIVE) {
    this.#read = read;
    this.#noteFailure = noteFailure;
    this.#limits = limits;
    // The timer must not run in the asynchronous context of the request that began it.
    this.#tickNow = AsyncResource.bind(() => void this.#tick());
    this.#states = new LRUCache({
      maxSize: limits.most,
      sizeCalculation: () => 1,
      ttl: limits.everyMs,
      fetchMethod: async (serverId) => (await read([serverId])).get(serverId),
      ignoreFetchAbort: true,
    });
  }

  get size(): number {
    return this.#streams.size;
  }

  /** What the first event says; undefined if the server is not listed any more. */
  stateOf(serverId: string): Promise<LiveState | undefined> {
    return this.#states.fetch(serverId);
  }

  /** A place for a stream, which `leave` gives back. Otherwise the limit that has no place left. */
  takePlace(address: string): { leave: () => void } | 'process' | 'network' {
    const networks = networksOf(address);
    const { most, mostOfNetwork } = this.#limits;
    if (
      networks.some(({ network, factor }) => (this.#ofNetworks.get(network) ?? 0) >= factor * mostOfNetwork)
    )
      return 'network';
    if (this.#places >= most || this.#isEnded) return 'process';
    const add = (by: 1 | -1) => {
      this.#places += by;
      for (const { network } of networks) {
        const count = (this.#ofNetworks.get(network) ?? 0) + by;
        if (count > 0) this.#ofNetworks.set(network, count);
        else this.#ofNetworks.delete(network);
      }
    };
    add(1);
    let isHeld = true;
    const leave = () => {
      if (isHeld) add(-1);
      isHeld = false;
    };
    return { leave };
  }

  /** Sends the first event, and goes on until the client leaves. The head of the answer was written. */
  open(serverId: string, response: ServerResponse, state: LiveState): void {
    const now = performance.now();
    const stream = { serverId, response, known: state, openedAt: now, writtenAt: now, eventAt: now };
    this.#streams.add(stream);
    this.#ofServers.set(serverId, (this.#ofServers.get(serverId) ?? new Set()).add(stream));
    response.once('close', () => this.#forget(stream));
    response.write(HELLO + eventOf(state));
    // If the process began to stop while the server was read.
    if (this.#isEnded) return void response.end();
    this.#timer ??= setInterval(this.#tickNow, this.#limits.everyMs);
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream);
    const others = this.#ofServers.get(stream.serverId);
    others?.delete(stream);
    if (others?.size === 0) this.#ofServers.delete(stream.serverId);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all streams; further ones are refused. Clients connect again after the time that `HELLO` says. */
  end(): void {
    this.#isEnded = true;
    for (const { response } of this.#streams) {
      // What a client does not read would keep the process waiting.
      if (response.writableLength > 0) response.destroy();
      else response.end();
    }
  }

  /** If the database is slow, the next reads are left out until it has answered. */
  async #tick(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const ids = [...this.#ofServers.keys()];
      for (let from = 0; from < ids.length; from += A_READ) {
        const some = ids.slice(from, from + A_READ);
        const states = await this.#read(some);
        for (const [id, state] of states) this.#states.set(id, state);
        await this.#write(some, states);
      }
    } catch (error) {
      this.#noteFailure(error);
      await this.#write([...this.#ofServers.keys()], null);
    } finally {
      this.#isReading = false;
    }
  }

  /** To the streams of these servers. Without states they get a comment at most. */
  async #write(serverIds: string[], states: Map<string, LiveState> | null): Promise<void> {
    /** By what the client knows: clients that know the same get the same text. */
    const texts = new Map<LiveState, string>();
    let visited = 0;
    for (const serverId of serverIds) {
      const state = states?.get(serverId);
      const isGone = states !== null && !state;
      for (const stream of this.#ofServers.get(serverId) ?? []) {
        visited += 1;
        if (visited % A_TURN === 0) await letOthersRun();
        const isOver = performance.now() - stream.openedAt >= this.#limits.longestMs;
        if (isGone || isOver) stream.response.end();
        else this.#writeTo(stream, state, texts);
      }
    }
  }

  #writeTo(stream: Stream, state: LiveState | undefined, texts: Map<LiveState, string>): void {
    const { everyMs, commentMs, mostUnreadBytes } = this.#limits;
    const now = performance.now();
    // A timer may be a little early.
    const isDue = now - stream.eventAt >= 0.98 * everyMs;
    let text = '';
    if (state && isDue) {
      text = texts.get(stream.known) ?? eventOf(changes(stream.known, state));
      texts.set(stream.known, text);
      stream.known = state;
    }
    if (text) stream.eventAt = now;
    else if (now - stream.writtenAt >= 0.98 * commentMs) text = COMMENT;
    if (!text || stream.response.destroyed || stream.response.writableEnded) return;
    stream.writtenAt = now;
    stream.response.write(text);
    if (stream.response.writableLength > mostUnreadBytes) stream.response.destroy();
  }
}

function changes(known: LiveState, state: LiveState): LiveState {
  return Object.fromEntries(Object.entries(state).filter(([key, value]) => known[key] !== value));
}

/** Nothing if nothing changed. */
function eventOf(state: LiveState): string {
  return Object.keys(state).length > 0 ? `event: state\ndata: ${JSON.stringify(state)}\n\n` : '';
}
