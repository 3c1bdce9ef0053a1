import type { ObjectId, WithId } from 'mongodb';
import { noteAccountChange } from './account-changes.ts';
import { cancelAddressChangeOf } from './address/cancel-change.ts';
import type { AccountsDeps } from './deps.ts';
import type { SignInSession, User } from './user.ts';

/** Changes a user's own name or mail settings. */
export async function changeOwnAccount(
  { users, clock }: AccountsDeps,
  userId: ObjectId,
  changes: Partial<Pick<User, 'name' | 'wantsMail' | 'mailOff'>>,
): Promise<void> {
  await users.updateOne({ _id: userId }, { $set: { ...changes, updatedAt: clock.now() } });
}

/** The sessions of a user, at most `most`, the most recently used first. */
export function listSessions(
  { sessions }: AccountsDeps,
  userId: ObjectId,
  most: number,
): Promise<WithId<SignInSession>[]> {
  return sessions.find({ userId }).sort({ updatedAt: -1 }).limit(most).toArray();
}

/** Ends one session of a user. Does nothing when the user has no such session. */
export async function endSession(
  { sessions }: AccountsDeps,
  userId: ObjectId,
  sessionId: ObjectId,
): Promise<void> {
  await sessions.deleteOne({ _id: sessionId, userId });
}

/**
 * Must be called after users have changed their password. Deletes one-time links and pending sign-ins, cancels a change
 * of address, records the password change and mails the user.
 */
export async function finishPasswordChange(
  deps: AccountsDeps,
  user: Pick<User, 'email' | 'emailVerified'> & { _id: ObjectId },
): Promise<void> {
  await deps.verifications.deleteMany({ value: user._id.toHexString() });
  await cancelAddressChangeOf(deps, user._id);
  await noteAccountChange(deps, user, 'password');
}
