/**
 * Four processes cast votes for a server with a rolling goal and for one with a goal per day, two others look at the
 * goals. Midnight passes, one voter is killed and started again, lookers are killed in their looks, and an operator
 * excludes the votes of one voter, and all of the first day. Exits with 1 if a goal was not reached exactly as often as
 * the rule says.
 *
 *   node bench/goals/storm.ts [votes] [seconds]
 *
 *   node bench/goals/storm.ts 10000 70
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ObjectId } from 'mongodb';
import { setGoal } from '../../src/goals/change-goal.ts';
import { readGoalProgress } from '../../src/goals/goal-progress.ts';
import { after, DAY, SECOND, systemClock } from '../../src/platform/clock.ts';
import { dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { countVotesBetween } from '../../src/votes/vote-figures.ts';
import { excludeVotes } from '../../test/support/exclusions.ts';
import { openEnvironment } from '../delivery/environment.ts';

const [votes = 10_000, seconds = 70] = process.argv.slice(2).map(Number);
const VOTERS = 4;
const LOOKERS = 2;
const KILLED_WITHIN_MS = SECOND;
/** When a part of all votes is cast; midnight after a part of the seconds. */
const [KILL_VOTER, EXCLUDE, MIDNIGHT] = [0.15, 0.55, 0.5];
const SETTLED_MS = 40 * SECOND;

console.log(`node bench/goals/storm.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment({ LOG_LEVEL: 'error' });
const { env } = environment;
const listed = async (name: string) => {
  const server = { name, address: `${name}.example.org`, port: 25_565 };
  return new ObjectId((await addServer(environment.deps, server, 'bench')).serverId);
};
const [rolling, daily] = [await listed('rolling'), await listed('daily')];
const each = votes / 2;
const target = { rolling: Math.ceil(each / 50), daily: Math.floor(each * 0.15) };
const tokens = Array.from({ length: VOTERS }, () => new ObjectId());
const cast = tokens.map(() => 0);

/** A process that waits for the offset of its clock. */
async function start(file: string, more: Record<string, string> = {}): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { env: { ...env, ...more } });
  await once(child, 'message');
  return child;
}

async function startVoter(voter: number): Promise<ChildProcess> {
  const child = await start('voter.ts', {
    VOTER: String(voter),
    FIRST: String(cast[voter]),
    VOTES: String(each / VOTERS),
    SECONDS: String(seconds),
    TOKEN_ID: String(tokens[voter]),
    SERVER_IDS: `${rolling},${daily}`,
  });
  child.on('message', (n) => {
    cast[voter] = Number(n);
  });
  return child;
}

const voters = await Promise.all(tokens.map((_, voter) => startVoter(voter)));
const lookers = await Promise.all(Array.from({ length: LOOKERS }, () => start('looker.ts')));
const now = new Date();
const midnight = startOfDay(dayOf(after(now, DAY)));
const offsetMs = midnight.getTime() - now.getTime() - MIDNIGHT * seconds * SECOND;
const deps = { ...environment.deps, clock: systemClock(offsetMs) };
await setGoal(deps, rolling, { target: target.rolling, period: 'rolling' }, 'bench');
await setGoal(deps, daily, { target: target.daily, period: 'day' }, 'bench');
const began = performance.now();
for (const child of [...voters, ...lookers]) child.send(offsetMs);

/** When this part of all votes is cast. */
async function at(part: number): Promise<void> {
  while (cast.reduce((sum, n) => sum + n, 0) < part * each) await pause(100);
}

let isOver = false;
let killed = 0;

/** Anywhere in its next look. */
async function killLookers(n: number): Promise<void> {
  for (;;) {
    const looker = lookers[n] as ChildProcess;
    await once(looker, 'message');
    await pause(Math.random() * KILLED_WITHIN_MS);
    if (isOver) return;
    looker.kill('SIGKILL');
    await once(looker, 'exit');
    killed += 1;
    lookers[n] = await start('looker.ts');
    lookers[n].send(offsetMs);
  }
}

async function restartVoter(): Promise<void> {
  await at(KILL_VOTER);
  const voter = voters[1] as ChildProcess;
  voter.kill('SIGKILL');
  await once(voter, 'exit');
  voters[1] = await startVoter(1);
  voters[1].send(offsetMs);
}

async function exclude(serverId: ObjectId, tokenId: ObjectId | null): Promise<number> {
  await at(EXCLUDE);
  const range = { serverId, since: after(deps.clock.now(), -DAY), until: deps.clock.now() };
  const request = { ...range, tokenId, reason: 'Bots' };
  const { votes } = await excludeVotes(deps, request, 'bench');
  return votes ?? 0;
}

const killing = Promise.all(lookers.map((_, n) => killLookers(n)));
const [, excluded] = await Promise.all([
  restartVoter(),
  Promise.all([exclude(rolling, tokens[0] ?? null), exclude(daily, null)]),
]);
await Promise.all(voters.map((voter) => (voter.exitCode === null ? once(voter, 'exit') : undefined)));
const tookMs = performance.now() - began;
await pause(SETTLED_MS);
isOver = true;
await killing;
for (const looker of lookers) looker.kill('SIGKILL');

const far = after(midnight, DAY);
const count = (serverId: ObjectId, from: Date, to: Date) => countVotesBetween(deps.votes, serverId, from, to);
const roundsOf = async (serverId: ObjectId) =>
  (await deps.goalRounds.find({ serverId }).toArray()).map(({ round }) => round).toSorted();
const days = [after(midnight, -DAY), midnight].map((day) => ({
  day: dayOf(day),
  from: day,
  to: after(day, DAY),
}));
const allOf = (serverId: ObjectId, from: Date, to: Date) =>
  deps.votes.countDocuments({ serverId, votedAt: { $gte: from, $lt: to } });
const counted = await count(rolling, new Date(0), far);
const expected = {
  // The votes that follow the exclusion pass all that were counted before it.
  rolling: Array.from({ length: Math.floor(counted / target.rolling) }, (_, n) => String(n + 1)).toSorted(),
  // The first day is over before its votes are excluded.
  daily: (
    await Promise.all(
      days.map(async ({ day, from, to }) => ((await allOf(daily, from, to)) >= target.daily ? [day] : [])),
    )
  ).flat(),
};
const found = { rolling: await roundsOf(rolling), daily: await roundsOf(daily) };
const announced = await deps.mongo.db.collection('announced').find({}).toArray();
const perDay = await Promise.all(days.map(({ from, to }) => count(daily, from, to)));
console.log(
  `${await deps.votes.countDocuments({})} votes in ${Math.round(tookMs / SECOND)} s; ${excluded.join(' and ')} excluded; ${killed} lookers killed`,
);
console.log(`rolling, target ${target.rolling}: ${counted} counted, ${found.rolling.length} rounds`);
console.log(
  `per day, target ${target.daily}: ${perDay.join(' and ')} counted, reached on ${found.daily.join(', ')}`,
);
console.log(
  `announced: ${announced.length} rounds, ${announced.filter(({ times }) => times > 1).length} of them again`,
);
console.log(`shown: ${JSON.stringify(await readGoalProgress(deps, rolling))}`);
const isRight =
  JSON.stringify(found) === JSON.stringify(expected) &&
  announced.length === found.rolling.length + found.daily.length &&
  (await deps.goalRounds.countDocuments({ isUnannounced: true })) === 0;
console.log(
  isRight
    ? 'as the rule says'
    : `WRONG: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`,
);
process.exitCode = isRight ? 0 : 1;
await environment.close();
