import type { ObjectId } from 'mongodb';
import { noteAccountChange } from '../account-changes.ts';
import type { AccountsDeps } from '../deps.ts';
import type { User } from '../user.ts';
import type { OtherSite } from './other-sites.ts';

/**
 * Removes the link of an account to another site. The account's sessions continue.
 *
 * @returns false if the user has no password: the link stays, because it is needed to sign in
 */
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
