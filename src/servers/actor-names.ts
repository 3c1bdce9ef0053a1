import type { Collection, ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { t } from '../language/t.ts';
import type { Server } from './server.ts';

/** How owners see an operator, also as stored; operators' addresses are not for them. */
export const AN_OPERATOR = 'an operator';

/**
 * Who did something, as stored. `by` is the address at that time, which the user may have changed since. `byId` is absent
 * for operators on the command line and in entries of older versions.
 */
export type Actor = { by: string; byId?: ObjectId | null | undefined };

/**
 * How the owner and the members of a server see who did something: the addresses of one another, and of nobody else. A
 * user who is neither is shown as an operator, or as somebody who has no access any more.
 */
export async function actorNames(
  { users }: { users: Collection<User> },
  { ownerId, members }: Pick<WithId<Server>, 'ownerId' | 'members'>,
  actors: Actor[],
): Promise<(actor: Actor) => string> {
  const ids = actors.flatMap(({ byId }) => byId ?? []);
  const emails = [...new Set(actors.flatMap(({ by, byId }) => (byId ? [] : by)))];
  const found =
    actors.length === 0
      ? []
      : await users
          .find(
            { $or: [{ _id: { $in: ids } }, { email: { $in: emails } }] },
            { projection: { email: 1, role: 1 } },
          )
          .toArray();
  const withAccess = [ownerId, ...(members ?? []).map(({ userId }) => userId)];
  return ({ by, byId }) => {
    const user = found.find(({ _id, email }) => (byId ? byId.equals(_id) : email === by));
    if (user && withAccess.some((id) => id?.equals(user._id))) return user.email;
    return by === 'cli' || user?.role === 'operator'
      ? t(AN_OPERATOR)
      : t('somebody without access to this server');
  };
}
