/**
 * Measures votes while the banners of many servers are asked for at once, as PNG, for the first time: every one gets a
 * placeholder and is drawn by the worker.
 *
 *   node bench/listing/banners.ts [banners] [rounds] [seconds] [votes a second]
 *   node bench/listing/banners.ts 1000 2 30 20
 *
 * Each round has three phases in turn: votes alone, for `seconds`; votes while the banners are asked for, for as long;
 * votes while the worker draws the rest. The time of a vote is measured from the moment at which it was due. All
 * processes share one machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listServers } from '../../test/support/servers.ts';
import { type Caller, callersOf, castVote } from '../delivery/api-client.ts';
import { openEnvironment, residentMb, TICKS_A_SECOND } from '../delivery/environment.ts';
import { against, quantile } from '../delivery/figures.ts';
import type { PictureLoad } from './picture-load.ts';

const [banners = 1_000, rounds = 2, seconds = 30, votesPerSecond = 20] = process.argv.slice(2).map(Number);
const AIM = 1.5;

console.log(`node bench/listing/banners.ts ${banners} ${rounds} ${seconds} ${votesPerSecond}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const web = await environment.web();
const worker = await environment.worker();
const WARM_UP = 50;
const names = Array.from({ length: WARM_UP + rounds * banners }, (_, n) => ({ name: `Banner ${n}` }));
const callers = await callersOf(deps, (await listServers(deps, names)).slice(0, 20));

/** Of the picture processes that run, whose ids change. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** In seconds, with the children that have ended and those that run. */
async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
  const children = await Promise.all((await childrenOf(pid)).map(cpuOf));
  return children.reduce((sum, one) => sum + one, own);
}

const peaks = { web: 0, worker: 0, 'picture process': 0 };
const watching = setInterval(async () => {
  const note = async (name: keyof typeof peaks, pid: number) => {
    peaks[name] = Math.max(peaks[name], (await residentMb(pid).catch(() => 0)) || 0);
  };
  await note('web', web.pid);
  await note('worker', worker.pid);
  for (const pid of await childrenOf(worker.pid)) await note('picture process', pid);
}, 200);

let failedVotes = 0;
let phase = 0;

/** Casts votes at the fixed rate until `isOver`; returns the response times in milliseconds. */
async function vote(isOver: (elapsedSeconds: number) => boolean): Promise<number[]> {
  phase += 1;
  const times: number[] = [];
  const began = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let n = 0; !isOver((performance.now() - began) / 1_000); n += 1) {
    const due = began + (n * 1_000) / votesPerSecond;
    await pause(Math.max(0, due - performance.now()));
    const cast = castVote(web.url, callers[n % callers.length] as Caller, `p${phase}-${n}`);
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

async function measured(name: string, work: () => Promise<number[]>): Promise<number[]> {
  const began = performance.now();
  const used = async () => [await cpuOf(web.pid), await cpuOf(worker.pid)] as const;
  const [webBefore, workerBefore] = await used();
  const times = await work();
  const [webAfter, workerAfter] = await used();
  const share = (cpu: number) => `${((100_000 * cpu) / (performance.now() - began)).toFixed(0)} %`;
  console.log(
    `${name}: ${times.length} votes, p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms; of one core: web ${share(webAfter - webBefore)}, worker ${share(workerAfter - workerBefore)}`,
  );
  return times;
}

const load = fork(fileURLToPath(new URL('picture-load.ts', import.meta.url)));
const answers = new Map<string, number>();

/** Of the servers from number `from` on, all at once. */
async function ask(from: number, times: number): Promise<void> {
  const paths = Array.from({ length: times }, (_, n) => `/servers/banner-${from + n}/banner.png?size=468x60`);
  const urls = { url: web.url, publicUrl: web.url };
  load.send({
    ...urls,
    seconds: 0,
    previews: [],
    banners: paths,
    uploads: [],
    png: '',
  } satisfies PictureLoad);
  const [counted] = (await once(load, 'message')) as [[string, number][]];
  for (const [what, count] of counted) answers.set(what, (answers.get(what) ?? 0) + count);
}

const dueNow = () => deps.bannerPictures.countDocuments({ dueAt: { $exists: true } });

/** Until the worker has drawn all of them. */
async function settle(): Promise<void> {
  while ((await dueNow()) > 0) await pause(500);
}

// Code that runs for the first time is slower, so it runs before the measurement.
await ask(0, WARM_UP);
await vote((elapsed) => elapsed >= 5);
await settle();

const all: Record<'alone' | 'asked' | 'drawn', number[]> = { alone: [], asked: [], drawn: [] };
for (let round = 0; round < rounds; round += 1) {
  const from = WARM_UP + round * banners;
  const isOver = (elapsed: number) => elapsed >= seconds;
  all.alone.push(...(await measured('votes alone', () => vote(isOver))));
  const asked = await measured(`votes while ${banners} banners are asked for`, async () => {
    const [times] = await Promise.all([vote(isOver), ask(from, banners)]);
    return times;
  });
  all.asked.push(...asked);
  let left = await dueNow();
  const counting = setInterval(async () => {
    left = await dueNow();
  }, 1_000);
  if (left > 0)
    all.drawn.push(
      ...(await measured(`votes while the last ${left} are drawn`, () => vote(() => left === 0))),
    );
  clearInterval(counting);
}
load.disconnect();
clearInterval(watching);
const drawn = await deps.bannerPictures.countDocuments({ drawnAt: { $exists: true } });
console.log(
  `answers: ${[...answers].map(([what, times]) => `${what} × ${times}`).join(', ')}; banners drawn: ${drawn}; votes that failed: ${failedVotes}`,
);
const memory = Object.entries(peaks).map(([name, mb]) => `${name} ${mb.toFixed(0)} MB`);
console.log(`memory at most: ${memory.join(', ')}`);
const alone = quantile(all.alone, 0.99);
const ratioOf = (times: number[]) => quantile(times, 0.99) / alone;
const ratio = ratioOf([...all.asked, ...all.drawn]);
console.log(
  `p99 beside banners ÷ alone ${ratio.toFixed(2)} ${against(`< ${AIM}`, ratio < AIM)}; while they are asked for ${ratioOf(all.asked).toFixed(2)}, while the rest is drawn ${ratioOf(all.drawn).toFixed(2)}`,
);
await environment.close();
process.exit(ratio < AIM ? 0 : 1);
