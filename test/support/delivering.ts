import { ObjectId } from 'mongodb';
import { afterEach, beforeAll } from 'vitest';
import { type ListenerSettings, setListener } from '../../src/delivery/change-listener.ts';
import type { DrainOptions, DrainResult } from '../../src/delivery/drain/drain.ts';
import { drainListener } from '../../src/delivery/drain/drain-listener.ts';
import { createVoteSender, openListener } from '../../src/delivery/send-vote.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { atTheEnd } from './at-the-end.ts';
import { castVote } from './casting.ts';
import { emptyDatabase } from './databases.ts';
import { type MovableClock, movableClock } from './start-app.ts';
import { testDeps } from './test-deps.ts';

/** A configuration for deliveries: short timeouts, and loopback addresses are allowed. */
export const QUICK = {
  ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
  LISTENER_TIMEOUT_MS: '1500',
  LEASE_MS: '8000',
  RELAY_INTERVAL_MS: '200',
};

/** A listed server with a running v2 listener. The test itself drains its votes. */
export type DeliveryBench = {
  deps: AppDeps;
  clock: MovableClock;
  serverId: ObjectId;
  listener: VotifierListener;
  /** Sets the listener again with `changes`. */
  set(changes: Partial<ListenerSettings>): ReturnType<typeof setListener>;
  cast(username: string): Promise<Vote>;
  drain(options?: Partial<DrainOptions>): Promise<DrainResult>;
  vote(vote: Vote): Promise<Vote>;
};

/** Sends the due votes of a server's listener, as a worker with all delivery queues does. */
export async function drainHere(
  deps: AppDeps,
  serverId: ObjectId | string,
  options: Partial<DrainOptions> = {},
  send = createVoteSender(deps.config),
): Promise<DrainResult> {
  const never = new AbortController().signal;
  const withSend = {
    ...deps,
    send,
    open: (found: Parameters<typeof openListener>[1]) => openListener(deps.secrets, found),
  };
  const usual = { queue: 'forward-votes', stop: never, waitNoLonger: never, budgetMs: 20_000 } as const;
  let end = await drainListener(withSend, new ObjectId(serverId), { ...usual, ...options });
  while (end.kind === 'moved' && !options.queue)
    end = await drainListener(withSend, new ObjectId(serverId), { ...usual, ...options, queue: end.to });
  return end;
}

/** Dependencies whose clock the test moves. */
export type ClockedDeps = AppDeps & { clock: MovableClock };

/** Opens separate dependencies with a clock that the test moves. */
export async function openDeliveryDeps(env: Record<string, string> = {}): Promise<ClockedDeps> {
  return { ...(await testDeps({ ...QUICK, ...env })), clock: movableClock() };
}

/** Opens separate dependencies with one server and its listener. Only `drain()` delivers votes. */
export async function deliveryBench(env: Record<string, string> = {}): Promise<DeliveryBench> {
  return deliveryBenchOn(await openDeliveryDeps(env));
}

/**
 * A function like `deliveryBench` whose benches share dependencies with the settings `env`: opening them costs more than
 * most tests. A call with further settings opens others. Each bench has a server and a clock of its own. The database is
 * emptied after each test; the queues are not.
 */
export function deliveryBenchesOfFile(env: Record<string, string> = {}): typeof deliveryBench {
  let deps: ClockedDeps;
  beforeAll(async () => {
    deps = await openDeliveryDeps(env);
  });
  afterEach(() => emptyDatabase(deps.mongo));
  return (more = {}) =>
    Object.keys(more).length > 0
      ? deliveryBench({ ...env, ...more })
      : deliveryBenchOn({ ...deps, clock: movableClock() });
}

/** Adds another server with its listener to open dependencies. */
export async function deliveryBenchOn(deps: ClockedDeps): Promise<DeliveryBench> {
  const { clock } = deps;
  const listener = new VotifierListener();
  await listener.start();
  atTheEnd(() => listener.stop());

  const added = await addServer(deps, { name: 'Alpha', address: 'alpha.example.org', port: 25_565 }, 'test');
  const serverId = new ObjectId(added.serverId);
  const { tokenId } = await issueToken(deps, { serverId, name: 'plugin' });
  const set: DeliveryBench['set'] = (changes) => {
    const { port, token: secret } = listener;
    const running = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret } as const;
    return setListener(deps, serverId, { ...running, serviceName: 'Tallyport', ...changes }, 'test');
  };
  await set({});
  return {
    deps,
    clock,
    serverId,
    listener,
    set,
    async cast(username) {
      const cast = await castVote(deps, { serverId, username, tokenId: new ObjectId(tokenId) });
      if (cast.kind !== 'accepted') throw new Error(`${username} was refused`);
      return cast.vote;
    },
    drain: (options) => drainHere(deps, serverId, options),
    async vote({ _id }) {
      const found = await deps.votes.findOne({ serverId, _id });
      if (!found) throw new Error(`no vote ${_id}`);
      return found;
    },
  };
}
