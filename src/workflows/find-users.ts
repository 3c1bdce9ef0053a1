import type { Filter, WithId } from 'mongodb';
import { NAME_COLLATION, type User, type UserRole } from '../accounts/user.ts';
import { readSlice, type Slice } from '../platform/slices.ts';
import type { WorkflowsDeps } from './deps.ts';

/** `from`: the `next` of the previous slice. */
export function listUsers(
  { users }: WorkflowsDeps,
  { role, from, limit }: { role?: UserRole | undefined; from?: string | undefined; limit: number },
): Promise<Slice<WithId<User>>> {
  const filter: Filter<User> = role ? { role } : {};
  return readSlice<WithId<User>>(users, { filter, by: { field: 'createdAt', direction: -1 }, from, limit });
}

/** A prefix with this behind it is above all texts with that prefix: by bytes of UTF-8, and in a collation. */
const HIGHEST_BY_BYTES = '\u{10ffff}';
const HIGHEST_IN_COLLATION = '\u{ffff}';

/** By the beginning of the address, then of the name. Names are compared without case and accents. */
export async function searchUsers(
  { users }: WorkflowsDeps,
  { text, role, limit }: { text: string; role?: UserRole | undefined; limit: number },
): Promise<WithId<User>[]> {
  const wanted = text.trim();
  const address = wanted.toLowerCase();
  const ofRole: Filter<User> = role ? { role } : {};
  const [byEmail, byName] = await Promise.all([
    users
      .find({ ...ofRole, email: { $gte: address, $lt: `${address}${HIGHEST_BY_BYTES}` } })
      .sort({ email: 1 })
      .limit(limit)
      .toArray(),
    users
      .find(
        { ...ofRole, name: { $gte: wanted, $lt: `${wanted}${HIGHEST_IN_COLLATION}` } },
        { collation: NAME_COLLATION },
      )
      .sort({ name: 1 })
      .limit(limit)
      .toArray(),
  ]);
  const seen = new Set(byEmail.map(({ _id }) => _id.toHexString()));
  return [...byEmail, ...byName.filter(({ _id }) => !seen.has(_id.toHexString()))].slice(0, limit);
}
