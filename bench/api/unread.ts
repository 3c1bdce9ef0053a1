/**
 * Measures a web process with a memory limit while connections send pipelined requests for servers' pages and read no
 * answer:
 *
 *   node bench/api/unread.ts [connections] [requests of each] [rounds] [MB of the web process]
 *
 * In each round they are opened from addresses with 900 connections each, and closed after 15 s. Meanwhile votes of other
 * clients are cast. The process is in a control group, so the kernel kills it above the limit.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { listServers } from '../../test/support/servers.ts';
import { type Caller, callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment, residentMb } from '../delivery/environment.ts';
import { quantile } from '../delivery/figures.ts';
import { limitMemory } from '../listing/memory-limit.ts';

const [sockets = 4_500, requests = 60, rounds = 3, limitMb = 768] = process.argv.slice(2).map(Number);
const PER_ADDRESS = 900;
const HELD_MS = 15_000;

console.log(`node bench/api/unread.ts ${sockets} ${requests} ${rounds} ${limitMb}`);
const environment = await openEnvironment({ CONNECTIONS_PER_ADDRESS: '1000' });
const limit = limitMemory(limitMb);
// In a container Node takes half of its memory for the heap. It does not see the group, which it enters after its start.
const heap = { NODE_OPTIONS: `--max-old-space-size=${Math.floor(limitMb / 2)}` };
const web = await environment.web(heap, (pid) => limit?.add(pid));
const names = Array.from({ length: 50 }, (_, n) => ({ name: `Server ${n}` }));
const callers = await callersOf(environment.deps, await listServers(environment.deps, names));
const port = Number(new URL(web.url).port);
const killed = new AbortController();
void web.ended.then(() => killed.abort());

/** Opens a connection that sends its requests and reads nothing. */
function flood(n: number): Socket {
  const localAddress = `127.1.0.${1 + Math.floor(n / PER_ADDRESS)}`;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.pause();
  socket.on('error', () => undefined);
  const page = (i: number) => `GET /servers/server-${(n + i) % names.length} HTTP/1.1\r\nHost: x\r\n\r\n`;
  socket.write(Array.from({ length: requests }, (_, i) => page(i)).join(''));
  return socket;
}

/** Casts 20 votes a second for a time; prints how long they took. */
async function vote(title: string, forMs: number): Promise<void> {
  const times: number[] = [];
  let failed = 0;
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < forMs / 50 && !killed.signal.aborted; n += 1) {
    const began = performance.now();
    const cast = castVote(
      web.url,
      callers[n % callers.length] as Caller,
      `${Math.random().toString(36).slice(2, 12)}`,
    );
    sent.push(
      cast.then(
        () => times.push(performance.now() - began),
        () => {
          failed += 1;
        },
      ),
    );
    await pause(50);
  }
  await Promise.all(sent);
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  console.log(
    `${title}: ${times.length} votes, ${failed} failed, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${((await residentMb(web.pid).catch(() => 0)) || 0).toFixed(0)} MB resident`,
  );
}

await vote('before', 5_000);
for (let round = 1; round <= rounds && !killed.signal.aborted; round += 1) {
  const open = Array.from({ length: sockets }, (_, n) => flood(n));
  await vote(`unread answers, round ${round}`, HELD_MS);
  console.log(`  connections still open: ${open.filter(({ destroyed }) => !destroyed).length}`);
  for (const socket of open) socket.destroy();
  await vote(`after round ${round}`, 3_000);
}
const group = limit ? `the group had at most ${limit.peakMb().toFixed(0)} MB` : 'not limited';
console.log(`${killed.signal.aborted ? 'the process has ended' : 'not killed'}; ${group}`);
await environment.close();
limit?.remove();
process.exit(killed.signal.aborted ? 1 : 0);
