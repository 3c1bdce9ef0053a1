import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { SECOND } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';
import { EVENT_TTL_MS } from './event.ts';
import { EVENT_TYPES, type EventType } from './kinds.ts';

/** The newest of a subscription are stored. */
export const MOST_LOGGED = 200;

/** `given-up`: the last attempt of the schedule failed. `waits`: not tried, because of a limit. */
export const ATTEMPT_ENDS = ['sent', 'retry', 'refused', 'given-up', 'waits'] as const;

const attemptDefinition = {
  at: { type: Date, required: true },
  eventId: { type: String, required: true },
  type: { type: String, enum: EVENT_TYPES, required: true },
  end: { type: String, enum: ATTEMPT_ENDS, required: true },
  /** Of HTTP; absent without an answer. */
  status: { type: Number },
  /** A code, or `code: answer`. */
  reason: { type: String },
  durationMs: { type: Number, required: true },
  /** A test of the owner with an event that was made up. */
  isTest: { type: Boolean },
} as const;

const attemptLogDefinition = {
  /** The subscription. */
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The oldest first. */
  attempts: { type: [new Schema(attemptDefinition, { _id: false })], required: true },
  updatedAt: { type: Date, required: true },
} as const;

/** One document for each subscription: the page reads it at once, and old attempts go without a query. */
export const attemptLogSchema = new Schema(attemptLogDefinition, { collection: 'subscription_attempts' });
attemptLogSchema.index({ updatedAt: 1 }, { expireAfterSeconds: EVENT_TTL_MS / SECOND });

export type LoggedAttempt = Omit<Nested<typeof attemptDefinition>, 'type' | 'end'> & {
  type: EventType;
  end: (typeof ATTEMPT_ENDS)[number];
};
export type AttemptLog = Omit<InferRawDocType<typeof attemptLogDefinition>, 'attempts'> & {
  attempts: LoggedAttempt[];
};

type LogDeps = { attemptLogs: Collection<AttemptLog> };

export async function logAttempts(
  { attemptLogs }: LogDeps,
  { _id, serverId }: { _id: ObjectId; serverId: ObjectId },
  attempts: LoggedAttempt[],
): Promise<void> {
  const newest = attempts.at(-1);
  if (!newest) return;
  await attemptLogs.updateOne(
    { _id },
    {
      $setOnInsert: { serverId },
      $set: { updatedAt: newest.at },
      $push: { attempts: { $each: attempts.slice(-MOST_LOGGED), $slice: -MOST_LOGGED } },
    },
    { upsert: true },
  );
}

/** Newest first. */
export async function attemptsOf(
  { attemptLogs }: LogDeps,
  serverId: ObjectId,
  subscriptionId: ObjectId,
): Promise<LoggedAttempt[]> {
  const log = await attemptLogs.findOne({ _id: subscriptionId, serverId });
  return log?.attempts.toReversed() ?? [];
}
