import type { Collection, ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { t } from '../language/t.ts';
import type { Server } from './server.ts';

/** The name under which owners see an operator, because owners do not get operators' addresses. It is also stored. */
export const AN_OPERATOR = 'an operator';

/**
 * Who did something, as it is stored. `by` is the e-mail address at that time; the user may have changed it since.
 * `byId` is absent for operators on the command line and in entries of older versions.
 */
export type Actor = { by: string; byId?: ObjectId | null | undefined };

/**
 * The names under which the owner and the members of a server see who did something. They see the addresses of the
 * owner and the members. Anybody else is shown as an operator, or as somebody who no longer has access.
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
