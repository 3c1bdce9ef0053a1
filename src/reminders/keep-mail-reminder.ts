import { randomBytes } from 'node:crypto';
import type { ObjectId, UUID } from 'mongodb';
import { after, DAY } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import type { RemindersDeps } from './deps.ts';
import { TOO_MANY_REMINDERS } from './keep-reminder.ts';
import type { MailReminder } from './mail-reminder.ts';
import { type NextVote, readNextVotes, remindAt } from './next-votes.ts';
import { MOST_REMINDED } from './reminder.ts';

/** Each costs queries. A press is enough. */
export const MAIL_SWITCHES = defineLimit({
  key: 'reminder-mail',
  what: 'Reminders by mail that are switched on or off',
  of: 'user',
  times: 40,
  windowMs: DAY,
  sentence: TOO_MANY_REMINDERS,
});

/** Between two mails to one user. */
const LEAST_GAP_MS = DAY;

/** Repeated, it changes nothing. */
export async function startMailReminder(
  { mailReminders, clock }: RemindersDeps,
  userId: ObjectId,
): Promise<void> {
  const now = clock.now();
  const stopToken = randomBytes(16).toString('base64url');
  await mailReminders.updateOne(
    { _id: userId },
    { $setOnInsert: { votes: [], dueAt: null, usedAt: now, stopToken, createdAt: now } },
    { upsert: true },
  );
}

/** Returns whether there was one. */
export async function stopMailReminder(
  { mailReminders }: Pick<RemindersDeps, 'mailReminders'>,
  of: Pick<MailReminder, '_id'> | Pick<MailReminder, 'stopToken'>,
): Promise<boolean> {
  return (await mailReminders.deleteOne(of)).deletedCount > 0;
}

export async function wantsMailReminder(
  { mailReminders }: Pick<RemindersDeps, 'mailReminders'>,
  userId: ObjectId,
): Promise<boolean> {
  return (await mailReminders.findOne({ _id: userId }, { projection: { _id: 1 } })) !== null;
}

/** After a vote of a signed-in user. Moves their reminder; without one, or if it knows the vote, it does nothing. */
export async function noteVoteOf(deps: RemindersDeps, userId: ObjectId, voteId: UUID): Promise<void> {
  const { mailReminders, clock } = deps;
  const now = clock.now();
  const noted = await mailReminders.findOneAndUpdate(
    { _id: userId, votes: { $ne: voteId } },
    { $push: { votes: { $each: [voteId], $slice: -MOST_REMINDED } }, $set: { usedAt: now } },
    { returnDocument: 'after' },
  );
  if (!noted) return;
  const { votes, sentAt } = noted;
  const dueAt = mailDueAt(await readNextVotes(deps, votes), sentAt, now);
  // If another vote was noted meanwhile, that one sets the time.
  await mailReminders.updateOne({ _id: userId, votes }, { $set: { dueAt } });
}

export function mailDueAt(nextVotes: NextVote[], sentAt: Date | null | undefined, now: Date): Date | null {
  return remindAt(nextVotes, now, sentAt ? after(sentAt, LEAST_GAP_MS) : now);
}

/** For the export of an account. */
export function mailReminderRecord({ votes, createdAt, usedAt, dueAt }: MailReminder): object {
  return { votes: votes.map(String), created_at: createdAt, used_at: usedAt, due_at: dueAt };
}
