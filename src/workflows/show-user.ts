import type { ObjectId, WithId } from 'mongodb';
import type { Credential, User } from '../accounts/user.ts';
import type { Server } from '../servers/server.ts';
import type { WorkflowsDeps } from './deps.ts';

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
