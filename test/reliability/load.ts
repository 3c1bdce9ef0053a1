import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../src/clock.ts';
import type { Call } from './history.ts';
import type { Target } from './targets.ts';

/** A caller waits so long for an answer. */
const PATIENCE_MS = 10 * SECOND;

/** Shares of the calls: under a key; a call that repeats an earlier one under its key; another spelling. */
const KEYED = 0.3;
const REPEATED = 0.1;
const RESPELT = 0.1;

/** A load that runs until it is stopped. */
export type Load = {
  calls: Call[];
  /** Casts no more; waits for the calls under way. */
  stop(): Promise<void>;
};

/**
 * Casts `perSecond` votes a second for `targets`, by players who come back too soon, over every web process, some
 * under a key, some of these again. What the caller was told is noted, whatever it was.
 */
export function startLoad(targets: Target[], urls: string[], perSecond: number, random: () => number): Load {
  const calls: Call[] = [];
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let player = 0;

  const one = <T>(list: T[]): T | undefined => list[Math.floor(random() * list.length)];

  function nextCall(): Pick<Call, 'serverId' | 'username' | 'idempotencyKey'> | undefined {
    const earlier = one(calls.slice(-200));
    if (random() < REPEATED && earlier?.idempotencyKey) return earlier;
    const target = one(targets);
    if (!target) return undefined;
    const back = random() < 0.1 && player > 0;
    const number = back ? Math.floor(random() * player) : player;
    if (!back) player += 1;
    const name = `Player_${number}`;
    const username = random() < RESPELT ? name.toUpperCase() : name;
    const keyed = random() < KEYED;
    return {
      serverId: target.serverId,
      username,
      ...(keyed ? { idempotencyKey: `key-${calls.length}-${number}` } : {}),
    };
  }

  async function cast(call: ReturnType<typeof nextCall>): Promise<void> {
    const target = targets.find(({ serverId }) => serverId === call?.serverId);
    const url = one(urls);
    if (!call || !target || !url) return;
    const startedAt = Date.now();
    const answer = await ask(url, target, call);
    const { serverId, username, idempotencyKey } = call;
    calls.push({
      serverId,
      username,
      ...(idempotencyKey ? { idempotencyKey } : {}),
      startedAt,
      endedAt: Date.now(),
      answer,
    });
  }

  const running = (async () => {
    const began = performance.now();
    for (let sent = 0; !stopping.signal.aborted; sent += 1) {
      const casting = cast(nextCall()).finally(() => underWay.delete(casting));
      underWay.add(casting);
      const due = began + ((sent + 1) * SECOND) / perSecond;
      await pause(Math.max(0, due - performance.now()), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
    }
  })();

  return {
    calls,
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(underWay);
    },
  };
}

async function ask(
  url: string,
  { serverId, token }: Target,
  { username, idempotencyKey }: Pick<Call, 'username' | 'idempotencyKey'>,
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
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const body = (await response.json()) as { next_vote_at?: string };
    const nextVoteAt = Date.parse(body.next_vote_at ?? '');
    const voteId = response.headers.get('vote-id');
    if (response.status === 200 && voteId) return { kind: 'accepted', voteId, nextVoteAt };
    if (response.status === 429) return { kind: 'refused', nextVoteAt };
    // A client that treats every 5xx as "retry later" is right: the vote may have been counted.
    if (response.status >= 500) return { kind: 'unknown' };
    throw new Error(`the API answered ${response.status}: ${JSON.stringify(body)}`);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('the API answered')) throw error;
    return { kind: 'unknown' };
  }
}
