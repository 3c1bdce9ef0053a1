/**
 * Measures votes of new visitors while other connections send one byte every ten seconds and never finish a request:
 *
 *   node bench/api/dripping.ts [sockets] [seconds a phase]
 *
 * Each vote is cast on a new connection, from an address that none of the other connections has. There are three
 * phases: without other connections; with other connections from one address; with other connections from a hundred
 * addresses, which together can use up all connections of a process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listServers } from '../../test/support/servers.ts';
import { callersOf } from '../delivery/api-client.ts';
import { openEnvironment } from '../delivery/environment.ts';
import { against, quantile } from '../delivery/figures.ts';
import type { Drip, Dripping } from './drip.ts';

const [sockets = 10_000, seconds = 30] = process.argv.slice(2).map(Number);
const AIM_MS = 100;
const VOTE_EVERY_MS = 50;
const TIMEOUT_MS = 5_000;

console.log(`node bench/api/dripping.ts ${sockets} ${seconds}`);
const environment = await openEnvironment({ CONNECTIONS_PER_ADDRESS: '1000' });
const web = await environment.web();
const port = Number(new URL(web.url).port);
const [caller] = await callersOf(environment.deps, await listServers(environment.deps, [{ name: 'Alpha' }]));
if (!caller) throw new Error('no server was listed');
let votes = 0;

/** Casts a vote on a new connection; returns its milliseconds, or null if it failed. */
function vote(): Promise<number | null> {
  votes += 1;
  const body = JSON.stringify({ username: `player${votes}` });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const began = performance.now();
  const sent = request(
    {
      port,
      host: '127.0.0.1',
      localAddress: '127.0.0.9',
      method: 'POST',
      path: `/api/v1/servers/${caller?.serverId}/vote`,
      agent: new Agent({ keepAlive: false }),
      timeout: TIMEOUT_MS,
      headers: {
        authorization: `Bearer ${caller?.token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    },
    (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200 ? performance.now() - began : null));
    },
  );
  sent.on('timeout', () => sent.destroy());
  sent.on('error', () => resolve(null));
  sent.end(body);
  return promise;
}

async function measure(name: string): Promise<void> {
  const times: (number | null)[] = [];
  const began = performance.now();
  while (performance.now() - began < seconds * 1_000) {
    times.push(await vote());
    await pause(VOTE_EVERY_MS);
  }
  const cast = times.filter((ms) => ms !== null);
  const p99 = quantile(cast, 0.99);
  console.log(
    `${name}: ${cast.length} votes, ${times.length - cast.length} failed, p50 ${quantile(cast, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms ${against(`< ${AIM_MS} ms`, p99 < AIM_MS && cast.length === times.length)}`,
  );
}

async function beside(addresses: number): Promise<void> {
  const child: ChildProcess = fork(fileURLToPath(new URL('drip.ts', import.meta.url)));
  let opened = 0;
  child.on('message', (state: Dripping) => {
    ({ opened } = state);
  });
  child.send({ port, sockets, addresses } satisfies Drip);
  // By this time, the first connections have got their 408.
  await pause(15_000);
  await measure(`beside ${sockets} dripping sockets of ${addresses} address${addresses === 1 ? '' : 'es'}`);
  // Each connection needs a file descriptor. MongoDB, Redis and the log need a few dozen.
  const open = (await readdir(`/proc/${web.pid}/fd`)).length;
  console.log(`  the web process had ${open} descriptors at the end; ${opened} connections were begun`);
  child.kill();
  await pause(2_000);
}

try {
  await measure('warm-up');
  await measure('idle');
  await beside(1);
  await beside(100);
} finally {
  await environment.close();
}
