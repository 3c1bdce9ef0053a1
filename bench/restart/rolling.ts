/**
 * `node bench/restart/rolling.ts [ROUNDS]`: two web processes behind a proxy that checks `/readyz` each second. Both are
 * restarted in turn while clients with keep-alive connections make 10,000 calls. The exit code is 1 if a call failed.
 */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { type LoadBalancer, startLoadBalancer } from '../../test/support/load-balancer.ts';
import { startMongod, startRedis } from '../../test/support/services.ts';
import { type Caller, openWeb, prepare, type Web } from './web.ts';

const CALLS = 10_000;
const CLIENTS = 16;
/** The pause of each client between two calls. It makes the calls last as long as both restarts. */
const REST_MS = 60;

const env = ownEnvironment();
const mongod = await startMongod({ binary: await findMongod(env, console.log) });
const redis = await startRedis({ binary: await findRedis(env, console.log) });
const { env: own, caller } = await prepare(`${mongod.uri}/rolling`, redis.url);
const webs = [await openWeb(own), await openWeb(own)];
await Promise.all(webs.map((web) => web.start()));
const balancer = await startLoadBalancer(webs);

let failed = 0;
for (let round = 1; round <= Number(process.argv[2] ?? 5); round += 1) failed += await runRound(round);

await balancer.close();
await Promise.all(webs.map((web) => web.stop()));
await redis.stop();
await mongod.stop();
process.exit(failed === 0 ? 0 : 1);

async function runRound(round: number): Promise<number> {
  const errors = new Map<string, number>();
  let calls = 0;
  let restarts = 0;
  const began = performance.now();
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (calls < CALLS || restarts < webs.length) {
      calls += 1;
      const error = await call(agent, `p${round}-${client}-${calls}`, calls);
      if (error) errors.set(error, (errors.get(error) ?? 0) + 1);
      await pause(REST_MS);
    }
    agent.destroy();
  });
  for (const web of webs) {
    await restart(balancer, web);
    restarts += 1;
  }
  await Promise.all(clients);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  const failures = [...errors.values()].reduce((sum, count) => sum + count, 0);
  console.log(`round ${round}: ${calls} calls in ${seconds} s, ${restarts} restarts, ${failures} failed`);
  for (const [error, count] of errors) console.log(`  ${count} × ${error}`);
  return failures;
}

/** Restarts a process and waits until the proxy sends requests to it again. */
async function restart(before: LoadBalancer, web: Web): Promise<void> {
  await web.stop();
  await web.start();
  while (!before.sendsTo(web)) await pause(100);
}

/** Makes call number `n`: a vote, a check or a read in turn. Returns the error, if there is one. */
async function call(agent: Agent, username: string, n: number): Promise<string | undefined> {
  const body = n % 3 === 0 ? JSON.stringify({ username }) : undefined;
  const path = ['vote', `check-vote?username=${username}`, 'info'][n % 3] ?? '';
  try {
    const { status, said } = await send(agent, caller, path, body);
    return status === 200 ? undefined : `${status} ${said.slice(0, 100)}`;
  } catch (error) {
    return String(error);
  }
}

function send(
  agent: Agent,
  { serverId, token }: Caller,
  path: string,
  body: string | undefined,
): Promise<{ status: number; said: string }> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {}),
  };
  const url = `${balancer.url}/api/v1/servers/${serverId}/${path}`;
  return new Promise((resolve, reject) => {
    request(url, { agent, headers, method: body ? 'POST' : 'GET' }, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode ?? 0, said }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}
