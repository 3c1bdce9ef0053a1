/**
 * `node bench/restart/upgrade.ts [VOTES] [VOTES_A_SECOND]`: upgrades a running 0.1.0 with 1,000,000 stored votes to this
 * version and back while votes are cast and pages are read. Prints what each step cost the callers. The exit code is 1
 * if a request failed or a rule of docs/reliability.md was broken.
 */
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { judge } from '../../test/reliability/judge.ts';
import { runUpgrade } from '../../test/reliability/upgrade.ts';
import { quantile } from '../delivery/figures.ts';
import { fillRelease } from './fill-release.ts';

const votes = Number(process.argv[2] ?? 1_000_000);
const votesPerSecond = Number(process.argv[3] ?? 50);
const STEADY_MS = 10 * SECOND;

// On Ctrl-C, exit this process, so that its child processes end too.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const env = ownEnvironment();
const { history, reads, failedReads, steps } = await runUpgrade({
  binaries: { mongod: await findMongod(env, console.log), redis: await findRedis(env, console.log) },
  from: '0.1.0',
  votesPerSecond,
  steadyMs: STEADY_MS,
  async fill(mongodbUri) {
    console.log(`adding ${votes} votes …`);
    console.log(`${await fillRelease(mongodbUri, votes)} votes are stored`);
  },
  say: console.log,
});

const failed = history.calls.filter(({ answer }) => answer.kind === 'unknown');
const breaches = judge(history);
console.log('\n| Step | Seconds | Calls | p50 | p99 | Longest |\n|---|--:|--:|--:|--:|--:|');
for (const { name, startedAt, ms } of steps) {
  const during = history.calls.filter((call) => call.endedAt >= startedAt && call.startedAt < startedAt + ms);
  const took = during.map((call) => call.endedAt - call.startedAt);
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => `${quantile(took, share).toFixed(0)} ms`);
  console.log(`| ${name} | ${(ms / SECOND).toFixed(1)} | ${during.length} | ${p50} | ${p99} | ${longest} |`);
}
console.log(
  `\n${history.calls.length} votes cast, ${failed.length} not answered; ${reads} reads, ${failedReads.length} failed; ` +
    `${history.votes.length} stored, ${history.receipts.length} received; ${breaches.length} rules broken`,
);
for (const { answer, startedAt } of failed.slice(0, 20))
  console.log(`  ${startedAt} ${JSON.stringify(answer)}`);
for (const line of failedReads.slice(0, 20)) console.log(`  ${line}`);
for (const { rule, what } of breaches.slice(0, 20)) console.log(`  ${rule}: ${what}`);
process.exit(failed.length + failedReads.length + breaches.length === 0 ? 0 : 1);
