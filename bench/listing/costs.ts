/**
 * Measures the cost of requests: for each kind of request, without cache, the CPU time of the web process and of
 * mongod; and the time of a worker's child process for a picture. (bench/api measures the API.)
 *
 *   node bench/listing/costs.ts [servers] [requests of a kind]
 *
 * The application answers in this process without a socket, one request after another, each from another network.
 * README.md in this folder has the table.
 */

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import sharp from 'sharp';
import { buildApp } from '../../src/app.ts';
import { serverInfo } from '../../src/history/server-info.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { createPictureProcess } from '../../src/platform/pictures/picture-process.ts';
import { watchReadiness } from '../../src/process/health.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { drawPicture, PREVIEWS } from '../../src/servers/drawn-pictures.ts';
import { shareDrawing } from '../../src/site/public/share-image.ts';
import { cpuSeconds, openEnvironment } from '../delivery/environment.ts';
import { loadServers, nameAt, TAGS } from './load-servers.ts';
import { bannerForm, newOwner, ownOrigin } from './owner.ts';

const [servers = 5_000, requests = 200] = process.argv.slice(2).map(Number);

console.log(`node bench/listing/costs.ts ${servers} ${requests}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const loaded = await loadServers(deps, servers);
const stopping = new AbortController();
const app = await buildApp(deps, {
  metrics: createMetrics(deps),
  readiness: watchReadiness(deps, stopping.signal),
  stopping: stopping.signal,
});
const listed = await deps.servers
  .find({}, { projection: { slug: 1 } })
  .sort({ rankPosition: 1 })
  .limit(2 * requests + 20)
  .toArray();
const slugs = listed.map(({ slug }) => slug);
const owners: Awaited<ReturnType<typeof newOwner>>[] = [];
for (let n = 0; n < Math.ceil(requests / 20); n += 1) owners.push(await newOwner(deps));
for (const [n, { _id }] of listed.slice(0, requests).entries())
  await deps.servers.updateOne({ _id }, { $set: { ownerId: owners[Math.floor(n / 20)]?.userId ?? null } });
const noise = { width: 1_200, height: 300, channels: 3 as const };
const png = await sharp(randomBytes(1_200 * 300 * 3), { raw: noise })
  .resize(600, 150)
  .png()
  .toBuffer();

type Sent = {
  method?: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  payload?: Buffer | string;
};

let networks = 0;
/** Sends one request from a network of its own. */
async function send({ headers = {}, ...sent }: Sent): Promise<void> {
  networks += 1;
  const from = `10.${networks >> 16}.${(networks >> 8) & 255}.${networks & 255}`;
  const answer = await app.inject({
    ...sent,
    headers: { accept: 'text/html', 'accept-encoding': 'br', ...headers, 'x-forwarded-for': from },
  });
  if (answer.statusCode >= 400) throw new Error(`${sent.url} answered ${answer.statusCode}`);
}

/** The processor time of `times` runs in this process and in mongod, in milliseconds each. */
async function costOf(times: number, run: (n: number) => Promise<unknown>): Promise<string[]> {
  const mongodBefore = await cpuSeconds(environment.mongodPid);
  const before = process.cpuUsage();
  for (let n = 0; n < times; n += 1) await run(n);
  const { user, system } = process.cpuUsage(before);
  const mongod = (await cpuSeconds(environment.mongodPid)) - mongodBefore;
  return [((user + system) / 1_000 / times).toFixed(1), ((mongod * 1_000) / times).toFixed(1)];
}

async function measure(kind: string, request: (n: number) => Sent, times = requests): Promise<void> {
  // Code that runs for the first time is slower, so it runs before the measurement.
  for (let n = 0; n < Math.min(20, times); n += 1) await send(request(times + n));
  // Wait until the pages of the warm-up have left the cache.
  await pause(4 * SECOND);
  const cost = await costOf(times, (n) => send(request(n)));
  console.log(`| ${kind} | ${cost.join(' | ')} |`);
}

const slugAt = (n: number) => slugs[n % slugs.length] ?? '';
const pageAt = (n: number) => 1 + (n % loaded.pages);
const owned = (n: number) => listed[n % requests]?._id.toHexString() ?? '';
const cookieOf = (n: number) => ({ cookie: owners[Math.floor((n % requests) / 20)]?.cookie ?? '' });

console.log('| request | web, ms | mongod, ms |\n|---|---|---|');
await measure('page of a server', (n) => ({ url: `/servers/${slugAt(n)}` }));
await measure('page of a server, signed in', (n) => ({ url: `/servers/${slugAt(n)}`, headers: cookieOf(n) }));
await measure('page of a server from the cache', () => ({ url: `/servers/${slugAt(0)}` }));
await measure('vote page', (n) => ({ url: `/servers/${slugAt(n)}/vote` }));
await measure('page of the ranking', (n) => ({ url: `/?page=${pageAt(n)}` }));
await measure('filtered ranking', (n) => ({
  url: `/games/minecraft?page=${1 + (n % Math.ceil(loaded.pages / 4))}`,
}));
await measure('ranking of a tag', (n) => ({ url: `/tags/${TAGS[n % TAGS.length]}?page=${1 + (n >> 3)}` }));
await measure('search', (n) => ({ url: `/?q=${encodeURIComponent(`${nameAt(n * 13)} ${n}`)}` }));
await measure('explained rank', (n) => ({ url: `/how-ranking-works?server=${slugAt(n)}` }));
await measure('site map', () => ({ url: '/sitemaps/1.xml' }), 1);
await measure('preview: first request', (n) => ({ url: `/servers/${slugAt(n)}/card.png` }));
await deps.previewCards.updateMany(
  {},
  { $set: { png: randomBytes(40_000), drawnAt: deps.clock.now() }, $unset: { dueAt: '' } },
);
await measure('preview: stored', (n) => ({ url: `/servers/${slugAt(n)}/card.png` }));
await measure('banner as SVG', (n) => ({ url: `/servers/${slugAt(n)}/banner.svg` }));
await measure('widget', (n) => ({ url: `/servers/${slugAt(n)}/widget` }));
await measure('owner: overview', (n) => ({ url: `/dashboard/servers/${owned(n)}`, headers: cookieOf(n) }));
await measure('owner: profile', (n) => ({
  url: `/dashboard/servers/${owned(n)}/profile`,
  headers: cookieOf(n),
}));
await measure('owner: statistics', (n) => ({
  url: `/dashboard/servers/${owned(n)}/statistics`,
  headers: cookieOf(n),
}));
await deps.rateLimits.deleteMany({});
const form = bannerForm(png);
await measure(
  `upload of a banner (${Math.round(png.length / 1_024)} KB)`,
  (n) => ({
    method: 'POST',
    url: `/dashboard/servers/${owned(n * 20)}/profile/banner`,
    headers: { ...form.headers, ...ownOrigin(deps.config.PUBLIC_URL), ...cookieOf(n * 20) },
    payload: form.body,
  }),
  Math.ceil(requests / 20),
);
// The picture process is a child of a worker. Its CPU time is not part of this process's, so it is measured separately.
let childPid = 0;
const log = createLogger({ LOG_LEVEL: 'debug' }, 'bench', {
  write(line: string) {
    childPid = JSON.parse(line).childPid ?? childPid;
  },
});
const pictures = createPictureProcess(log, { picturesEach: 1_000 });
async function childCost(kind: string, times: number, run: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < 3; n += 1) await run(n);
  const before = await cpuSeconds(childPid);
  for (let n = 0; n < times; n += 1) await run(n);
  console.log(`| ${kind} | ${((((await cpuSeconds(childPid)) - before) * 1_000) / times).toFixed(1)} | |`);
}
console.log('| worker | child, ms | |\n|---|---|---|');

await deps.previewCards.updateMany({}, { $set: { dueAt: new Date(0) }, $unset: { leaseUntil: '' } });
const drawn = await deps.previewCards
  .find({}, { projection: { _id: 1 } })
  .limit(63)
  .toArray();
await childCost('drawing of a preview', 60, async (n) => {
  const serverId = drawn[n % drawn.length]?._id;
  if (!(serverId instanceof ObjectId)) return;
  await drawPicture(deps, PREVIEWS, { serverId, id: serverId }, async (server) => {
    const svg = shareDrawing({ info: await serverInfo(deps, server), site: 'Tallyport' });
    return pictures.run('drawing', { svg });
  });
  await deps.previewCards.updateOne({ _id: serverId }, { $set: { dueAt: new Date(0) } });
});
await childCost('encoding of a banner', 30, () => pictures.run('banner', { bytes: png }));
pictures.close();
stopping.abort();
await app.close();
await environment.close();
