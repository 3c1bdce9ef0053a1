import type { ObjectId } from 'mongodb';
import { noteAccountChange } from './account-changes.ts';
import { cancelAddressChangeOf } from './address/change-address.ts';
import type { AccountsDeps } from './deps.ts';
import type { OtherSite } from './other-sites/other-sites.ts';
import type { User } from './user.ts';

export async function changeOwnAccount(
  { users, clock }: AccountsDeps,
  userId: ObjectId,
  changes: Partial<Pick<User, 'name' | 'wantsMail' | 'mailOff'>>,
): Promise<void> {
  await users.updateOne({ _id: userId }, { $set: { ...changes, updatedAt: clock.now() } });
}

export function listSessions({ sessions }: AccountsDeps, userId: ObjectId, most: number) {
  return sessions.find({ userId }).sort({ updatedAt: -1 }).limit(most).toArray();
}

export async function endSession({ sessions }: AccountsDeps, userId: ObjectId, sessionId: ObjectId) {
  await sessions.deleteOne({ _id: sessionId, userId });
}

/** Must be called after users have changed their password. Also deletes one-time links and pending sign-ins. */
export async function finishPasswordChange(
  deps: AccountsDeps,
  user: Pick<User, 'email' | 'emailVerified'> & { _id: ObjectId },
): Promise<void> {
  await deps.verifications.deleteMany({ value: user._id.toHexString() });
  await cancelAddressChangeOf(deps, user._id);
  await noteAccountChange(deps, user, 'password');
}

/** False if the user has no password: the link stays, because it is needed to sign in. */
export async function unlinkSite(
  deps: AccountsDeps,
  user: Pick<User, 'email' | 'emailVerified'> & { _id: ObjectId },
  { id, name }: OtherSite,
): Promise<boolean> {
  const userId = user._id;
  if (!(await deps.credentials.findOne({ userId, providerId: 'credential' }))) return false;
  const { deletedCount } = await deps.credentials.deleteMany({ userId, providerId: id });
  if (deletedCount > 0) await noteAccountChange(deps, user, 'site-unlinked', name);
  return true;
}
