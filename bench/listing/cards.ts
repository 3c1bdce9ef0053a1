/**
 * Measures votes in a web process with a memory limit, while other clients request many pictures: previews of different
 * servers, and banners.
 *
 *   node bench/listing/cards.ts [previews] [banners] [seconds] [votes a second] [MB of the web process] [uploads]
 *
 * There are three phases: votes alone, for half of the time; votes while another web process answers half of the
 * picture requests, which shows the cost of sharing the machine; votes while the same web process answers the other
 * half. A picture request is one for a preview or for a banner; by default a new banner is also uploaded for each banner
 * that is requested (`uploads` 0: none is). The measured process is in a control group, so the kernel kills it above
 * the limit. The time of a vote is measured from the moment at which it was due. All processes share one machine.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { listServers } from '../../test/support/servers.ts';
import { type Caller, callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment, residentMb } from '../delivery/environment.ts';
import { against, quantile, watchCpu } from '../delivery/figures.ts';
import { limitMemory } from './memory-limit.ts';
import { newOwner } from './owner.ts';
import type { PictureLoad } from './picture-load.ts';

const [cards = 2_000, banners = 200, seconds = 60, votesPerSecond = 20, limitMb = 512, uploads = banners] =
  process.argv.slice(2).map(Number);
const AIM = 1.5;
/** The limit of banner uploads per user and hour. */
const UPLOADS_OF_A_USER = 20;

console.log(
  `node bench/listing/cards.ts ${cards} ${banners} ${seconds} ${votesPerSecond} ${limitMb} ${uploads}`,
);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const limit = limitMemory(limitMb);
const web = await environment.web({}, (pid) => limit?.add(pid));
const other = await environment.web();
const worker = await environment.worker();
const names = Array.from({ length: cards + 2 * Math.ceil(cards / 20) }, (_, n) => ({ name: `Preview ${n}` }));
const serverIds = await listServers(deps, names);
const callers = await callersOf(deps, serverIds.slice(0, 20));
const owners: Awaited<ReturnType<typeof newOwner>>[] = [];
for (let n = 0; n < Math.ceil(names.length / UPLOADS_OF_A_USER); n += 1) owners.push(await newOwner(deps));
const ownerOf = (n: number) => owners[n % owners.length] as (typeof owners)[number];
for (const [n, _id] of serverIds.entries())
  await deps.servers.updateOne({ _id }, { $set: { ownerId: ownerOf(n).userId } });
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

let failedVotes = 0;

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
        () => {
          failedVotes += 1;
        },
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

const load = fork(fileURLToPath(new URL('picture-load.ts', import.meta.url)));
const answers: [what: string, times: number][] = [];

/**
 * Requests for the previews and banners of the servers `from` to `to` − 1, and a banner upload for some of them.
 */
function picturesOf(url: string, from: number, to: number, forSeconds: number): PictureLoad {
  const numbers = Array.from({ length: to - from }, (_, n) => from + n);
  // A banner for every tenth server (by default), so that banners and previews are both spread over the whole time.
  const share = (of: number) => (of > 0 ? numbers.filter((n) => n % Math.ceil(cards / of) === 0) : []);
  return {
    url,
    publicUrl: url.replace('127.0.0.1', 'localhost'),
    seconds: forSeconds,
    previews: numbers.map((n) => `/servers/preview-${n}/card.png`),
    banners: share(banners).map((n) => `/servers/preview-${n}/banner.svg`),
    uploads: share(uploads).map((n) => ({
      path: `/dashboard/servers/${serverIds[n]?.toHexString()}/profile/banner`,
      cookie: ownerOf(n).cookie,
    })),
    png: png.toString('base64'),
  };
}

async function ask(pictures: PictureLoad): Promise<void> {
  load.send(pictures);
  const [counted] = await once(load, 'message');
  answers.push(...counted);
}

/** Casts votes while `pictures` are asked for; returns the p99 of the votes. */
async function besidePictures(name: string, pictures: PictureLoad): Promise<number> {
  return await measured(name, async () => {
    const [times] = await Promise.all([vote(name.length.toString(), pictures.seconds), ask(pictures)]);
    return times;
  });
}

// Code that runs for the first time is slower, so it runs before the measurement.
const warmUp = Math.ceil(cards / 20);
await ask(picturesOf(other.url, 0, warmUp, 5));
await ask(picturesOf(web.url, warmUp, 2 * warmUp, 5));
await vote('warm', 5);
const idle = await measured('votes alone', () => vote('idle', seconds / 2));
const middle = 2 * warmUp + cards / 2;
const shared = await besidePictures(
  'votes beside the pictures of another web process',
  picturesOf(other.url, 2 * warmUp, middle, seconds / 2),
);
const loaded = await besidePictures(
  'votes beside the pictures',
  picturesOf(web.url, middle, 2 * warmUp + cards, seconds / 2),
);
load.disconnect();
clearInterval(watching);
console.log(
  `votes that failed: ${failedVotes}; answers: ${answers.map(([what, times]) => `${what} × ${times}`).join(', ')}`,
);
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
  `memory ${against(`< ${limitMb} MB, no restart`, isWithin)}; p99 busy ÷ alone ${(loaded / idle).toFixed(2)} ${against(`< ${AIM}`, loaded / idle < AIM)}, busy ÷ beside another process's pictures ${(loaded / shared).toFixed(2)}`,
);
await environment.close();
limit?.remove();
process.exit(isWithin ? 0 : 1);
