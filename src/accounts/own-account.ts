import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Clock } from '../platform/clock.ts';
import { noteAccountChange } from './account-changes.ts';
import type { AddressChange } from './address/address-change.ts';
import { cancelAddressChangeOf } from './address/cancel-change.ts';
import type { SignInSession, User, Verification } from './user.ts';

type Own = { users: Collection<User>; clock: Clock };
type OwnSessions = { sessions: Collection<SignInSession> };

/** Changes a user's own name or mail settings. */
export async function changeOwnAccount(
  { users, clock }: Own,
  userId: ObjectId,
  changes: Partial<Pick<User, 'name' | 'wantsMail' | 'mailOff'>>,
): Promise<void> {
  await users.updateOne({ _id: userId }, { $set: { ...changes, updatedAt: clock.now() } });
}

/** The sessions of a user, at most `most`, the most recently used first. */
export function listSessions(
  { sessions }: OwnSessions,
  userId: ObjectId,
  most: number,
): Promise<WithId<SignInSession>[]> {
  return sessions.find({ userId }).sort({ updatedAt: -1 }).limit(most).toArray();
}

/** Ends one session of a user. Does nothing when the user has no such session. */
export async function endSession(
  { sessions }: OwnSessions,
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
  deps: Parameters<typeof noteAccountChange>[0] & {
    verifications: Collection<Verification>;
    addressChanges: Collection<AddressChange>;
  },
  user: Pick<User, 'email' | 'emailVerified'> & { _id: ObjectId },
): Promise<void> {
  await deps.verifications.deleteMany({ value: user._id.toHexString() });
  await cancelAddressChangeOf(deps, user._id);
  await noteAccountChange(deps, user, 'password');
}
