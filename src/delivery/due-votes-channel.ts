import { type Collection, ObjectId } from 'mongodb';
import { type Clock, SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import { dueVotesChannel } from '../platform/queues.ts';
import { openRedis, type RedisConnection } from '../platform/redis.ts';
import type { Vote } from '../votes/vote.ts';
import { serversWith } from './drain/lost-attempts.ts';

/** Servers in one query. */
const SERVERS_A_QUERY = 2_000;
/** A connection that receives nothing for 20 s is opened anew (`openRedis`); a ping keeps a quiet one. */
const PING_EVERY_MS = 5 * SECOND;

export type ChannelDeps = {
  config: Pick<Config, 'QUEUE_PREFIX'> & { REDIS_URL: string };
  votes: Collection<Vote>;
  clock: Clock;
  log: Logger;
};

type Listening = {
  /** How often the votes of `servers` are looked for: what Redis lost, and retries. */
  everyMs: number;
  /** The ids of the servers whose votes are looked for. */
  servers(): string[];
  /**
   * Called with the id of a server whose votes may be due; Redis names every server.
   *
   * @param isChanged - its listener may have changed as well
   */
  wake(serverId: string, isChanged: boolean): void;
};

/**
 * Tells a process that votes of a server may be due: at once what another process publishes, and by a shared query what
 * Redis lost. Opens no connection before `open`.
 */
export class DueVotesChannel {
  readonly #deps: ChannelDeps;
  readonly #listening: Listening;
  #subscriber: RedisConnection | undefined;
  #timers: NodeJS.Timeout[] = [];
  #isLooking = false;
  #isClosed = false;

  constructor(deps: ChannelDeps, listening: Listening) {
    this.#deps = deps;
    this.#listening = listening;
  }

  /** Begins to listen. Safe to call again. */
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
        // Messages before this moment are lost.
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

  /** Closes the connection to Redis, for good. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#subscriber?.disconnect();
  }

  /** One query for all servers. */
  async #look(): Promise<void> {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    try {
      const due = {
        'delivery.state': 'waiting',
        'delivery.nextAt': { $lte: this.#deps.clock.now() },
      } as const;
      const servers = this.#listening.servers();
      for (let start = 0; start < servers.length; start += SERVERS_A_QUERY) {
        const ids = servers.slice(start, start + SERVERS_A_QUERY).map((id) => new ObjectId(id));
        for (const id of await serversWith(this.#deps.votes, ids, due)) this.#listening.wake(id, false);
      }
    } catch (error) {
      this.#deps.log.debug({ event: 'takes.not_looked', reason: String(error) });
    } finally {
      this.#isLooking = false;
    }
  }
}
