/**
 * Measures the public pages of a large listing: how many keys and documents their queries examine, and how many pages
 * per second a web process sends, compared with a bare Fastify process that sends the same bytes from memory, in turn:
 *
 *   node bench/listing/pages.ts [servers] [seconds a turn] [turns] [connections]
 *
 * First each page alone, which a process renders once in three seconds. Then so many different pages of the ranking and
 * of servers that none is requested twice within three seconds. The web process, the bare process, the load generator
 * and mongod share one machine.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { openEnvironment } from '../delivery/environment.ts';
import { median, watchCpu } from '../delivery/figures.ts';
import { examinedBy } from './examined.ts';
import type { Answered, Load } from './load.ts';
import { type LoadedServers, loadServers, nameAt } from './load-servers.ts';

const [servers = 100_000, seconds = 5, turns = 5, connections = 50] = process.argv.slice(2).map(Number);

const start = (file: string) => fork(fileURLToPath(new URL(file, import.meta.url)));
/** Sends a message to a child process and returns its answer. */
async function exchange<T>(child: ChildProcess, message: unknown): Promise<T> {
  const answer = once(child, 'message');
  child.send(message as never);
  return (await answer)[0] as T;
}

console.log(`node bench/listing/pages.ts ${servers} ${seconds} ${turns} ${connections}`);
// The load generator sets the client address of each request, so the proxy header must be trusted.
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const loaded = await loadServers(deps, servers);
const times = Object.entries(loaded.seconds).map(([name, s]) => `${name} ${s.toFixed(1)} s`);
console.log(`${servers} servers loaded: ${times.join(', ')}`);
const web = await environment.web();
const bare = start('bare-page.ts');
const [address] = (await once(bare, 'message')) as [AddressInfo];
const bareUrl = `http://127.0.0.1:${address.port}`;
const load = start('load.ts');

/** The measured pages: one page, or many that are requested in turn. */
function measured({ pages, deep, slug }: LoadedServers): Record<string, string[]> {
  const numbers = Array.from({ length: pages }, (_, i) => i + 1);
  return {
    'the ranking': ['/'],
    'a filtered page': ['/games/minecraft?country=DE&online=yes'],
    'a search': [`/?q=${encodeURIComponent(misspelt(nameAt(7)))}`],
    'a deep page': [`/?page=${deep}`],
    'a server’s page': [`/servers/${slug}`],
    'many pages of the ranking': numbers.map((page) => `/?page=${page}`),
    'many filtered pages': numbers.map(
      (page) => `/games/minecraft?page=${1 + (page % Math.ceil(pages / 3))}`,
    ),
    'many searches': numbers.map((number) => `/?q=${encodeURIComponent(misspelt(nameAt(number * 13)))}`),
  };
}

/** A name with two letters swapped. */
function misspelt(name: string): string {
  return `${name.slice(0, 2)}${name[3]}${name[2]}${name.slice(4)}`;
}

/** Requests a page once, without a session, and returns it. */
async function pageAt(path: string): Promise<string> {
  const answer = await fetch(`${web.url}${path}`, { headers: { 'accept-encoding': 'identity' } });
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return answer.text();
}

async function compare(name: string, paths: string[]): Promise<void> {
  const [path = '/'] = paths;
  let html = '';
  const operations = await examinedBy(deps, async () => {
    html = await pageAt(path);
  });
  await exchange(bare, { html });
  const ask = (url: string) => exchange<Answered>(load, { url, paths, seconds, connections } satisfies Load);
  const ratios: number[] = [];
  const ours: Answered[] = [];
  await ask(web.url);
  const cpu = await watchCpu({ web: [web.pid], mongod: [environment.mongodPid] });
  for (let turn = 0; turn < turns; turn += 1) {
    const [own, other] = [await ask(web.url), await ask(bareUrl)];
    ours.push(own);
    ratios.push(own.perSecond / other.perSecond);
  }
  const failed = ours.reduce((sum, { failed }) => sum + failed, 0);
  const rate = median(ours.map(({ perSecond }) => perSecond));
  const p99 = median(ours.map(({ p99Ms }) => p99Ms));
  const kb = (Buffer.byteLength(html) / 1_024).toFixed(0);
  console.log(
    `${name} (${kb} KB): ${rate.toFixed(0)} a second, p99 ${p99.toFixed(0)} ms, ${median(ratios).toFixed(2)} of bare${failed > 0 ? `, ${failed} FAILED` : ''}; ${await cpu()}`,
  );
  for (const { what, keys, documents, returned, isIndexed } of operations)
    console.log(
      `  ${what}: ${keys} keys, ${documents} documents examined, ${returned} returned${isIndexed ? '' : ': OVER THE BOUND'}`,
    );
}

try {
  for (const [name, paths] of Object.entries(measured(loaded))) await compare(name, paths);
} finally {
  load.kill();
  bare.kill();
  await environment.close();
}
