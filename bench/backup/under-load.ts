/**
 * Takes a backup while votes are cast and delivered, then restores it into another database, where a worker runs:
 *
 *   node bench/backup/under-load.ts [stored votes] [servers] [votes a second]
 *
 * A tenth of the listeners is down during the backup and gets its votes after it. So the backup contains open votes
 * that have arrived since. Prints times and sizes, the time of casts before and during the backup, which votes the
 * restored database sends by itself, and which `resend-restored` sends.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkBackup, restoreBackup } from '../../src/backup/restore-backup.ts';
import { heldByRestore, sendRestoredVotes } from '../../src/delivery/restored-votes.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { ConnectedConfig } from '../../src/platform/config.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { sum } from '../../src/votes/vote-counts.ts';
import { addVotes, listCallers, listenAt } from '../api/listing.ts';
import { openEnvironment } from '../delivery/environment.ts';
import { quantile } from '../delivery/figures.ts';

const [stored = 500_000, servers = 1_000, rate = 60] = process.argv.slice(2, 5).map(Number);
const WITH_LISTENER = 50;
const LISTENED_MS = 20 * SECOND;
const NONE = () => undefined;

console.log(`node bench/backup/under-load.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment();
const { deps } = environment;
const callers = await listCallers(deps, servers);
await addVotes(deps, callers, stored);
const [up, down] = [new VotifierListener(), new VotifierListener()];
await up.start();
await down.start();
const heard = callers.slice(0, WITH_LISTENER);
for (const [index, caller] of heard.entries()) {
  await listenAt(deps, caller, index % 10 === 0 ? down : up);
}
await environment.worker();
const web = await environment.web();

let phase: 'before' | 'during' | 'after' = 'before';
const times = { before: [] as number[], during: [] as number[], after: [] as number[] };
let [accepted, refused] = [0, 0];
const stopping = new AbortController();
const cast = async (n: number): Promise<void> => {
  const { serverId, token } = heard[n % heard.length] ?? { serverId: '', token: '' };
  const of = phase;
  const began = performance.now();
  const answer = await fetch(`${web.url}/api/v1/servers/${serverId}/vote`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: `Player${n}` }),
  }).catch(() => null);
  times[of].push(performance.now() - began);
  if (answer?.status === 200) accepted += 1;
  else refused += 1;
  await answer?.arrayBuffer().catch(() => undefined);
};
const load = (async () => {
  const casts: Promise<void>[] = [];
  for (let n = 0; !stopping.signal.aborted; n += 1) {
    casts.push(cast(n));
    await pause(SECOND / rate);
  }
  await Promise.all(casts);
})();

await pause(10 * SECOND);
await down.stop();
await pause(5 * SECOND);
const parent = await mkdtemp(join(tmpdir(), 'tallyport-bench-'));
const folder = join(parent, 'backup');
phase = 'during';
let began = performance.now();
// The backup runs in its own process, so that it does not occupy the event loop that makes the load.
const { MONGODB_URI, REDIS_URL, SECRET_KEY } = deps.config;
const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
await promisify(execFile)(process.execPath, [cli, 'backup', folder], {
  env: { ...ownEnvironment(), MONGODB_URI, REDIS_URL, SECRET_KEY },
});
const takenMs = performance.now() - began;
phase = 'after';
await down.start();
await pause(5 * SECOND);
stopping.abort();
await load;

const open = () => deps.votes.countDocuments({ 'delivery.state': { $in: ['waiting', 'sending'] } });
const deadline = Date.now() + 5 * MINUTE;
while ((await open()) > 0 && Date.now() < deadline) await pause(SECOND);
const arrivals = () => [...up.votes, ...down.votes].map(({ username }) => username);
const first = arrivals();
const twice = first.length - new Set(first).size;

const config: ConnectedConfig = {
  ...deps.config,
  MONGODB_URI: deps.config.MONGODB_URI.replace('/bench', '/restored'),
  QUEUE_PREFIX: 'restored',
};
const other = await openAppDeps(config, 'restored', { mongoOperationMs: 0 });
began = performance.now();
const manifest = await checkBackup(folder, NONE);
const checkedMs = performance.now() - began;
began = performance.now();
const restored = await restoreBackup(other, folder, manifest, { by: 'bench' });
const restoredMs = performance.now() - began;
const differing: string[] = [];
for (const { name, documents } of manifest.collections) {
  const there = await other.mongo.db.collection(name).countDocuments();
  // These collections differ in any case: the restore adds an audit log entry, and migrations compute the lists again.
  if (there !== documents && !['audit_log', 'listing_summary', 'ranked_lists'].includes(name))
    differing.push(`${name} ${documents} ${there}`);
}
await environment.worker({ MONGODB_URI: config.MONGODB_URI, QUEUE_PREFIX: config.QUEUE_PREFIX });
await pause(LISTENED_MS);
const byItself = arrivals().length - first.length;
const held = await heldByRestore(other);
const sent = await sendRestoredVotes(other, held, 'bench', NONE);
const told = sum(sent.map(({ resent }) => resent?.resent ?? 0));
while (arrivals().length < first.length + told && Date.now() < deadline + 5 * MINUTE) await pause(200);
const after = arrivals().length - first.length;

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const ms = (values: number[], share: number) => `${quantile(values, share).toFixed(1)} ms`;
console.table({
  documents: sum(manifest.collections.map(({ documents }) => documents)),
  size: mb(sum(manifest.collections.map(({ bytes }) => bytes))),
  'taken in': `${(takenMs / SECOND).toFixed(1)} s`,
  'checked in': `${(checkedMs / SECOND).toFixed(1)} s`,
  'restored in': `${(restoredMs / SECOND).toFixed(1)} s`,
  'collections with another count': differing.join(', ') || 'none',
  'votes cast, refused': `${accepted}, ${refused}`,
  'a cast before: p50, p99': `${ms(times.before, 0.5)}, ${ms(times.before, 0.99)}`,
  'during the backup': `${ms(times.during, 0.5)}, ${ms(times.during, 0.99)}`,
  'arrived at first, twice': `${first.length}, ${twice}`,
  'open in the backup': restored.heldVotes,
  [`sent by itself in ${LISTENED_MS / SECOND} s`]: byItself,
  'sent when told, arrived': `${told}, ${after}`,
});
await other.close();
await environment.close();
await Promise.all([up.stop(), down.stop()]);
await rm(parent, { recursive: true });
