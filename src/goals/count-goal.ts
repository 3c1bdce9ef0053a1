import type { ObjectId } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import { DURABLE } from '../platform/mongo.ts';
import { CLOCKS_DIFFER_MS, settledAt } from '../votes/cast/insert-vote.ts';
import { UNFINISHED_STATES } from '../votes/exclusions/vote-exclusion.ts';
import { countVotesBetween } from '../votes/vote-figures.ts';
import type { GoalsDeps } from './deps.ts';
import type { GoalCount, VoteGoal } from './goal.ts';
import { reachedRounds, storeRounds } from './goal-rounds.ts';
import { type CountedSpan, spanAt } from './goal-span.ts';

/** Another look or a change of older votes came first: the next look tries again. */
const MOST_TRIES = 5;

/**
 * Counts the votes of a server's goal and stores the rounds that they reach (docs/adr/0152-vote-goals.md). Call it when
 * the server's votes changed, or `isDue` of `watchedGoals` says so; a repeated call changes nothing. False if others
 * changed the goal again and again: call it once more.
 */
export async function countGoal(deps: GoalsDeps, serverId: ObjectId): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const goal = await deps.voteGoals.findOne({ serverId });
    if (!goal || (await look(deps, goal))) return true;
  }
  return false;
}

/**
 * Call it before votes that were cast at or after `from` are excluded, returned or released, or after they were
 * imported. Until the exclusion is finished, every look counts these votes again.
 */
export async function recountGoalFrom(deps: GoalsDeps, serverId: ObjectId, from: Date): Promise<void> {
  await deps.voteGoals.updateOne(
    { serverId },
    { $min: { recountFrom: from }, $inc: { revision: 1 } },
    { writeConcern: DURABLE },
  );
}

/** All goals. `isDue`: `countGoal` has to be called even if no vote was cast since the last call. */
export async function watchedGoals({ voteGoals }: Pick<GoalsDeps, 'voteGoals'>) {
  const found = voteGoals.find({}, { projection: { serverId: 1, recountFrom: 1, restoredAt: 1 } });
  return found
    .map(({ serverId, recountFrom, restoredAt }) => ({ serverId, isDue: Boolean(recountFrom ?? restoredAt) }))
    .toArray();
}

/** False if the goal changed meanwhile: what was counted is not stored then. Rounds are, as they were reached. */
async function look(deps: GoalsDeps, goal: VoteGoal): Promise<boolean> {
  // Before the votes are counted: if the exclusion is finished here, the count sees all of its changes.
  const isChanging = goal.recountFrom !== undefined && (await isChangingVotes(deps, goal.serverId));
  if (goal.restoredAt) await storeRounds(deps, goal, (await walk(deps, goal, goal.restoredAt)).spans, true);
  const walked = await walk(deps, goal, after(deps.clock.now(), CLOCKS_DIFFER_MS));
  await storeRounds(deps, goal, walked.spans, false);
  const { serverId, goalId, revision } = goal;
  const { matchedCount } = await deps.voteGoals.updateOne(
    { serverId, goalId, revision },
    {
      $set: { counted: walked.counted, ...(await reachedRounds(deps, goal)) },
      $inc: { revision: 1 },
      $unset: { restoredAt: '', ...(isChanging ? {} : { recountFrom: '' }) },
    },
    { writeConcern: DURABLE },
  );
  return matchedCount > 0;
}

async function isChangingVotes({ voteExclusions }: GoalsDeps, serverId: ObjectId): Promise<boolean> {
  const unfinished = { serverId, state: { $in: [...UNFINISHED_STATES] } };
  return (await voteExclusions.findOne(unfinished, { projection: { _id: 1 } })) !== null;
}

type Walked = { spans: CountedSpan[]; counted: GoalCount };

/**
 * From the oldest period that is not finished to that of `until` (exclusive). Until a vote that was cast at its end can
 * no longer be inserted, a period is not finished: its votes and those of the next one are then counted by each look.
 */
async function walk(deps: GoalsDeps, goal: VoteGoal, until: Date): Promise<Walked> {
  const settled = settledAt(deps.clock.now());
  const count = (from: Date, to: Date) => countInParts(deps, goal.serverId, from, to);
  const spans: CountedSpan[] = [];
  let unfinished: GoalCount | undefined;
  let begin = beginOf(goal);
  for (;;) {
    const span = spanAt(goal, begin.from);
    const settledUntil = latest(begin.until, earliest(earliest(settled, until), span.end));
    const votes = begin.votes + (await count(begin.until, settledUntil));
    const unsettled = await count(settledUntil, earliest(until, span.end));
    spans.push({ ...span, votes: votes + unsettled });
    if (!span.end || settled < span.end) unfinished ??= { from: span.from, until: settledUntil, votes };
    if (!span.end || until <= span.end) return { spans, counted: unfinished ?? goal.counted };
    begin = { from: span.end, until: span.end, votes: 0 };
  }
}

/** What is stored, or the beginning of the period that has to be counted again. */
function beginOf(goal: VoteGoal): GoalCount {
  const { counted, recountFrom } = goal;
  if (!recountFrom) return counted;
  const { from } = spanAt(goal, recountFrom);
  return from > counted.from ? counted : { from, until: from, votes: 0 };
}

/** Of a large server, a year's votes would take longer than one operation may. */
const PART_MS = 7 * DAY;

async function countInParts({ votes }: GoalsDeps, serverId: ObjectId, from: Date, to: Date): Promise<number> {
  let total = 0;
  for (let start = from; start < to; start = after(start, PART_MS)) {
    total += await countVotesBetween(votes, serverId, start, earliest(after(start, PART_MS), to));
  }
  return total;
}

function earliest(one: Date, other: Date | null): Date {
  return other && other < one ? other : one;
}

function latest(one: Date, other: Date): Date {
  return other > one ? other : one;
}
