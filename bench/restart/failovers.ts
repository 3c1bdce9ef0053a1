/** `node bench/restart/failovers.ts --help` says what it measures. */
import { setTimeout as pause } from 'node:timers/promises';
import { Option } from 'commander';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { faultsOf } from '../../test/reliability/faults.ts';
import { longestGap } from '../../test/reliability/figures.ts';
import type { Receipt } from '../../test/reliability/history.ts';
import type { Inject } from '../../test/reliability/inject.ts';
import { startLoad } from '../../test/reliability/load.ts';
import { randomNumbers } from '../../test/reliability/plan.ts';
import { startProcesses, type Topology } from '../../test/reliability/processes.ts';
import { addTarget, listerOf } from '../../test/reliability/targets.ts';
import { positive, script } from '../../test/support/script-options.ts';
import { quantile } from '../delivery/figures.ts';

type PlannedFault = { kind: string; lasting: number };
type Options = Topology & {
  faults?: PlannedFault[];
  rounds: number;
  rate: number;
  servers: number;
  after: number;
  limit: number;
};

/** Parses `kill-primary:10,stop-primary:30`: faults with their duration in seconds, 1 by default. */
function faultList(text: string): PlannedFault[] {
  return text.split(',').map((one) => {
    const [kind = '', seconds = '1'] = one.split(':');
    return { kind, lasting: positive(seconds) * SECOND };
  });
}

const DEFAULT_FAULTS: Record<Topology['mongod' | 'redis'], string> = {
  'replica-set': 'step-down-primary:1,kill-primary:20,stop-primary:30',
  sentinel: 'fail-over-redis:1,kill-redis-primary:20,stop-redis-primary:30',
  cluster: 'fail-over-shard:1,kill-shard-primary:20,stop-shard-primary:30',
  alone: 'kill-redis:20,stop-redis:20',
};
const values = script(
  'node bench/restart/failovers.ts',
  'Runs the processes of a storm with the default times of Tallyport under a steady load, injects each fault several times, and prints how long no vote was accepted and how long deliveries lagged. The exit code is 1 if a vote was not delivered or lagged longer than the limit.',
)
  .addOption(new Option('--mongod <how>', 'MongoDB').choices(['alone', 'replica-set']).default('alone'))
  .addOption(new Option('--redis <how>', 'Redis').choices(['alone', 'sentinel', 'cluster']).default('alone'))
  .option('--mongod-parameters <name=value...>', 'parameters of each mongod of a replica set')
  .option(
    '--faults <list>',
    'faults with their lengths in seconds, such as kill-primary:10,stop-primary:30 (default: those of a failover)',
    faultList,
  )
  .option('--rounds <n>', 'how often each fault happens', positive, 3)
  .option('--rate <n>', 'votes a second', positive, 60)
  .option('--servers <n>', 'servers that are voted for', positive, 8)
  .option('--after <seconds>', 'load after each fault', positive, 45)
  .option('--limit <seconds>', 'the longest lag of a delivery', positive, 20)
  .parse()
  .opts<Options>();
const topology: Topology = values;
const plan =
  values.faults ?? faultList(DEFAULT_FAULTS[topology.mongod === 'alone' ? topology.redis : topology.mongod]);

/** A delivery is late if it takes longer than this after its vote. */
const LAG_MS = 2 * SECOND;
/** The time from the end of a fault to the beginning of the next one. The load continues. */
const AFTER_MS = values.after * SECOND;

type Round = { kind: string; beganAt: number; endedAt: number };

// On Ctrl-C, exit this process, so that its child processes end too.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const env = ownEnvironment();
const binaries = { mongod: await findMongod(env, console.log), redis: await findRedis(env, console.log) };
// No changed settings: the time limits are Tallyport's defaults, as in production.
const processes = await startProcesses(binaries, topology, {});
const log = createLogger({ LOG_LEVEL: 'silent' }, 'bench');
const deps = await openAppDeps(processes.config, 'bench', { log, mongoOperationMs: MINUTE });
const receipts: Receipt[] = [];
const lister = listerOf(deps);
const targets = [];
for (let n = 0; n < values.servers; n += 1) {
  targets.push(await addTarget(lister, { name: `Failover ${n}`, protocol: 'votifier-v2' }, receipts));
}
const injects: Record<string, Inject> = faultsOf({ processes, targets, destinations: [], deps });
const load = startLoad(targets, processes.urls, values.rate, randomNumbers(1));
await pause(10 * SECOND);

const rounds: Round[] = [];
for (let round = 0; round < values.rounds; round += 1) {
  for (const { kind, lasting } of plan) {
    const inject = injects[kind];
    if (!inject) throw new Error(`${kind} is not one of ${Object.keys(injects).join(', ')}`);
    const beganAt = Date.now();
    console.log(`${kind} for ${lasting / SECOND} s`);
    await inject({ lasting, which: round });
    rounds.push({ kind, beganAt, endedAt: Date.now() });
    await pause(AFTER_MS);
  }
}
await load.stop();
await pause(10 * SECOND);

const firstReceipt = new Map<string, number>();
for (const { voteId, receivedAt } of receipts)
  if (voteId && !firstReceipt.has(voteId)) firstReceipt.set(voteId, receivedAt);
console.log(
  '\n| Fault | No vote accepted for | Deliveries lagged for | Slowest delivery |\n|---|--:|--:|--:|',
);
const { calls } = load;
const accepted = calls.filter(({ answer }) => answer.kind === 'accepted');
const lags = rounds.map(rowOf);
const missing = accepted.filter(
  ({ answer }) => answer.kind === 'accepted' && !firstReceipt.has(answer.voteId),
);
console.log(
  `\n${calls.length} calls, ${accepted.length} accepted, ${missing.length} of them not delivered; ` +
    `deliveries lagged at most ${(Math.max(...lags) / SECOND).toFixed(1)} s, in the median ${(quantile(lags, 0.5) / SECOND).toFixed(1)} s`,
);
await deps.close();
for (const target of targets) await target.close();
await processes.close();
process.exit(missing.length === 0 && Math.max(...lags) <= values.limit * SECOND ? 0 : 1);

/** Prints a round. Returns for how long deliveries were late after the service was available again. */
function rowOf({ kind, beganAt, endedAt }: Round): number {
  const until = endedAt + AFTER_MS;
  // The last votes before the next fault are left out, because they may have to wait for its end.
  const during = load.calls.filter((call) => call.endedAt >= beganAt && call.startedAt < until - LAG_MS);
  // The gap begins with the last vote before the fault.
  const outage = longestGap(
    load.calls.filter((call) => call.endedAt >= beganAt - LAG_MS && call.startedAt < until),
  );
  // When the service is available again: with a replica set, when the new primary accepts votes; otherwise, when the
  // fault ends.
  const isBackAt = topology.mongod === 'replica-set' ? outage.endedAt : endedAt;
  const late = during.flatMap((call) => {
    const receivedAt = call.answer.kind === 'accepted' ? firstReceipt.get(call.answer.voteId) : undefined;
    return receivedAt !== undefined && receivedAt - call.endedAt > LAG_MS
      ? [{ receivedAt, took: receivedAt - call.endedAt }]
      : [];
  });
  const lag = Math.max(0, ...late.map(({ receivedAt }) => receivedAt - isBackAt));
  const slowest = Math.max(0, ...late.map(({ took }) => took));
  const [gap, lagged, slow] = [outage.ms, lag, slowest].map((ms) => `${(ms / SECOND).toFixed(1)} s`);
  console.log(`| ${kind} | ${gap} | ${lagged} | ${slow} |`);
  return lag;
}
