/**
 * Strangers ask for many pictures at once: previews of different servers and banners, in a web process with a memory limit,
 * while votes are cast at a steady rate:
 *
 *   node bench/listing/cards.ts [previews] [banners] [seconds] [votes a second] [MB of the web process]
 *
 * First the votes alone, for half of that time; then the votes beside requests for the previews and, for each of the
 * banners, an upload and a request for the image. The web process is in a control group, so the kernel kills it above the
 * limit. Times are measured from when a vote was due. All processes share one machine.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { listServers } from '../../test/support/servers.ts';
import { type Caller, callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment, residentMb } from '../delivery/environment.ts';
import { against, quantile, watchCpu } from '../delivery/figures.ts';
import { limitMemory } from './memory-limit.ts';
import { bannerForm, newOwner, ownOrigin } from './owner.ts';

const [cards = 2_000, banners = 200, seconds = 60, votesPerSecond = 20, limitMb = 512] = process.argv
  .slice(2)
  .map(Number);
const AIM = 1.5;
/** A user may upload 20 banners an hour. */
const UPLOADS_OF_A_USER = 20;

console.log(`node bench/listing/cards.ts ${cards} ${banners} ${seconds} ${votesPerSecond} ${limitMb}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const limit = limitMemory(limitMb);
const web = await environment.web({}, (pid) => limit?.add(pid));
// What PUBLIC_URL is by default.
const publicUrl = web.url.replace('127.0.0.1', 'localhost');
const worker = await environment.worker();
const names = Array.from({ length: cards }, (_, n) => ({ name: `Preview ${n}` }));
const serverIds = await listServers(deps, names);
const callers = await callersOf(deps, serverIds.slice(0, 20));
const owners: Awaited<ReturnType<typeof newOwner>>[] = [];
for (let n = 0; n < Math.ceil(banners / UPLOADS_OF_A_USER); n += 1) owners.push(await newOwner(deps));
for (const [n, serverId] of serverIds.slice(0, banners).entries())
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { ownerId: owners[Math.floor(n / UPLOADS_OF_A_USER)]?.userId ?? null } },
  );
const noise = { width: 1_200, height: 300, channels: 3 as const };
const png = await sharp(randomBytes(1_200 * 300 * 3), { raw: noise })
  .resize(600, 150)
  .png()
  .toBuffer();

const killed = new AbortController();
void web.ended.then(() => killed.abort());
let peakMb = 0;
const watching = setInterval(async () => {
  peakMb = Math.max(peakMb, (await residentMb(web.pid).catch(() => 0)) || 0);
}, 200);

const answers = new Map<string, number>();
const note = (what: string) => answers.set(what, (answers.get(what) ?? 0) + 1);
/** Each request comes from another network: one network causes 60 drawings a minute. */
const from = (n: number) => ({ 'x-forwarded-for': `10.${n >> 8}.${n & 255}.7` });

/** Runs `act` for 0 to `count` − 1, spread evenly over the time. */
async function spread(count: number, act: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n < count && !killed.signal.aborted; n += 1) {
    await pause(Math.max(0, began + (n * seconds * 1_000) / count - performance.now()));
    sent.push(act(n).catch((error: unknown) => void note(`failed: ${String(error)}`)));
  }
  await Promise.all(sent);
}

async function get(path: string, n: number): Promise<void> {
  const answer = await fetch(`${web.url}${path}`, { headers: from(n) });
  await answer.arrayBuffer();
  note(`${path.replace(/^.*\//, '')} ${answer.status}`);
}

async function upload(n: number): Promise<void> {
  const form = bannerForm(png);
  const cookie = owners[Math.floor(n / UPLOADS_OF_A_USER)]?.cookie ?? '';
  const headers = { ...form.headers, ...ownOrigin(publicUrl), ...from(n), cookie };
  const path = `/dashboard/servers/${serverIds[n]?.toHexString()}/profile/banner`;
  const body = new Uint8Array(form.body);
  const answer = await fetch(`${web.url}${path}`, { method: 'POST', headers, body, redirect: 'manual' });
  await answer.arrayBuffer();
  note(`upload ${answer.status}`);
}

/** Casts votes at the fixed rate; returns the response times in milliseconds. */
async function vote(name: string, forSeconds: number): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < forSeconds * votesPerSecond && !killed.signal.aborted; n += 1) {
    const due = began + (n * 1_000) / votesPerSecond;
    await pause(Math.max(0, due - performance.now()));
    const caller = callers[n % callers.length] as Caller;
    const cast = castVote(web.url, caller, `${name}${n}`);
    sent.push(
      cast.then(
        () => times.push(performance.now() - due),
        () => note('vote failed'),
      ),
    );
  }
  await Promise.all(sent);
  return times;
}

async function measured(name: string, work: () => Promise<number[]>): Promise<number> {
  const cpu = await watchCpu({ web: [web.pid], worker: [worker.pid], mongod: [environment.mongodPid] });
  const times = await work();
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  console.log(
    `${name}: ${times.length} votes, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${await cpu()}`,
  );
  return p99;
}

await vote('warm', 5);
const idle = await measured('votes alone', () => vote('idle', seconds / 2));
const loaded = await measured('votes beside the pictures', async () => {
  const slugs = names.map((_, n) => `preview-${n}`);
  const [times] = await Promise.all([
    vote('busy', seconds),
    spread(cards, (n) => get(`/servers/${slugs[n]}/card.png`, n)),
    spread(banners, (n) => get(`/servers/${slugs[n]}/banner.svg`, n)),
    spread(banners, upload),
  ]);
  return times;
});
clearInterval(watching);
console.log(`answers: ${[...answers].map(([what, times]) => `${what} × ${times}`).join(', ')}`);
const drawn = await deps.previewCards.countDocuments({ drawnAt: { $exists: true } });
const waiting = await deps.pictureUploads.countDocuments();
console.log(
  `previews drawn by then: ${drawn} of ${await deps.previewCards.countDocuments()}; banners that wait: ${waiting}`,
);
const group = limit
  ? `the group had at most ${limit.peakMb().toFixed(0)} MB`
  : 'not limited: no control group could be made';
console.log(
  `web process: at most ${peakMb.toFixed(0)} MB resident, ${group}; ${killed.signal.aborted ? 'killed' : 'not killed'}`,
);
const isWithin = !killed.signal.aborted && peakMb < limitMb;
console.log(
  `memory ${against(`< ${limitMb} MB, no restart`, isWithin)}; p99 busy ÷ alone ${(loaded / idle).toFixed(2)} ${against(`< ${AIM}`, loaded / idle < AIM)}`,
);
await environment.close();
limit?.remove();
process.exit(isWithin ? 0 : 1);
