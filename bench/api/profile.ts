/**
 * A flame graph of a web process under load:
 *
 *   node bench/api/profile.ts [ours|peer] [connections] [seconds] [endpoint] > docs/flame-vote.svg
 *
 * The process writes a V8 profile when it ends (`--cpu-prof`). The functions with the most own time are printed on
 * standard error.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEnvironment } from '../delivery/environment.ts';
import { openArena } from './arena.ts';
import { flameGraph, lastSeconds, ownTimes, type Profile } from './flame-graph.ts';
import { listCallers } from './listing.ts';
import type { Endpoint } from './load.ts';

const [side = 'ours', connections = '50', seconds = '5', endpoint = 'vote'] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'profile-'));
const NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${folder}`;
const environment = await openEnvironment();
const callers = await listCallers(environment.platform, 1_000);
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
const profile = lastSeconds(whole, Number(seconds));
await rm(folder, { recursive: true });
console.error(`${side}, ${endpoint}, ${connections} connections: ${score.perSecond.toFixed(0)}/s`);
for (const [place, share] of ownTimes(profile).slice(0, 45))
  console.error(`${(100 * share).toFixed(1).padStart(5)} %  ${place}`);
console.log(flameGraph(profile, `${side}: ${endpoint} at ${connections} connections`));
