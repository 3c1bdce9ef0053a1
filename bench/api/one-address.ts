/**
 * Measures votes of the API while one address sends forms, queries and pages as fast as it can:
 *
 *   node bench/api/one-address.ts [connections] [seconds a phase] [only]
 *
 * For each kind of request: its processor time in the web process with one connection, and then votes of another address
 * (one each 20 ms) beside the given number of connections. `only`: the kinds whose names contain this text.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listServers } from '../../test/support/servers.ts';
import { callersOf } from '../delivery/api-client.ts';
import { cpuSeconds, openEnvironment } from '../delivery/environment.ts';
import { against, quantile } from '../delivery/figures.ts';
import type { Flood, Flooded } from './flood.ts';

const [connections = 100, seconds = 8] = process.argv.slice(2, 4).map(Number);
const only = process.argv[4] ?? '';
const VOTE_EVERY_MS = 20;
const SLOWEST_MS = 600;
const MEDIANS = 3;

console.log(`node bench/api/one-address.ts ${connections} ${seconds} ${only}`);
const environment = await openEnvironment({ CONNECTIONS_PER_ADDRESS: '1000' });
const web = await environment.web();
const port = Number(new URL(web.url).port);
const names = Array.from({ length: 40 }, (_, n) => ({ name: `Server ${n}` }));
const [caller] = await callersOf(environment.deps, await listServers(environment.deps, names));
if (!caller) throw new Error('no server was listed');

const fields = (bytes: number) =>
  Array.from({ length: bytes / 8 }, (_, n) => `${n}`.padStart(6, 'a')).join('=&');
const HTML = { accept: 'text/html', 'accept-encoding': 'br' };
const JSON_ANSWER = { accept: 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
const form = (path: string, body: string, accept: Record<string, string> = HTML) =>
  ({ method: 'POST', path, headers: { ...accept, ...FORM }, body }) as const;
const page = (path: string, headers: Record<string, string> = {}) =>
  ({ method: 'GET', path, headers: { ...HTML, ...headers } }) as const;
const KINDS: Record<string, Flood['request']> = {
  'a form of 32 KB of names, answered with a page': form('/sign-in', fields(31_000)),
  'a form of 32 KB of names, answered with JSON': form('/servers/server-0/vote', fields(31_000), JSON_ANSWER),
  'a form with one name of 32 KB': form('/servers/server-0/vote', '%41'.repeat(10_400), JSON_ANSWER),
  'a complaint of 32 KB': form('/servers/server-0/report', `reason=other&text=${'%41'.repeat(10_300)}`),
  'a sign-in with a wrong password': form('/sign-in', 'email=nobody%40example.org&password=wrong-password-1'),
  'the challenge of a vote': form('/servers/server-0/vote/challenge', 'username=Steve&session=', JSON_ANSWER),
  'a vote without a proof': form('/servers/server-0/vote', 'username=Steve&proof=&session=', JSON_ANSWER),
  'a query of 15 KB of names': page(`/?${fields(15_000)}`),
  'a cached page': page('/'),
  'the page of a server, cached': page('/servers/server-0'),
  'a page with a forged session': page('/', {
    cookie: `tallyport.session_token=${'a'.repeat(32)}.${encodeURIComponent(Buffer.alloc(32, 1).toString('base64'))}`,
  }),
  'the jar of the relay': page('/downloads/tallyport-relay.jar'),
  'a file': page('/assets/altcha-lib-2.8.0/pow.js'),
};

let votes = 0;
const agent = new Agent({ keepAlive: true });
/** Casts a vote from another address; returns its milliseconds and status (0: no answer). */
function vote(): Promise<{ ms: number; status: number }> {
  votes += 1;
  const body = JSON.stringify({ username: `player${votes}` });
  const headers = {
    authorization: `Bearer ${caller?.token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const path = `/api/v1/servers/${caller?.serverId}/vote`;
  const to = { port, host: '127.0.0.1', localAddress: '127.0.0.9', method: 'POST', path, agent, headers };
  const { promise, resolve } = Promise.withResolvers<{ ms: number; status: number }>();
  const began = performance.now();
  const end = (status: number) => resolve({ ms: performance.now() - began, status });
  const sent = request(to, (answer) => answer.resume().on('end', () => end(answer.statusCode ?? 0)));
  sent.on('error', () => end(0));
  sent.end(body);
  return promise;
}

async function castFor(ms: number) {
  const cast: Promise<{ ms: number; status: number }>[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    cast.push(vote());
    await pause(VOTE_EVERY_MS);
  }
  const ended = await Promise.all(cast);
  const times = ended.map((one) => one.ms);
  const refused = ended.filter(({ status }) => status !== 200).length;
  return { p50: quantile(times, 0.5), slowest: Math.max(...times), refused, cast: ended.length };
}

const flooder = fork(fileURLToPath(new URL('flood.ts', import.meta.url)));
async function flood(request: Flood['request'], of: number, forSeconds: number): Promise<Flooded> {
  flooder.send({ port, connections: of, seconds: forSeconds, request } satisfies Flood);
  const [flooded] = (await once(flooder, 'message')) as [Flooded];
  return flooded;
}

try {
  await castFor(3_000);
  const idle = await castFor(5_000);
  console.log(
    `idle: p50 ${idle.p50.toFixed(1)} ms, slowest ${idle.slowest.toFixed(0)} ms, ${idle.refused} refused`,
  );
  for (const [kind, asked] of Object.entries(KINDS).filter(([name]) => name.includes(only))) {
    const before = await cpuSeconds(web.pid);
    const alone = await flood(asked, 1, 2);
    const each = (((await cpuSeconds(web.pid)) - before) * 1_000) / alone.answers;
    const flooding = flood(asked, connections, seconds);
    await pause(500);
    const beside = await castFor((seconds - 1) * 1_000);
    const { byStatus, mbit } = await flooding;
    const isMet = beside.refused === 0 && beside.p50 <= MEDIANS * idle.p50 && beside.slowest <= SLOWEST_MS;
    console.log(
      `${kind}: ${each.toFixed(2)} ms; ${connections} connections (${mbit.toFixed(0)} Mbit/s, ${JSON.stringify(byStatus)}): votes p50 ${beside.p50.toFixed(1)} ms (${(beside.p50 / idle.p50).toFixed(1)} × idle), slowest ${beside.slowest.toFixed(0)} ms, ${beside.refused} of ${beside.cast} refused ${against(`≤ ${MEDIANS} ×, ≤ ${SLOWEST_MS} ms, 0`, isMet)}`,
    );
    await pause(1_500);
  }
} finally {
  flooder.disconnect();
  await environment.close();
}
