/** `npm run storm -- [options]`: a fault storm and its judgement. Exit code 1 for a breach. */
import { writeFile } from 'node:fs/promises';
import { Option } from 'commander';
import { findMongod } from '../../src/own-services/find-mongod.ts';
import { findRedis } from '../../src/own-services/find-redis.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/environment.ts';
import { positive, script } from '../support/script-options.ts';
import { figuresOf, tableOf } from './figures.ts';
import { judge } from './judge.ts';
import type { Topology } from './processes.ts';
import { runStorm } from './storm.ts';

type Options = {
  replicaSet?: true;
  sentinel?: true;
  cluster?: true;
  minutes: number;
  seed: number;
  rate: number;
  quiet?: true;
  history?: string;
};

const values = script(
  'npm run storm --',
  'Runs 2 web processes, 2 workers, a scheduler, mongod, Redis and listeners of all protocols under load, kills, stops and cuts them as the seed plans it, and judges what happened. MongoDB and Redis run alone unless --replica-set is given, with or without --sentinel or --cluster. Ends with a table for docs/reliability.md, which says what the figures mean.',
)
  .option('--replica-set', 'three mongods: step-downs, killed and frozen primaries, rollbacks')
  .option('--sentinel', 'a Redis primary, two replicas and three Sentinels: failovers')
  .addOption(
    new Option('--cluster', 'a Redis Cluster of three shards with a replica each: failovers').conflicts(
      'sentinel',
    ),
  )
  .option('--minutes <n>', 'how long the faults go on', positive, 1)
  .option('--seed <n>', 'the plan of faults; the same seed, the same plan', positive, 1)
  .option('--rate <n>', 'votes a second', positive, 100)
  .option('--quiet', 'do not tell the faults as they begin')
  .option('--history <file>', 'write all calls, receipts and stored votes into this file, as JSON')
  .parse()
  .opts<Options>();
// If it is interrupted, it exits so that its child processes end too.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const env = ownEnvironment();
const options = {
  seed: values.seed,
  lengthMs: values.minutes * MINUTE,
  votesPerSecond: values.rate,
};
const topology: Topology = {
  mongod: values.replicaSet ? 'replica-set' : 'alone',
  redis: values.sentinel ? 'sentinel' : values.cluster ? 'cluster' : 'alone',
};
const storm = await runStorm({
  topology,
  binaries: { mongod: await findMongod(env, console.log), redis: await findRedis(env, console.log) },
  ...options,
  ...(values.quiet ? {} : { say: console.log }),
});
if (values.history) await writeFile(values.history, JSON.stringify(storm.history));
const breaches = judge(storm.history);
console.log(`\n${tableOf(options, figuresOf(storm), breaches.length)}`);
for (const { rule, what } of breaches.slice(0, 50)) console.log(`  ${rule}: ${what}`);
process.exit(breaches.length === 0 ? 0 : 1);
