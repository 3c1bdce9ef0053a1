/**
 * Measures the pages of signed-in users in a large listing: how many keys and documents the queries of each examine, how
 * many commands MongoDB gets for it, and its time, first and then as the median of several requests:
 *
 *   node bench/listing/signed-in.ts [servers] [votes] [rounds]
 *
 * The owner has 200 servers, the first 8 of them 5 % of all votes each; each round requests the pages of another of
 * these 8. The inbox has thousands of items of each kind (load-open-items.ts). There is one request at a time. Each line
 * on the standard input measures again, with a new web process: to compare a change without another load.
 */
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf, markDone } from '../../src/platform/periods/period-marks.ts';
import { ADMIN_AREA } from '../../src/site/admin/admin-pages.ts';
import { INBOX_KIND_NAMES } from '../../src/site/admin/inbox/inbox.ts';
import type { Area } from '../../src/site/shared/area.ts';
import { SERVER_AREA } from '../../src/site/shared/dashboard-pages.ts';
import { withIds } from '../../test/support/with-ids.ts';
import { addSamples } from '../aggregates/fill-samples.ts';
import { openEnvironment } from '../delivery/environment.ts';
import { median } from '../delivery/figures.ts';
import { type Examined, examinedBy } from './examined.ts';
import { loadFigures } from './load-figures.ts';
import { loadOpenItems } from './load-open-items.ts';
import { loadServers } from './load-servers.ts';
import { BIG, loadVotes } from './load-votes.ts';
import { newOperator, newOwner } from './owner.ts';

const [servers = 100_000, votes = 10_000_000, rounds = 10] = process.argv.slice(2).map(Number);

/** So many servers, the largest ones, have one owner. */
const OWNED = 200;
/** So many have a sample of every five minutes for 30 days. */
const SAMPLED = 50;
const SAMPLE_DAYS = 30;

