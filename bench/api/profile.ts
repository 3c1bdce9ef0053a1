/**
 * Where a web process spends its time under votes, as a V8 profile of its last seconds, and a flame graph of it:
 *
 *   node bench/api/profile.ts [ours|peer] [connections] [seconds] [endpoint] > vote.cpuprofile
 *   npx 0x@6.0.0 --visualize-cpu-profile vote.cpuprofile --output-html vote.html
 *
 * The process writes the profile when it ends (`--cpu-prof`). Chrome and VS Code open it too.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnvironment } from '../delivery/environment.ts';
import { openArena } from './arena.ts';
import { listCallers } from './listing.ts';
import type { Endpoint } from './load.ts';

const [side = 'ours', connections = '50', seconds = '5', endpoint = 'vote'] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'profile-'));
const NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${folder}`;
const environment = await openEnvironment();
const callers = await listCallers(environment.deps, 1_000);
const arena = openArena(environment);
const web =
  side === 'ours'
    ? await environment.web({ NODE_OPTIONS, SHUTDOWN_DELAY_MS: '0' })
    : await environment.program('bench/api/peer.ts', { NODE_OPTIONS });
const round = { endpoint: endpoint as Endpoint, connections: Number(connections), callers };
const score = await arena.play(web, {
  ...round,
  seconds: Number(seconds),
  answers: Number.POSITIVE_INFINITY,
});
await web.stop();
arena.close();
await environment.close();

const [name = ''] = await readdir(folder);
const whole: Profile = JSON.parse(await readFile(join(folder, name), 'utf8'));
await rm(folder, { recursive: true });
console.error(`${side}, ${endpoint}, ${connections} connections: ${score.perSecond.toFixed(0)}/s`);
console.log(JSON.stringify(lastSeconds(whole, Number(seconds))));

/** The fields of a V8 profile that are used: times in microseconds, and the node of each sample. */
type Profile = {
  nodes: { id: number; hitCount: number }[];
  samples: number[];
  timeDeltas: number[];
  startTime: number;
  endTime: number;
};

/** Only the last seconds of the profile. The start of a process takes long and says nothing about its work. */
function lastSeconds(profile: Profile, seconds: number): Profile {
  const startTime = profile.endTime - seconds * 1e6;
  let at = profile.startTime;
  const first = profile.timeDeltas.findIndex((delta) => {
    at += delta;
    return at >= startTime;
  });
  const samples = profile.samples.slice(first);
  const hits = new Map<number, number>();
  for (const id of samples) hits.set(id, (hits.get(id) ?? 0) + 1);
  const nodes = profile.nodes.map((node) => ({ ...node, hitCount: hits.get(node.id) ?? 0 }));
  return { ...profile, nodes, samples, timeDeltas: profile.timeDeltas.slice(first), startTime };
}
