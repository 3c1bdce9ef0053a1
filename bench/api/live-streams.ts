/**
 * Measures votes while event streams are open, in turn with votes without any, and the memory of the streams.
 *
 *   node bench/api/live-streams.ts [streams] [votes a second] [seconds a phase] [rounds]
 *
 *   node bench/api/live-streams.ts 2000 50 30 5
 *
 * The streams follow a hundred servers, a tenth of them the one that gets the votes, so that its figures change at each
 * read. The time of a vote is measured from the moment at which it was due (open loop). All share one machine.
 */
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { SECOND } from '../../src/platform/clock.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment, residentMb } from '../delivery/environment.ts';
import { against, median, quantile, watchCpu } from '../delivery/figures.ts';

const [streams = 2_000, rate = 50, seconds = 30, rounds = 5] = process.argv.slice(2).map(Number);
const SERVERS = 100;
const OF_A_NETWORK = 20;
const AT_ONCE = 50;

console.log(`node bench/api/live-streams.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const listed: { serverId: ObjectId; slug: string }[] = [];
for (let n = 0; n < SERVERS; n += 1) {
  const server = { name: `server ${n}`, address: `s${n}.example.org`, port: 25_565 };
  const { serverId, slug } = await addServer(deps, server, 'bench');
  listed.push({ serverId: new ObjectId(serverId), slug });
}
const [caller] = await callersOf(deps, [listed[0]?.serverId ?? new ObjectId()]);
if (!caller) throw new Error('no token');
const web = await environment.web();

let events = 0;

async function open(n: number): Promise<ClientRequest> {
  const network = Math.floor(n / OF_A_NETWORK);
  const { slug = '' } = listed[n % 10 === 0 ? 0 : n % SERVERS] ?? {};
  const asked = get(`${web.url}/api/v1/servers/${slug}/live`, {
    agent: false,
    headers: { 'x-forwarded-for': `10.0.${network >> 8}.${network & 255}` },
  });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  response
    .on('error', () => undefined)
    .on('data', (bytes: Buffer) => {
      if (bytes.includes('event: state')) events += 1;
    });
  return asked;
}

async function openAll(): Promise<ClientRequest[]> {
  const opened: ClientRequest[] = [];
  for (let n = 0; n < streams; n += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, streams - n) }, (_, i) => open(n + i));
    opened.push(...(await Promise.all(some)));
  }
  return opened;
}

async function phase(): Promise<{ p50: number; p99: number }> {
  const name = new ObjectId().toHexString().slice(-16);
  const times: number[] = [];
  const sent: Promise<void>[] = [];
  const began = performance.now();
  for (let n = 0; n < seconds * rate; n += 1) {
    const due = began + (n * SECOND) / rate;
    await pause(Math.max(0, due - performance.now()));
    sent.push(
      castVote(web.url, caller as NonNullable<typeof caller>, `${name}${n}`).then(
        () => void times.push(performance.now() - due),
      ),
    );
  }
  await Promise.all(sent);
  return { p50: median(times), p99: quantile(times, 0.99) };
}

const ratios = { p50: [] as number[], p99: [] as number[] };
await phase();
for (let round = 1; round <= rounds; round += 1) {
  const without = await phase();
  const before = await residentMb(web.pid);
  const opened = await openAll();
  events = 0;
  const cpu = await watchCpu({
    web: [web.pid],
    mongod: [environment.mongodPid],
    'this client': [process.pid],
  });
  const beside = await phase();
  const memory = (await residentMb(web.pid)) - before;
  console.log(
    `round ${round}: p50 ${without.p50.toFixed(2)} and ${beside.p50.toFixed(2)} ms, p99 ${without.p99.toFixed(1)} and ${beside.p99.toFixed(1)} ms; ${events} events; ${memory.toFixed(0)} MB more; ${await cpu()}`,
  );
  ratios.p50.push(beside.p50 / without.p50);
  ratios.p99.push(beside.p99 / without.p99);
  for (const stream of opened) stream.destroy();
}
const [p50, p99] = [median(ratios.p50), median(ratios.p99)];
console.log(`p50 ${p50.toFixed(2)} times ${against('≤ 1.05', p50 <= 1.05)}`);
console.log(`p99 ${p99.toFixed(2)} times ${against('≤ 1.5', p99 <= 1.5)}`);
await environment.close();
