import { type Filter, ObjectId } from 'mongodb';
import { SECOND } from '../platform/clock.ts';
import { dueVotesChannel } from '../platform/queues.ts';
import { openRedis, type RedisConnection } from '../platform/redis.ts';
import { DUE_VOTES, type Vote } from '../votes/vote.ts';
import type { DeliveryDeps } from './deps.ts';
import { serversWith } from './drain/lost-attempts.ts';

/** One range of the index `DUE_VOTES`, whatever the listener. */
export function dueBy(now: Date): Filter<Vote> {
  return { 'delivery.nextAt': { $gt: new Date(0), $lte: now } };
}

const SERVERS_A_QUERY = 2_000;
/** `openRedis` notices a lost connection only if a command gets no answer within 20 s. So a subscriber sends pings. */
const PING_EVERY_MS = 5 * SECOND;

type Listening = {
  everyMs: number;
  /** The hex ids of the servers whose due votes the query looks for. */
  servers(): string[];
  /** Called even for a server that is not in `servers`. `isChanged`: its listener may have changed too. */
  wake(serverId: string, isChanged: boolean): void;
};

/**
 * Calls `wake` for servers whose votes may be due: at once if a process publishes a message over Redis, and otherwise
 * after a regular query, which finds retries and votes whose message was lost. Opens no connection before `open`.
 */
export class DueVotesChannel {
  readonly #deps: DeliveryDeps;
  readonly #listening: Listening;
  #subscriber: RedisConnection | undefined;
  #timers: NodeJS.Timeout[] = [];
  #isLooking = false;
  #isClosed = false;

  constructor(deps: DeliveryDeps, listening: Listening) {
    this.#deps = deps;
    this.#listening = listening;
  }

  open(): void {
    if (this.#subscriber || this.#isClosed) return;
    const { config, log } = this.#deps;
    const subscriber = openRedis(config.REDIS_URL, log);
    this.#subscriber = subscriber;
    subscriber.on('message', (_channel: string, message: string) => {
      const [id = '', changed] = message.split(' ');
      this.#listening.wake(id, changed !== undefined);
    });
    const subscribe = () =>
      subscriber
        .subscribe(dueVotesChannel(config))
        // Messages that were published before this moment are lost: the query finds their votes.
        .then(() => this.#look())
        .catch((error: unknown) => log.debug({ event: 'takes.not_subscribed', reason: String(error) }));
    subscriber.on('ready', () => void subscribe());
    const ping = () => {
      if (subscriber.status === 'ready') subscriber.ping().catch(() => undefined);
    };
    this.#timers = [
      setInterval(() => void this.#look(), this.#listening.everyMs).unref(),
      setInterval(ping, PING_EVERY_MS).unref(),
    ];
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#subscriber?.disconnect();
  }

  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    try {
      const now = this.#deps.clock.now();
      const servers = this.#listening.servers();
      for (let start = 0; start < servers.length; start += SERVERS_A_QUERY) {
        const ids = servers.slice(start, start + SERVERS_A_QUERY).map((id) => new ObjectId(id));
        for (const id of await serversWith(this.#deps.votes, ids, dueBy(now), DUE_VOTES))
          this.#listening.wake(id, false);
      }
    } catch (error) {
      this.#deps.log.debug({ event: 'takes.not_looked', reason: String(error) });
    } finally {
      this.#isLooking = false;
    }
  }
}
