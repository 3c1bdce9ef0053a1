import { ObjectId } from 'mongodb';
import type { User } from '../../src/accounts/user.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { NewServer } from '../../src/servers/server-settings.ts';

/** Adds a user who owns servers: Olivia, olivia@example.org. Returns the id. */
export async function addOwner(
  { users, clock }: Pick<AppDeps, 'users' | 'clock'>,
  user: Partial<User> = {},
): Promise<ObjectId> {
  const now = clock.now();
  const { insertedId } = await users.insertOne({
    _id: new ObjectId(),
    name: 'Olivia',
    email: 'olivia@example.org',
    emailVerified: true,
    createdAt: now,
    updatedAt: now,
    role: 'owner',
    twoFactorEnabled: false,
    wantsMail: true,
    ...user,
  });
  return insertedId;
}

/** Lists a server that belongs to a user. */
export async function addOwnedServer(
  deps: AppDeps,
  ownerId: ObjectId,
  settings: Partial<NewServer> = {},
): Promise<ObjectId> {
  const added = { name: 'Alpha Craft', address: 'play.example.org', port: 25_565, ...settings };
  const serverId = new ObjectId((await addServer(deps, added, 'test')).serverId);
  await deps.servers.updateOne({ _id: serverId }, { $set: { ownerId } });
  return serverId;
}
