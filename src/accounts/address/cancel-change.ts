import type { ObjectId } from 'mongodb';
import type { AccountsDeps } from '../deps.ts';
import type { AddressChange } from './address-change.ts';

/** Cancels a change that still waits for a confirmation. Returns whether there was one. */
export async function cancelAddressChange(
  { addressChanges }: AccountsDeps,
  { _id, changeId }: Pick<AddressChange, '_id' | 'changeId'>,
): Promise<boolean> {
  const { deletedCount } = await addressChanges.deleteOne({ _id, changeId, decidedAt: { $exists: false } });
  return deletedCount === 1;
}

/**
 * Cancels a user's change of address that waits for a confirmation. Called when the user sets a new password: somebody
 * who knew the old password may have requested the change.
 */
export async function cancelAddressChangeOf(
  { addressChanges }: AccountsDeps,
  userId: ObjectId,
): Promise<void> {
  await addressChanges.deleteOne({ _id: userId, decidedAt: { $exists: false } });
}
