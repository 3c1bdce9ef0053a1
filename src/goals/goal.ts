import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';

/** A day, a week from Monday, a month (UTC), or one round after the other. */
export const GOAL_PERIODS = ['day', 'week', 'month', 'rolling'] as const;
export type GoalPeriod = (typeof GOAL_PERIODS)[number];

export const MOST_TARGET = 10_000_000;
/** In code points. */
export const LONGEST_GOAL_TEXT = 200;

/** How long the rounds of a goal are kept after it was removed or changed. */
export const EARLIER_ROUNDS_KEPT_MS = 90 * DAY;

/** Counted from the votes: `votes` were cast from the start until `until` (exclusive), without excluded ones. */
const countedDefinition = {
  /** The start of the period, or of the goal if that is later or it is rolling. */
  from: { type: Date, required: true },
  until: { type: Date, required: true },
  votes: { type: Number, required: true },
} as const;

const voteGoalDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** A changed target or period is a new goal: it replaces the document's other values at once. */
  goalId: { type: Schema.Types.ObjectId, required: true },
  target: { type: Number, required: true, min: 1, max: MOST_TARGET },
  period: { type: String, enum: GOAL_PERIODS, required: true },
  /** What happens then, in a sentence of the owner. */
  text: { type: String, maxlength: 2 * LONGEST_GOAL_TEXT },
  /** Votes from this moment on count. */
  since: { type: Date, required: true },
  /** Rounds that are stored, and the newest: for pages. */
  reached: { type: Number, required: true },
  reachedAt: { type: Date, default: null },
  counted: { type: new Schema(countedDefinition, { _id: false }), required: true },
  /** Periods from this time on are counted again: votes of theirs are excluded, released, returned or imported. */
  recountFrom: { type: Date },
  /** Rounds that votes before this time reach are stored without an event: the restored site may have sent it. */
  restoredAt: { type: Date },
  /** Increases with each count and each change of `recountFrom`: of two at once, one is repeated. */
  revision: { type: Number, required: true },
} as const;

/** A server has at most one (docs/adr/0152-vote-goals.md). */
export const voteGoalSchema = new Schema(voteGoalDefinition, { collection: 'vote_goals' });
voteGoalSchema.index({ serverId: 1 }, { unique: true });

export type GoalCount = Nested<typeof countedDefinition>;
export type VoteGoal = InferRawDocType<typeof voteGoalDefinition>;

const goalRoundDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  goalId: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** `3` of a rolling goal, otherwise the first day of the period: `2026-11-23`. */
  round: { type: String, required: true },
  target: { type: Number, required: true },
  period: { type: String, enum: GOAL_PERIODS, required: true },
  /** Of the goal, when the round was stored. */
  text: { type: String, maxlength: 2 * LONGEST_GOAL_TEXT },
  /** Counted when the round was stored: of the period, or of a rolling goal since it was set. */
  votes: { type: Number, required: true },
  at: { type: Date, required: true },
  /** Until its event is stored; absent then. */
  isUnannounced: { type: Boolean },
  /** When its goal was removed or changed. */
  endedAt: { type: Date },
} as const;

/** An exclusion never takes one back, and the same round is never stored twice. */
export const goalRoundSchema = new Schema(goalRoundDefinition, { collection: 'goal_rounds' });
goalRoundSchema.index({ goalId: 1, round: 1 }, { unique: true });
goalRoundSchema.index({ serverId: 1, at: 1 });
goalRoundSchema.index({ at: 1 }, { partialFilterExpression: { isUnannounced: true } });
goalRoundSchema.index({ endedAt: 1 }, { expireAfterSeconds: EARLIER_ROUNDS_KEPT_MS / SECOND });

export type GoalRound = InferRawDocType<typeof goalRoundDefinition>;
