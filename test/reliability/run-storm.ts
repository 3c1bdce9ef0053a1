/** `npm run storm -- [options]`: a fault storm and its judgement. Exit code 1 for a breach. */
import { parseArgs } from 'node:util';
import { findMongod } from '../../src/embedded/find-mongod.ts';
import { findRedis } from '../../src/embedded/find-redis.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { ownEnvironment } from '../../src/platform/config.ts';
import { figuresOf, tableOf } from './figures.ts';
import { judge } from './judge.ts';
import type { Topology } from './processes.ts';
import { runStorm } from './storm.ts';

const HELP = `npm run storm -- [options]

Runs 2 web processes, 2 workers, a scheduler, mongod, Redis and listeners of all three protocols under load,
kills, stops and cuts them as the seed plans it, and judges what happened. Ends with a table for
docs/reliability.md, which says what the figures mean.

  --replica-set three mongods: step-downs, killed and frozen primaries, rollbacks
  --sentinel    a Redis primary, two replicas and three Sentinels: failovers
  --cluster     a Redis Cluster of three shards with a replica each: failovers
  --minutes N   how long the faults go on (1)
  --seed S      the plan of faults; the same seed, the same plan (1)
  --rate R      votes a second (100)
  --quiet       do not tell the faults as they begin`;

function positive(text: string, name: string): number {
  const value = Number(text);
  if (!(Number.isFinite(value) && value > 0)) throw new Error(`--${name} must be a number above 0`);
  return value;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '100' },
    'replica-set': { type: 'boolean', default: false },
    sentinel: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
if (values.sentinel && values.cluster) {
  console.error('Choose --sentinel or --cluster.');
  process.exit(2);
}
// Interrupted, it ends as a process does that may tell its children: none is left behind.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const env = ownEnvironment();
const options = {
  seed: positive(values.seed, 'seed'),
  lengthMs: positive(values.minutes, 'minutes') * MINUTE,
  votesPerSecond: positive(values.rate, 'rate'),
};
const topology: Topology = {
  mongod: values['replica-set'] ? 'replica-set' : 'alone',
  redis: values.sentinel ? 'sentinel' : values.cluster ? 'cluster' : 'alone',
};
const storm = await runStorm({
  topology,
  binaries: { mongod: await findMongod(env, console.log), redis: await findRedis(env, console.log) },
  ...options,
  ...(values.quiet ? {} : { say: console.log }),
});
const breaches = judge(storm.history);
console.log(`\n${tableOf(options, figuresOf(storm), breaches.length)}`);
for (const { rule, what } of breaches.slice(0, 50)) console.log(`  ${rule}: ${what}`);
process.exit(breaches.length === 0 ? 0 : 1);
