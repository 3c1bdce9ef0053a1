import { ObjectId } from 'mongodb';
import { expect, onTestFinished, vi } from 'vitest';
import { type ListenerSettings, setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { Attempt, Delivery, Vote } from '../../src/votes/vote.ts';
import { castVote } from '../support/casting.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';

/** Timeouts that are long enough for a busy machine, with retries that come within the time of a test. */
const SETTINGS = {
  ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
  LISTENER_TIMEOUT_MS: '5000',
  LEASE_MS: '22000',
  RELAY_INTERVAL_MS: '200',
  DELIVERY_SCHEDULE: '0s,0.3s,0.3s,0.3s,0.5s',
  BREAKER_SCHEDULE: '0.3s,0.4s,0.5s',
};

/** For tests that wait for a listener's timeout or for the expiry of a lease. */
export const SHORT_WAITS = { LISTENER_TIMEOUT_MS: '700', LEASE_MS: '4800' };

/** The dependencies of a process that casts votes and does not deliver them. Its configuration is for workers too. */
export function castingDeps(env: Record<string, string> = {}): Promise<AppDeps> {
  return testDeps({ ...SETTINGS, ...env });
}

/** A listed server with a vote listener. */
export type GameServer = {
  serverId: ObjectId;
  listener: VotifierListener;
  /** Sets the listener as its owner does. */
  set(changes?: { secret?: string; port?: number }): Promise<void>;
  cast(username: string): Promise<Vote>;
  /** The delivery state of a vote. */
  delivery(vote: Pick<Vote, '_id'>): Promise<Delivery>;
  /** How many of its votes are in this state. */
  count(state: Delivery['state']): Promise<number>;
};

type Options = { name?: string; protocol?: ListenerSettings['protocol'] };

/** Lists a server and starts its listener, which runs until the test ends. */
export async function addGameServer(
  deps: AppDeps,
  { name = 'Alpha', protocol = 'votifier-v2' }: Options = {},
): Promise<GameServer> {
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  const added = await addServer(deps, { name, address: 'play.example.org', port: 25_565 }, 'test');
  const serverId = new ObjectId(added.serverId);
  const { tokenId } = await issueToken(deps, { serverId, name: 'plugin' });

  async function set(changes: { secret?: string; port?: number } = {}): Promise<void> {
    const secret = protocol === 'votifier-v1' ? listener.publicKeyLine : listener.token;
    const settings = { protocol, host: '127.0.0.1', port: listener.port, secret, serviceName: 'Tallyport' };
    await setListener(deps, serverId, { ...settings, ...changes }, 'test');
  }
  await set();

  return {
    serverId,
    listener,
    set,
    async cast(username) {
      const cast = await castVote(deps, { serverId, username, tokenId: new ObjectId(tokenId) });
      if (cast.kind !== 'accepted') throw new Error(`${username} was refused`);
      return cast.vote;
    },
    async delivery({ _id }) {
      const found = await deps.votes.findOne({ serverId, _id });
      if (!found) throw new Error(`no vote ${_id}`);
      return found.delivery;
    },
    count: (state) => deps.votes.countDocuments({ serverId, 'delivery.state': state }),
  };
}

/** Casts `count` votes, one after another. */
export async function castMany({ cast }: GameServer, count: number): Promise<Vote[]> {
  const votes = [];
  for (let n = 0; n < count; n += 1) votes.push(await cast(`player ${n}`));
  return votes;
}

/**
 * Waits until the given votes, which are all votes of a server, are delivered. Each must have been received once. It
 * may have been received more often only if its timeline has an attempt whose outcome is unknown.
 */
export async function allArrive(server: GameServer, votes: Vote[]): Promise<void> {
  const delivered = () => server.count('delivered').catch(() => 0);
  await vi.waitUntil(async () => (await delivered()) === votes.length, EVENTUALLY);
  for (const vote of votes) {
    const { ends } = await server.delivery(vote);
    const receipts = server.listener.votes.filter(({ uuid }) => uuid === vote._id.toString()).length;
    expect(receipts).toBeGreaterThanOrEqual(1);
    expect(receipts).toBeLessThanOrEqual(1 + (ends.ambiguous ?? 0));
  }
}

/** Waits until no worker has the lease of a listener: a queue that was just paused, or a worker that keeps leases. */
export async function noLeases({ listeners }: Pick<AppDeps, 'listeners'>): Promise<void> {
  const leased = { lease: { $ne: null } };
  await vi.waitUntil(async () => (await listeners.countDocuments(leased)) === 0, EVENTUALLY);
}

/** Whether this worker made the attempt. */
export function madeBy(attempt: Pick<Attempt, 'worker'> | undefined, worker: { processId: string }): boolean {
  return attempt?.worker === worker.processId;
}

/** Start and end times are whole milliseconds; the duration of an attempt is measured from just before its start. */
const ROUNDED_MS = 5;

/** How many attempts ran at the same time at most. */
export function mostAtOnce(attempts: Attempt[]): number {
  const spans = attempts.map(({ at, durationMs }) => ({
    from: at.getTime(),
    to: at.getTime() + (durationMs ?? 0) - ROUNDED_MS,
  }));
  return Math.max(
    ...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length),
  );
}
