/**
 * `node bench/restart/replays.ts [KILLS]`: two web processes on a replica set of three whose primary is killed again and
 * again (20 times by default). Every vote is sent to both at once with one Idempotency-Key, and repeated later. The exit
 * code is 1 if two answers to a key differ, or a player does not have exactly one vote.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { startReplicaSet } from '../../test/support/replica-set.ts';
import { startRedis } from '../../test/support/services.ts';
import { openWeb, prepare } from './web.ts';

const KILLS = Number(process.argv[2] ?? 20);
const CLIENTS = 8;
/** How long after its election a primary is killed: `least`, plus a random time up to `more`. */
const ALIVE_MS = { least: 2 * SECOND, more: 2 * SECOND };

const env = ownEnvironment();
const set = await startReplicaSet({ binary: await findMongod(env, console.log) });
const redis = await startRedis({ binary: await findRedis(env, console.log) });
const { env: own, caller } = await prepare(set.uri('replays'), redis.url, { SHUTDOWN_DELAY_MS: '0' });
const webs = [await openWeb(own), await openWeb(own)];
await Promise.all(webs.map((web) => web.start()));

/** The first answer for each idempotency key. */
const answered = new Map<string, string>();
const counts = { answers: 0, unavailable: 0, lost: 0 };
const differences: string[] = [];
const ending = new AbortController();

const clients = Array.from({ length: CLIENTS }, async (_, client) => {
  for (let n = 0; !ending.signal.aborted; n += 1) {
    const key = `${client}-${n}`;
    await Promise.all(webs.map(({ url }) => cast(url, key)));
    const older = [...answered.keys()].at(Math.floor(Math.random() * -200));
    if (older) await Promise.all(webs.map(({ url }) => cast(url, older)));
  }
});
for (let kill = 1; kill <= KILLS; kill += 1) {
  const primary = await set.primary();
  await pause(ALIVE_MS.least + ALIVE_MS.more * Math.random());
  await primary.kill();
  const next = await set.primary();
  await primary.restart();
  console.log(
    `kill ${kill}: port ${primary.port}, then primary ${next.port}; ${answered.size} keys, ${counts.answers} answers, ${differences.length} differ`,
  );
}
ending.abort();
await Promise.all(clients);

// Repeats every earlier vote.
for (const key of answered.keys()) for (const { url } of webs) await untilAnswered(url, key);
const doubles = await votesBesideOne();
for (const difference of differences.slice(0, 20)) console.log(`  ${difference}`);
console.log(
  `${KILLS} kills: ${answered.size} keys answered, ${counts.answers} answers of 200, ${counts.unavailable} of 503, ${counts.lost} without an answer; ${differences.length} replays differ; ${doubles} players without exactly one vote`,
);
await Promise.all(webs.map((web) => web.stop()));
await redis.stop();
await set.stop();
process.exit(differences.length === 0 && doubles === 0 ? 0 : 1);

async function untilAnswered(url: string, key: string): Promise<void> {
  while ((await cast(url, key)) !== 200) await pause(200);
}

/**
 * Casts the vote of a key, and compares the answer with the first one for this key. Returns the status; 0 without an
 * answer.
 */
async function cast(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/servers/${caller.serverId}/vote`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ username: `player-${key}` }),
    signal: AbortSignal.timeout(15 * SECOND),
  }).catch(() => undefined);
  const said = await answer?.text().catch(() => undefined);
  if (!answer || said === undefined) {
    counts.lost += 1;
    return 0;
  }
  if (answer.status !== 200) {
    counts.unavailable += 1;
    if (answer.status !== 503) differences.push(`${key}: ${answer.status} ${said}`);
    return answer.status;
  }
  counts.answers += 1;
  const whole = `${answer.headers.get('vote-id')} ${said}`;
  const first = answered.get(key);
  if (first === undefined) answered.set(key, whole);
  else if (first !== whole) differences.push(`${key}: ${first} and then ${whole}`);
  return 200;
}

/** The number of players with an accepted vote whose stored votes are not exactly one. */
async function votesBesideOne(): Promise<number> {
  const client = new MongoClient(set.uri('replays'));
  const names = await client
    .db()
    .collection('votes')
    .find({}, { projection: { username: 1 } })
    .map(({ username }) => String(username))
    .toArray();
  await client.close();
  const votes = new Map<string, number>();
  for (const name of names) votes.set(name, (votes.get(name) ?? 0) + 1);
  const wrong = new Set([...votes].filter(([, count]) => count > 1).map(([name]) => name));
  for (const key of answered.keys()) if (!votes.has(`player-${key}`)) wrong.add(`player-${key}`);
  return wrong.size;
}
