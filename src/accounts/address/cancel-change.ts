import type { Collection, ObjectId } from 'mongodb';
import type { AddressChange } from './address-change.ts';

type Changes = { addressChanges: Collection<AddressChange> };

/** Cancels a change that still waits for a confirmation. Returns whether there was one. */
export async function cancelAddressChange(
  { addressChanges }: Changes,
  { _id, changeId }: Pick<AddressChange, '_id' | 'changeId'>,
): Promise<boolean> {
  const { deletedCount } = await addressChanges.deleteOne({ _id, changeId, decidedAt: { $exists: false } });
  return deletedCount === 1;
}

/**
 * Cancels a user's change of address that waits for a confirmation. Called when the user sets a new password: somebody
 * who knew the old password may have requested the change.
 */
export async function cancelAddressChangeOf({ addressChanges }: Changes, userId: ObjectId): Promise<void> {
  await addressChanges.deleteOne({ _id: userId, decidedAt: { $exists: false } });
}
