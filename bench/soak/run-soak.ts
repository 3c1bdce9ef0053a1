/** `npm run soak -- --minutes N --rate R`: memory and handles of each process under an even load. */
import { setTimeout as pause } from 'node:timers/promises';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { notNegative, positive, script } from '../../test/support/script-options.ts';
import { listCallers, listenAt } from '../api/listing.ts';
import { openEnvironment, type Program, residentMb } from '../delivery/environment.ts';
import { quantile } from '../delivery/figures.ts';
import { openFiles } from './open-files.ts';
import { type Trend, trendOf } from './trend.ts';

const { minutes, warmUp, rate } = script(
  'npm run soak --',
  'Runs a web process, a worker, a scheduler, mongod and Redis under an even load of votes, reports, reads and pages. Measures each process: resident memory, the used heap after collections, open files. After the warm-up the heap must not grow by over 1 MB an hour, nor the open files outside of pools of connections by 10: exit code 1 when the growth is certain (twice its standard error).',
)
  .option('--minutes <n>', 'how long, without the warm-up', positive, 60)
  .option('--warm-up <n>', 'minutes before the first measurement', notNegative, 10)
  .option('--rate <n>', 'calls a second', positive, 100)
  .parse()
  .opts<{ minutes: number; warmUp: number; rate: number }>();

const SERVERS = 200;
const MOST_MB_AN_HOUR = 1;
/** The allowed increase. The minimum of a minute varies, because connections to listeners are open for moments. */
const MOST_OPENED = 10;
/** The minimum of the used heap within this time is the value right after a garbage collection. */
const WINDOW_MS = MINUTE;

const environment = await openEnvironment();
const { deps } = environment;
const callers = await listCallers(deps, SERVERS);
const listener = new VotifierListener();
await listener.start();
for (const caller of callers.slice(0, SERVERS / 2)) await listenAt(deps, caller, listener);
const programs: Record<string, Program> = {
  worker: await environment.worker(),
  scheduler: await environment.program('workers/scheduler.ts'),
  web: await environment.web(),
};
const { url } = programs.web as Program;

/** Call number `n` of a mix like the demo's: mostly votes and reports, some reads and pages. */
function call(n: number): Promise<Response> {
  const { serverId, token } = callers[n % callers.length] ?? { serverId: '', token: '' };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const api = (path: string, body?: object) =>
    fetch(`${url}/api/v1/servers/${serverId}/${path}`, {
      headers,
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
  const kind = n % 20;
  if (kind < 8) return api('vote', { username: `Player${n}` });
  if (kind < 12) return api('status', { online_players: n % 100, max_players: 100 });
  if (kind < 16) return api('info');
  if (kind < 17) return api(`check-vote?username=Player${n - 20}`);
  const pages = ['/', '/?sort=players', `/?q=${n % 100}`];
  return fetch(`${url}${pages[kind - 17]}`, { headers: { accept: 'text/html' } });
}

const stopping = new AbortController();
const counts = { answered: 0, refused: 0, failed: 0 };
async function counted(n: number): Promise<void> {
  try {
    const answer = await call(n);
    await answer.arrayBuffer();
    counts[answer.ok ? 'answered' : answer.status < 500 ? 'refused' : 'failed'] += 1;
  } catch {
    counts.failed += 1;
  }
}

const load = (async () => {
  const under = new Set<Promise<void>>();
  const began = performance.now();
  for (let n = 0; !stopping.signal.aborted; n += 1) {
    const one = counted(n).finally(() => under.delete(one));
    under.add(one);
    await pause(Math.max(0, began + ((n + 1) * SECOND) / rate - performance.now()));
  }
  await Promise.all(under);
})();

/** The ports of pooled connections: mongod, Redis, and the callers' connections to the web process. */
const { MONGODB_URI, REDIS_URL } = deps.config;
const POOLED = new Set([MONGODB_URI, REDIS_URL, url].map((address) => Number(new URL(address).port)));

type Sample = { at: number; rss: number; heap: number; allFiles: number; files: number };
const samples: Record<string, Sample[]> = {};

async function heapMb({ metricsUrl }: Program): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(text)?.[1]) / 1e6;
}

async function measure(name: string, pid: number, program?: Program): Promise<void> {
  const [rss, heap, files] = await Promise.all([
    residentMb(pid),
    program ? heapMb(program) : Number.NaN,
    openFiles(pid, POOLED),
  ]);
  samples[name] ??= [];
  samples[name].push({ at: performance.now(), rss, heap, allFiles: files.all, files: files.others });
}

console.log(`${rate} calls a second: ${warmUp} minutes of warm-up, then ${minutes} minutes …`);
await pause(warmUp * MINUTE);
const ends = performance.now() + minutes * MINUTE;
while (performance.now() < ends) {
  await Promise.all([
    ...Object.entries(programs).map(([name, program]) => measure(name, program.pid, program)),
    measure('mongod', environment.mongodPid),
    measure('redis', environment.redisPid),
  ]);
  await pause(2 * SECOND);
}
stopping.abort();
await load;

/** The minimum of each window. */
function floors(of: Sample[], key: 'heap' | 'rss' | 'files'): { hours: number[]; values: number[] } {
  const windows = Map.groupBy(of, ({ at }) => Math.floor((at - (of[0]?.at ?? 0)) / WINDOW_MS));
  const all = [...windows.values()].filter((window) => window.length > 5);
  return {
    hours: all.map((window) => (window[0]?.at ?? 0) / (60 * MINUTE)),
    values: all.map((window) => Math.min(...window.map((sample) => sample[key]))),
  };
}

function shownFiles(of: Sample[], key: 'allFiles' | 'files'): string {
  const numbers = of.map((sample) => sample[key]);
  return `${quantile(numbers, 0.5)}, at most ${Math.max(...numbers)}`;
}

let isGrowing = false;
const table = Object.fromEntries(
  Object.entries(samples).map(([name, of]) => {
    const [heap, rss] = [floors(of, 'heap'), floors(of, 'rss')];
    const ours = name in programs;
    const heapTrend = trendOf(heap.hours, heap.values);
    const rssTrend = trendOf(rss.hours, rss.values);
    const files = floors(of, 'files');
    const filesTrend = trendOf(files.hours, files.values);
    const isCertain = ({ slope, error }: Trend, most: number) => slope - 2 * error > most;
    const opened = (files.values.at(-1) ?? 0) - (files.values[0] ?? 0);
    const verdict =
      ours && (isCertain(heapTrend, MOST_MB_AN_HOUR) || (opened >= MOST_OPENED && isCertain(filesTrend, 0)));
    isGrowing ||= verdict;
    const shown = ({ slope, error }: Trend) => `${slope.toFixed(1)} ± ${(2 * error).toFixed(1)}`;
    return [
      name,
      {
        'RSS MB': `${rss.values[0]?.toFixed(0)} → ${rss.values.at(-1)?.toFixed(0)}`,
        'RSS MB/h': shown(rssTrend),
        'heap MB': ours ? `${heap.values[0]?.toFixed(1)} → ${heap.values.at(-1)?.toFixed(1)}` : '',
        'heap MB/h': ours ? shown(heapTrend) : '',
        files: shownFiles(of, 'allFiles'),
        'not in pools': shownFiles(of, 'files'),
        'those/h': shown(filesTrend),
        flat: ours ? (verdict ? 'NO' : 'yes') : '',
      },
    ];
  }),
);
console.table(table);
console.log(`${counts.answered} answered, ${counts.refused} refused, ${counts.failed} failed.`);
await environment.close();
await listener.stop();
process.exit(isGrowing ? 1 : 0);