console.log(`node bench/listing/signed-in.ts ${servers} ${votes} ${rounds}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const today = dayOf(deps.clock.now());

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  console.log(
    `${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s, load ${loadavg()[0]?.toFixed(0)}`,
  );
  return result;
}

const ids: ObjectId[] = [];
await loadServers(deps, servers, async (serverIds) => {
  ids.push(...serverIds);
  const excluding = { exclusionId: new ObjectId(), server: 1, fromDay: 12, days: 6 };
  const loaded = await timed('votes and indexes', () => loadVotes(deps, serverIds, votes, excluding));
  console.log(`${loaded.votes} votes, ${loaded.listeners} listeners`);
  await timed('open items', () => loadOpenItems(deps, serverIds));
  // The ranking weighs votes from this day on.
  await markDone(deps, 'weigh-votes', addDays(today, -2));
}).then(({ seconds }) => console.log(seconds));
await timed('samples', async () => {
  for (let ago = SAMPLE_DAYS; ago >= 0; ago -= 1)
    await addSamples(deps.mongo, ids.slice(0, SAMPLED), addDays(today, -ago));
});
await timed('figures of the site', () => loadFigures(deps, ids.slice(0, OWNED)));

const owner = await newOwner(deps);
await deps.servers.updateMany({ _id: { $in: ids.slice(0, OWNED) } }, { $set: { ownerId: owner.userId } });
const operator = await newOperator(deps);
for (const serverId of ids.slice(0, BIG)) {
  const settings = { name: 'bench', kinds: ['goal.reached' as const], url: 'https://events.example.org/' };
  await addSubscription(deps, serverId, { type: 'http', ...settings }, 'bench');
}

/** The ids in the paths of a round. */
async function idsOf(round: number): Promise<Record<string, string>> {
  const serverId = ids[round % BIG] ?? new ObjectId();
  const [listener, subscription, vote] = await Promise.all([
    deps.listeners.findOne({ serverId }),
    deps.subscriptions.findOne({ serverId }),
    deps.votes.findOne({ serverId }, { sort: { votedAt: -1 } }),
  ]);
  const of = {
    serverId,
    listenerId: listener?._id,
    subscriptionId: subscription?._id,
    voteId: vote?._id,
    userId: owner.userId,
  };
  return Object.fromEntries(Object.entries(of).map(([name, id]) => [name, String(id)]));
}

const pathsOf = ({ path: above, pages }: Area) =>
  pages.filter(({ kind }) => kind === undefined).map(({ path, example = '' }) => `${above}${path}${example}`);

const OF_OWNERS = [
  '/dashboard',
  ...pathsOf(SERVER_AREA),
  ...[
    'deliveries?days=7',
    'deliveries?days=90',
    'statistics?days=90',
    'votes?state=waiting',
    'votes?state=failed',
    'votes?state=unconfirmed',
    'votes?state=sent-not-confirmed',
    'votes?player=player7',
    'votes?since=2020-01-01',
    'votes/resend?state=failed',
    'reviews?page=100',
  ].map((path) => `/dashboard/servers/:serverId/${path}`),
];
const OF_OPERATORS = [
  ...pathsOf(ADMIN_AREA).filter((path) => !path.includes('/settings/')),
  ...[
    ...INBOX_KIND_NAMES.map((kind) => `?tab=${kind}`),
    '/figures?days=7',
    '/figures?days=90',
    '/figures?days=365',
    '/servers?q=harbour',
    '/servers?list=hidden',
    '/servers?list=removed',
    '/users?q=user-7',
    '/users?role=operator',
    '/reviews?state=approved',
    '/votes',
    '/votes?server=:serverId&player=player7',
    '/votes?server=:serverId&since=2020-01-01T00:00',
    '/audit?by=cli',
    '/audit?server=:serverId',
    '/audit?action=listener.set',
  ].map((path) => `/operator${path}`),
];

type Web = Awaited<ReturnType<typeof environment.web>>;

let requests = 0;

async function timeOf(web: Web, path: string): Promise<number> {
  for (;;) {
    const { ms, status } = await send(web, path);
    if (status === 200) return ms;
    console.log(`${path} answered ${status}`);
    if (status !== 503) return ms;
    // The machine is too busy, so the process refuses pages.
    await pause(SECOND);
  }
}

async function send(web: Web, path: string): Promise<{ ms: number; status: number }> {
  requests += 1;
  const { cookie } = path.startsWith('/operator') ? operator : owner;
  const began = performance.now();
  const answer = await fetch(`${web.url}${path}`, {
    headers: {
      cookie,
      'x-forwarded-for': `10.1.${(requests >> 8) & 255}.${requests & 255}`,
      accept: 'text/html',
    },
    redirect: 'manual',
  });
  await answer.arrayBuffer();
  const ms = performance.now() - began;
  return { ms, status: answer.status };
}

const most = ({ keys, documents }: Examined) => Math.max(keys, documents);
const examinedText = (one: Examined) => `${most(one)} : ${one.returned} (${one.what})`;

async function measure(): Promise<void> {
  const web = await environment.web();
  const all = [...OF_OWNERS, ...OF_OPERATORS];
  const roundIds = await Promise.all(Array.from({ length: rounds + 1 }, (_, round) => idsOf(round)));
  const pathIn = (page: string, round: number) => withIds(page, roundIds[round] ?? {});
  console.log(
    `load ${loadavg()[0]?.toFixed(0)}\n| page | commands | largest query | first, ms | median, ms |\n|---|---|---|---|---|`,
  );
  // The first request of a page reads all its modules.
  for (const page of all) await timeOf(web, pathIn(page, rounds));
  for (const page of all) {
    const first: number[] = [];
    const operations = await examinedBy(deps, async () => first.push(await timeOf(web, pathIn(page, 0))));
    const times: number[] = [];
    for (let round = 1; round <= rounds; round += 1) times.push(await timeOf(web, pathIn(page, round)));
    const largest = operations.toSorted((one, other) => most(other) - most(one))[0];
    const cells = [
      page,
      operations.length,
      largest ? examinedText(largest) : '',
      first[0]?.toFixed(0),
      median(times).toFixed(0),
    ];
    console.log(`| ${cells.join(' | ')} |`);
    for (const one of operations.filter(({ isIndexed }) => !isIndexed))
      console.log(`  OVER THE BOUND: ${examinedText(one)}`);
  }
  console.log(`load ${loadavg()[0]?.toFixed(0)}`);
  await web.stop();
}

try {
  // If a measurement fails, for instance because the machine is too busy to start a process: the data stays.
  await measure().catch(console.error);
  for await (const _ of createInterface({ input: process.stdin })) await measure().catch(console.error);
} finally {
  await environment.close();
}
