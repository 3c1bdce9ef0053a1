import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Clock } from '../platform/clock.ts';
import { noteAccountChange } from './account-changes.ts';
import type { SignInSession, User, Verification } from './user.ts';

type Own = { users: Collection<User>; clock: Clock };
type OwnSessions = { sessions: Collection<SignInSession> };

/** Changes the own name, or whether mail about the own servers is wanted. */
export async function changeOwnAccount(
  { users, clock }: Own,
  userId: ObjectId,
  changes: Partial<Pick<User, 'name' | 'wantsMail'>>,
): Promise<void> {
  await users.updateOne({ _id: userId }, { $set: { ...changes, updatedAt: clock.now() } });
}

/** The sessions of a user, at most `most`, the newest use first. */
export function listSessions(
  { sessions }: OwnSessions,
  userId: ObjectId,
  most: number,
): Promise<WithId<SignInSession>[]> {
  return sessions.find({ userId: userId }).sort({ updatedAt: -1 }).limit(most).toArray();
}

/** Ends one session of a user; changes nothing when they have no such session. */
export async function endSession(
  { sessions }: OwnSessions,
  userId: ObjectId,
  sessionId: ObjectId,
): Promise<void> {
  await sessions.deleteOne({ _id: sessionId, userId: userId });
}

/** After a user changed their password: earlier links to set one stop working, and the change is noted and mailed. */
export async function finishPasswordChange(
  deps: Parameters<typeof noteAccountChange>[0] & { verifications: Collection<Verification> },
  user: Pick<User, 'email'> & { _id: ObjectId },
): Promise<void> {
  await deps.verifications.deleteMany({ value: user._id.toHexString() });
  await noteAccountChange(deps, user, 'password');
}
