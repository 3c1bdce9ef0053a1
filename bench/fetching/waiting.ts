/**
 * Measures waiting takes: each server has one fetcher that takes all the time, for 30 s each, over two web processes.
 * Memory of a waiting take, processor time while no vote is cast, and the time from the insert of a vote to its arrival
 * at its fetcher.
 *
 *   node bench/fetching/waiting.ts [fetchers] [idle seconds] [votes]
 *
 *   node bench/fetching/waiting.ts 10000 60 600
 */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { REACHABLE } from '../../src/listeners/listener.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { hashToken, makeApiToken, tokenPrefix } from '../../src/servers/token-text.ts';
import { castVote } from '../../test/support/casting.ts';
import { listServers } from '../../test/support/servers.ts';
import { openEnvironment, residentMb } from '../delivery/environment.ts';
import { quantile, watchCpu } from '../delivery/figures.ts';

const [fetchers = 10_000, idleSeconds = 60, votes = 600] = process.argv.slice(2).map(Number);
/** The clients connect over this time, so that their waits end at different moments. */
const RAMP_MS = 40 * SECOND;

console.log(`node bench/fetching/waiting.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;
const serverIds = await listServers(
  deps,
  Array.from({ length: fetchers }, () => ({})),
);
const now = new Date();
const tokens = serverIds.map(() => makeApiToken('deliver'));
await deps.listeners.insertMany(
  serverIds.map((serverId) => ({
    _id: new ObjectId(),
    serverId,
    protocol: 'fetch' as const,
    host: '',
    port: 0,
    sealedSecret: '',
    serviceName: 'Tallyport',
    revision: 1,
    createdAt: now,
    updatedAt: now,
    breaker: REACHABLE,
    voteFaults: 0,
  })),
);
await deps.apiTokens.insertMany(
  serverIds.map((serverId, n) => ({
    _id: new ObjectId(),
    serverId,
    name: 'bench',
    hash: hashToken(tokens[n] ?? ''),
    prefix: tokenPrefix(tokens[n] ?? ''),
    kind: 'deliver' as const,
    byOperator: true,
    createdAt: now,
  })),
);

const webs = [await environment.web(), await environment.web()];
const memory = async () => Promise.all(webs.map(({ pid }) => residentMb(pid)));
const arrived = new Map<string, number>();
const failures = new Map<string, number>();
let answers = 0;
const over = new AbortController();
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

function take(n: number): Promise<void> {
  const body = JSON.stringify({ wait_seconds: 30 });
  const headers = {
    authorization: `Bearer ${tokens[n]}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const url = `${webs[n % webs.length]?.url}/api/v1/servers/${serverIds[n]}/deliveries/take`;
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        answers += 1;
        const at = performance.now();
        if (response.statusCode === 200)
          for (const { vote_id } of JSON.parse(text).deliveries) arrived.set(vote_id, at);
        else note(String(response.statusCode));
        resolve();
      });
    });
    sent.on('error', (error) => {
      note(error.message);
      resolve();
    });
    sent.end(body);
  });
}

function note(failure: string): void {
  if (!over.signal.aborted) failures.set(failure, (failures.get(failure) ?? 0) + 1);
}

async function fetchAll(n: number): Promise<void> {
  await pause((n / fetchers) * RAMP_MS);
  while (!over.signal.aborted) await take(n);
}

const [before, began] = [await memory(), performance.now()];
const running = Array.from({ length: fetchers }, (_, n) => fetchAll(n));
await pause(RAMP_MS + 5 * SECOND);
const atRest = await memory();
const pids = {
  web: webs.map(({ pid }) => pid),
  mongod: [environment.mongodPid],
  redis: [environment.redisPid],
};
const [idle, answersBefore] = [await watchCpu(pids), answers];
await pause(idleSeconds * SECOND);
console.log(
  `idle, ${fetchers} waiting, ${((answers - answersBefore) / idleSeconds).toFixed(0)} answers a second: ${await idle()}`,
);
const later = await memory();
const perTake = (now: number[]) =>
  now.map(
    (mb, i) =>
      `${mb.toFixed(0)} MB (${(((mb - (before[i] ?? 0)) * 1_024) / (fetchers / webs.length)).toFixed(1)} KB a take)`,
  );
console.log(
  `memory before: ${before.map((mb) => `${mb.toFixed(0)} MB`).join(', ')}; waiting: ${perTake(atRest).join(', ')}; later: ${perTake(later).join(', ')}`,
);

const woken: { id: string; at: number }[] = [];
for (let n = 0; n < votes; n += 1) {
  const serverId = serverIds[Math.floor((n * fetchers) / votes)] as ObjectId;
  const cast = await castVote(deps, { serverId, username: `p${n}`, tokenId: null });
  if (cast.kind === 'accepted') woken.push({ id: cast.vote._id.toString(), at: performance.now() });
  await pause(50);
}
await pause(5 * SECOND);
const times = woken.flatMap(({ id, at }) => {
  const end = arrived.get(id);
  return end === undefined ? [] : [Math.max(0, end - at)];
});
console.log(
  `${woken.length} votes cast, ${times.length} arrived; from the insert to the fetcher p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`,
);
const stopping = performance.now();
over.abort();
await Promise.all(webs.map((web) => web.stop()));
await Promise.all(running);
console.log(`stopped with ${fetchers} waiting in ${((performance.now() - stopping) / SECOND).toFixed(1)} s`);
console.log(
  `failures: ${JSON.stringify(Object.fromEntries(failures))}; ${((performance.now() - began) / SECOND).toFixed(0)} s`,
);
agent.destroy();
await environment.close();
process.exit(0);
