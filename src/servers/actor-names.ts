import type { Collection, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { t } from '../language/t.ts';
import type { Server } from './server.ts';

/** How owners see an operator, also as stored; operators' addresses are not for them. */
export const AN_OPERATOR = 'an operator';

/**
 * How the owner and the members of a server see who did something: the addresses of one another, and of nobody else. An
 * address that is not theirs now belongs to an operator, or to somebody who has no access any more.
 *
 * @param actors - addresses as the audit log stores them
 */
export async function actorNames(
  { users }: { users: Collection<User> },
  { ownerId, members }: Pick<WithId<Server>, 'ownerId' | 'members'>,
  actors: string[],
): Promise<(by: string) => string> {
  const emails = [...new Set(actors)];
  const found =
    emails.length === 0
      ? []
      : await users.find({ email: { $in: emails } }, { projection: { email: 1, role: 1 } }).toArray();
  const ids = [ownerId, ...(members ?? []).map(({ userId }) => userId)];
  const byEmail = new Map(found.map((user) => [user.email, user]));
  return (by) => {
    const user = byEmail.get(by);
    if (user && ids.some((id) => id?.equals(user._id))) return by;
    return by === 'cli' || user?.role === 'operator'
      ? t(AN_OPERATOR)
      : t('somebody without access to this server');
  };
}
