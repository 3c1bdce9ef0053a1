import type { Filter, ObjectId, WithId } from 'mongodb';
import { type Credential, NAME_COLLATION, type User, type UserRole } from '../accounts/user.ts';
import type { Server } from '../servers/server.ts';
import type { WorkflowsDeps } from './deps.ts';

export type UserPosition = { createdAt: Date; id: ObjectId };

export async function listUsers(
  { users }: WorkflowsDeps,
  { role, after, limit }: { role?: UserRole | undefined; after?: UserPosition | undefined; limit: number },
): Promise<{ users: WithId<User>[]; next: UserPosition | null }> {
  const older: Filter<User> = after
    ? {
        createdAt: { $lte: after.createdAt },
        $or: [{ createdAt: { $lt: after.createdAt } }, { _id: { $lt: after.id } }],
      }
    : {};
  const found = await users
    .find({ ...(role ? { role } : {}), ...older })
    .sort({ createdAt: -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { users: page, next: last ? { createdAt: last.createdAt, id: last._id } : null };
}

/** In any collation: `prefix + HIGHEST` is the upper bound of all texts with that prefix. */
const HIGHEST = '\u{ffff}';

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
      .find({ ...ofRole, email: { $gte: address, $lt: `${address}${HIGHEST}` } })
      .sort({ email: 1 })
      .limit(limit)
      .toArray(),
    users
      .find({ ...ofRole, name: { $gte: wanted, $lt: `${wanted}${HIGHEST}` } }, { collation: NAME_COLLATION })
      .sort({ name: 1 })
      .limit(limit)
      .toArray(),
  ]);
  const seen = new Set(byEmail.map(({ _id }) => _id.toHexString()));
  return [...byEmail, ...byName.filter(({ _id }) => !seen.has(_id.toHexString()))].slice(0, limit);
}

export type UserView = {
  user: WithId<User>;
  servers: Pick<WithId<Server>, '_id' | 'name' | 'slug'>[];
  sessions: number;
  hasPassword: boolean;
  credentials: Pick<Credential, 'providerId' | 'accountId'>[];
};

const MOST_SERVERS = 50;

export async function showUser(deps: WorkflowsDeps, userId: ObjectId): Promise<UserView | null> {
  const [user, servers, sessions, credentials] = await Promise.all([
    deps.users.findOne({ _id: userId }),
    deps.servers
      .find({ ownerId: userId, removedAt: null }, { projection: { name: 1, slug: 1 } })
      .limit(MOST_SERVERS)
      .toArray(),
    deps.sessions.countDocuments({ userId }),
    deps.credentials.find({ userId }, { projection: { providerId: 1, accountId: 1 } }).toArray(),
  ]);
  if (!user) return null;
  const hasPassword = credentials.some(({ providerId }) => providerId === 'credential');
  return { user, servers, sessions, hasPassword, credentials };
}
