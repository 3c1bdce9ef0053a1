import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { MAX_SENDINGS } from '../../src/listeners/delivery-limits.ts';
import { SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TakenVote } from '../support/fetching.ts';
import type { Receipt } from './history.ts';
import { listerOf, type Target } from './targets.ts';

/** Two programs fetch at once, as after a relay was started twice. */
const FETCHERS = 2;
const LEASE_SECONDS = 10;
const WAIT_SECONDS = 5;
/** Nothing answers for longer: the call is made again, with the same `request_id`. */
const CALL_MS = 8 * SECOND;
const RESTART_MS = SECOND;

/**
 * Lists a server that fetches its votes from both web processes, one of them behind a proxy that can be cut. It notes each
 * vote that it hands over: once for each taking. In the mode `dies` a program ends when it has handed over half of what it took, and
 * settles nothing; then it starts again, which takes a program a second.
 */
export async function addFetchingTarget(
  deps: AppDeps,
  name: string,
  urls: string[],
  receipts: Receipt[],
): Promise<Target> {
  const lister = listerOf(deps);
  const serverId = await lister.addServer(name);
  const token = await lister.issueToken(serverId);
  const id = new ObjectId(serverId);
  await setFetchListener(deps, id, { serviceName: 'Storm' }, 'storm');
  const delivery = await issueToken(deps, { serverId: id, name: 'relay', kind: 'deliver' });
  const [first = ''] = urls;
  const line = await startFaultProxy(Number(new URL(first).port), 'chunks');
  const doors = [`http://127.0.0.1:${line.port}`, ...urls.slice(1)];

  let mode: 'settles' | 'dies' | 'leaves' | 'late' | 'away' = 'settles';
  const closed = new AbortController();
  const handedOver = new Set<string>();

  async function call(endpoint: 'take' | 'done', door: number, body: object): Promise<unknown> {
    const leaving = mode === 'leaves' ? AbortSignal.timeout(30) : AbortSignal.timeout(CALL_MS);
    const response = await fetch(
      `${doors[door % doors.length]}/api/v1/servers/${serverId}/deliveries/${endpoint}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${delivery.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.any([leaving, closed.signal]),
      },
    );
    if (response.status !== 200) throw new Error(`${endpoint}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** Repeats a call until it is answered, as the documentation tells authors of plugins. */
  async function untilAnswered(endpoint: 'take' | 'done', body: object, deadline: number): Promise<unknown> {
    for (let tries = 0; !closed.signal.aborted; tries += 1) {
      if (mode === 'away') return null;
      try {
        return await call(endpoint, tries, body);
      } catch {
        if (performance.now() > deadline) return null;
        await pause(100);
      }
    }
    return null;
  }

  async function fetchOnce(): Promise<void> {
    const wanted = {
      max: 10,
      wait_seconds: WAIT_SECONDS,
      lease_seconds: LEASE_SECONDS,
      request_id: randomUUID(),
    };
    const answer = await untilAnswered('take', wanted, performance.now() + LEASE_SECONDS * SECOND);
    const taken = (answer as { deliveries: TakenVote[] } | null)?.deliveries ?? [];
    const handed = mode === 'dies' ? taken.slice(0, Math.ceil(taken.length / 2)) : taken;
    for (const { vote_id: voteId, lease, username, voted_at } of handed) {
      if (handedOver.has(`${voteId} ${lease}`)) continue;
      handedOver.add(`${voteId} ${lease}`);
      receipts.push({ serverId, receivedAt: Date.now(), voteId, username, votedAt: Date.parse(voted_at) });
    }
    if (taken.length === 0) return;
    if (handed.length < taken.length || mode === 'dies') return pause(RESTART_MS);
    if (mode === 'late') await pause(700);
    const results = taken.map(({ vote_id, lease }) => ({ vote_id, lease, outcome: 'delivered' }));
    await untilAnswered('done', { results }, performance.now() + 3 * LEASE_SECONDS * SECOND);
  }

  const running = Array.from({ length: FETCHERS }, async () => {
    while (!closed.signal.aborted) {
      if (mode === 'away') await pause(50);
      else await fetchOnce();
    }
  });
  const become = (next: typeof mode) => () => {
    mode = next;
  };
  return {
    serverId,
    token,
    kind: 'working',
    confirms: true,
    maxSendings: MAX_SENDINGS,
    mayReorder: true,
    line,
    away: async () => become('away')(),
    back: async () => become('settles')(),
    losesAnswers: become('dies'),
    resets: become('leaves'),
    slow: become('late'),
    behave: become('settles'),
    async close() {
      closed.abort();
      await Promise.all(running);
      await line.close();
    },
  };
}
