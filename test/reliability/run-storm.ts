/** `npm run storm -- --minutes N --seed S --rate R`: a fault storm and its judgement. Exit code 1 for a breach. */
import { parseArgs } from 'node:util';
import { MINUTE } from '../../src/clock.ts';
import { ownEnvironment } from '../../src/config.ts';
import { findMongod } from '../../src/embedded/find-mongod.ts';
import { findRedis } from '../../src/embedded/find-redis.ts';
import type { History } from './history.ts';
import { judge } from './judge.ts';
import { runStorm } from './storm.ts';

const HELP = `npm run storm -- [options]

Runs 2 web processes, 2 workers, a scheduler, mongod, Redis and listeners of all three protocols under load,
kills, stops and cuts them as the seed plans it, and judges what happened.

  --minutes N   how long the faults go on (1)
  --seed S      the plan of faults; the same seed, the same plan (1)
  --rate R      votes a second (100)
  --quiet       do not tell the faults as they begin`;

function wholeNumber(text: string, name: string): number {
  const value = Number(text);
  if (!(Number.isFinite(value) && value > 0)) throw new Error(`--${name} must be a number above 0`);
  return value;
}

function figures(history: History): string {
  const { calls, receipts, votes } = history;
  const answers = (kind: string) => calls.filter(({ answer }) => answer.kind === kind).length;
  const states = Object.entries(Object.groupBy(votes, ({ state }) => state))
    .map(([state, list]) => `${list?.length} ${state}`)
    .join(', ');
  const received = new Set(
    receipts.map(({ voteId, serverId, username }) => voteId ?? `${serverId}/${username}`),
  );
  return [
    `calls      ${calls.length}: ${answers('accepted')} accepted, ${answers('refused')} refused, ${answers('unknown')} without an answer`,
    `votes      ${votes.length}: ${states}`,
    `receipts   ${receipts.length}, ${receipts.length - received.size} of them again`,
    `ambiguous  ${votes.filter(({ ends }) => (ends.ambiguous ?? 0) > 0).length} votes with an ambiguous end on record`,
  ].join('\n');
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '100' },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const env = ownEnvironment();
const { history, faults } = await runStorm({
  binaries: { mongod: await findMongod(env, console.log), redis: await findRedis(env, console.log) },
  seed: wholeNumber(values.seed, 'seed'),
  lengthMs: wholeNumber(values.minutes, 'minutes') * MINUTE,
  votesPerSecond: wholeNumber(values.rate, 'rate'),
  ...(values.quiet ? {} : { say: console.log }),
});
const breaches = judge(history);
console.log(`faults     ${faults.length}\n${figures(history)}\nbreaches   ${breaches.length}`);
for (const { rule, what } of breaches.slice(0, 50)) console.log(`  ${rule}: ${what}`);
process.exit(breaches.length === 0 ? 0 : 1);
