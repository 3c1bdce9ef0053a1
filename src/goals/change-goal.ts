import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../language/t.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { DURABLE, retryOnDuplicateKey } from '../platform/mongo.ts';
import { shownText } from '../platform/text.ts';
import type { GoalsDeps } from './deps.ts';
import { GOAL_PERIODS, LONGEST_GOAL_TEXT, MOST_TARGET, type VoteGoal } from './goal.ts';

const targetRule = () => t('must be a whole number, 1 to {max, number}', { max: MOST_TARGET });

const goalSchema = z.object({
  // Not coerced by `Number`, for which `1e3` is a thousand.
  target: z.preprocess(
    (value) => (typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : value),
    z.int({ error: targetRule }).min(1, { error: targetRule }).max(MOST_TARGET, { error: targetRule }),
  ),
  period: z.enum(GOAL_PERIODS, {
    error: () => t('must be one of {periods}', { periods: GOAL_PERIODS.join(', ') }),
  }),
  text: z.preprocess(
    (value) => (typeof value === 'string' && value.trim() === '' ? undefined : value),
    shownText(LONGEST_GOAL_TEXT).optional(),
  ),
});

/** An empty text counts as none. */
export type GoalInput = { target: string | number; period: string; text?: string | undefined };

type Given = Pick<VoteGoal, 'serverId' | 'target' | 'period' | 'text'>;

/**
 * Begins a goal, instead of the server's present one: votes from now on count. The same target and period again only
 * change the text. Null when no such server is listed.
 *
 * @throws {InvalidDocumentError} for a wrong target, period or text
 */
export async function setGoal(
  deps: GoalsDeps,
  serverId: ObjectId,
  input: GoalInput,
  by: string,
): Promise<VoteGoal | null> {
  const { text, ...rest } = parseInput(goalSchema, input);
  const given = { serverId, ...rest, ...(text === undefined ? {} : { text }) };
  if (!(await deps.servers.findOne({ _id: serverId, removedAt: null }, { projection: { _id: 1 } })))
    return null;
  const goal = (await changeText(deps, given, by)) ?? (await beginGoal(deps, given, by));
  // The server's pages ask for its goal only then. If the server was removed meanwhile, the goal goes too.
  const shown = { $set: { goalId: goal.goalId } };
  const { matchedCount } = await deps.servers.updateOne({ _id: serverId, removedAt: null }, shown);
  if (matchedCount > 0) return goal;
  await deleteGoal(deps, serverId);
  return null;
}

/** Null if the server has no goal with this target and period. */
async function changeText(
  deps: GoalsDeps,
  { serverId, target, period, text }: Given,
  by: string,
): Promise<VoteGoal | null> {
  const change = text === undefined ? { $unset: { text: '' as const } } : { $set: { text } };
  const before = await deps.voteGoals.findOneAndUpdate({ serverId, target, period }, change);
  if (!before) return null;
  const { text: textBefore, ...goal } = before;
  if (textBefore !== text)
    await recordAudit(deps, { by, action: 'goal.text', serverId, details: { text: text ?? null } });
  return text === undefined ? goal : { ...goal, text };
}

/** Replaces an earlier goal in one write. A look at that one may still store rounds that it has counted. */
async function beginGoal(deps: GoalsDeps, given: Given, by: string): Promise<VoteGoal> {
  const { serverId, target, period, text = null } = given;
  const since = deps.clock.now();
  const fresh = {
    ...given,
    goalId: new ObjectId(),
    since,
    reached: 0,
    reachedAt: null,
    counted: { from: since, until: since, votes: 0 },
    revision: 0,
  };
  const stored = await retryOnDuplicateKey(() =>
    deps.voteGoals.findOneAndReplace({ serverId }, fresh, {
      upsert: true,
      returnDocument: 'after',
      writeConcern: DURABLE,
    }),
  );
  await endRounds(deps, serverId, fresh.goalId);
  await recordAudit(deps, { by, action: 'goal.set', serverId, details: { target, period, text } });
  return stored as VoteGoal;
}

/** From now on the rounds of earlier goals expire. */
async function endRounds(
  { goalRounds, clock }: GoalsDeps,
  serverId: ObjectId,
  present?: ObjectId,
): Promise<void> {
  const earlier = { serverId, endedAt: { $exists: false }, ...(present ? { goalId: { $ne: present } } : {}) };
  await goalRounds.updateMany(earlier, { $set: { endedAt: clock.now() } });
}

/** Its rounds stay for `EARLIER_ROUNDS_KEPT_MS`. Null if the server has no goal. */
export async function removeGoal(deps: GoalsDeps, serverId: ObjectId, by: string): Promise<VoteGoal | null> {
  const goal = await deps.voteGoals.findOneAndDelete({ serverId });
  if (!goal) return null;
  // If another goal was set meanwhile, the server's pages ask for that one.
  await deps.servers.updateOne({ _id: serverId, goalId: goal.goalId }, { $unset: { goalId: '' } });
  await endRounds(deps, serverId);
  const { target, period } = goal;
  await recordAudit(deps, { by, action: 'goal.remove', serverId, details: { target, period } });
  return goal;
}

/** With its rounds: the server was removed. */
export async function deleteGoal({ voteGoals, goalRounds }: GoalsDeps, serverId: ObjectId): Promise<void> {
  await voteGoals.deleteMany({ serverId });
  await goalRounds.deleteMany({ serverId });
}
