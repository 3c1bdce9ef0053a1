import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../src/platform/clock.ts';
import type { Call } from './history.ts';
import type { Target } from './targets.ts';

/** How long a caller waits for an answer by default. */
const TIMEOUT_MS = 10 * SECOND;

/** Shares of the calls: with a key; repetitions of an earlier call with its key; of a player who voted before. */
const KEYED = 0.3;
const REPEATED = 0.1;
const BACK = 0.1;
/** Shares of the calls: in another spelling; made twice at the same moment, in two web processes. */
const RESPELT = 0.1;
const RACED = 0.15;

/** No fault of the network or the database causes this answer; 500 is an error of Tallyport. */
class UnexpectedAnswer extends Error {}

/** A server that votes can be cast for. */
type Called = Pick<Target, 'serverId' | 'token'>;

/** A request to cast a vote. */
type Wish = Pick<Call, 'serverId' | 'username' | 'idempotencyKey'>;

/** A load that runs until it is stopped. */
export type Load = {
  calls: Call[];
  /** Stops the load and waits for the calls under way. Throws if a call had an answer that no client should get. */
  stop(): Promise<void>;
};

/**
 * Casts `perSecond` votes a second for `targets`, over every web process: some of players in their cooldown, some with
 * a key, some of these repeated, and some twice at once, with one key or none. Every answer is noted.
 *
 * @param timeoutMs - how long a caller waits for an answer
 */
export function startLoad(
  targets: Target[],
  urls: string[],
  perSecond: number,
  random: () => number,
  timeoutMs = TIMEOUT_MS,
): Load {
  const calls: Call[] = [];
  const underWay = new Set<Promise<void>>();
  const faults: unknown[] = [];
  const stopping = new AbortController();
  const wishes = wishesOf(targets, calls, random);

  async function cast(wish: Wish, url: string): Promise<void> {
    calls.push(await call(targets, wish, url, timeoutMs));
  }

  function start(wish: Wish, url: string): void {
    const casting = cast(wish, url)
      .catch((error: unknown) => void faults.push(error))
      .finally(() => underWay.delete(casting));
    underWay.add(casting);
  }

  const running = (async () => {
    const began = performance.now();
    for (let sent = 0; !stopping.signal.aborted; ) {
      const wish = wishes.next();
      const first = Math.floor(random() * urls.length);
      // If the call is raced: the same player votes in every web process at the same moment, and at most one of these
      // votes may be accepted.
      const raced = random() < RACED ? urls.length : 1;
      for (let racer = 0; racer < raced; racer += 1, sent += 1) {
        start(racer === 0 ? wish : wishes.respelt(wish), urls[(first + racer) % urls.length] as string);
      }
      const due = began + (sent * SECOND) / perSecond;
      const waiting = pause(Math.max(0, due - performance.now()), undefined, { signal: stopping.signal });
      await waiting.catch(() => undefined);
    }
  })();

  return {
    calls,
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(underWay);
      if (faults.length > 0)
        throw new AggregateError(faults, `${faults.length} calls had an answer that no fault explains`);
    },
  };
}

/** Makes the next call, derived from `random` and the calls so far. */
function wishesOf(targets: Target[], calls: Call[], random: () => number) {
  let players = 0;
  const one = <T>(list: T[]): T | undefined => list[Math.floor(random() * list.length)];
  const keyOf = (number: number) =>
    random() < KEYED ? { idempotencyKey: `key-${number}-${Math.floor(random() * 1e9)}` } : {};

  return {
    next(): Wish {
      // A caller without an answer repeats the call with the same key, so the newest of these come first.
      const keyed = calls.slice(-200).filter(({ idempotencyKey }) => idempotencyKey !== undefined);
      const unanswered = keyed.filter(({ answer }) => answer.kind === 'unknown');
      const repeated = random() < REPEATED ? one(unanswered.length > 0 ? unanswered : keyed) : undefined;
      if (repeated) return repeated;
      const earlier = random() < BACK ? one(calls) : undefined;
      if (earlier) {
        const { serverId, username } = earlier;
        return this.respelt({ serverId, username, ...keyOf(players) });
      }
      const { serverId } = one(targets) as Target;
      players += 1;
      return { serverId, username: `Player_${players}`, ...keyOf(players) };
    },
    /** The same, sometimes in another spelling; a key belongs to one spelling only. */
    respelt(wish: Wish): Wish {
      if (wish.idempotencyKey || random() >= RESPELT) return wish;
      return { ...wish, username: wish.username.toUpperCase() };
    },
  };
}

/** Casts `each` votes of new players for every target, all at once, distributed over the web processes in turn. */
export function castAll(targets: Called[], urls: string[], each: number): Promise<Call[]> {
  const wishes = targets.flatMap(({ serverId }) =>
    Array.from({ length: each }, (_, number) => ({ serverId, username: `Calm_${number}` })),
  );
  return Promise.all(wishes.map((wish, number) => call(targets, wish, urls[number % urls.length] as string)));
}

/** Makes a call and notes it. */
async function call(targets: Called[], wish: Wish, url: string, timeoutMs = TIMEOUT_MS): Promise<Call> {
  const { serverId, username, idempotencyKey } = wish;
  const target = targets.find((one) => one.serverId === serverId);
  if (!target) throw new Error(`no server ${serverId}`);
  const startedAt = Date.now();
  const answer = await ask(url, target, wish, timeoutMs);
  return {
    serverId,
    username,
    ...(idempotencyKey ? { idempotencyKey } : {}),
    startedAt,
    endedAt: Date.now(),
    answer,
  };
}

async function ask(
  url: string,
  { serverId, token }: Called,
  { username, idempotencyKey }: Wish,
  timeoutMs: number,
): Promise<Call['answer']> {
  try {
    const response = await fetch(`${url}/api/v1/servers/${serverId}/vote`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
      },
      body: JSON.stringify({ username }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = (await response.json()) as { next_vote_at?: string; monthly_votes?: number };
    const nextVoteAt = Date.parse(body.next_vote_at ?? '');
    const voteId = response.headers.get('vote-id');
    if (response.status === 200 && voteId) {
      return { kind: 'accepted', voteId, nextVoteAt, monthlyVotes: body.monthly_votes ?? -1 };
    }
    if (response.status === 429) return { kind: 'refused', nextVoteAt };
    if (response.status === 503) return { kind: 'unknown', reason: `503: ${JSON.stringify(body)}` };
    throw new UnexpectedAnswer(`${response.status}: ${JSON.stringify(body)}`);
  } catch (error) {
    if (error instanceof UnexpectedAnswer) throw error;
    return { kind: 'unknown', reason: String(error) };
  }
}
