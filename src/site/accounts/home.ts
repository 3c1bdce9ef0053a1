import type { ObjectId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasServers } from '../../servers/members.ts';

/**
 * Where a user goes after signing in, if they did not ask for another page: the dashboard, or the admin area for
 * operators without a server.
 */
export async function homeOf(
  deps: Pick<AppDeps, 'users' | 'servers'>,
  base: string,
  userId: ObjectId,
): Promise<string> {
  const user = await deps.users.findOne({ _id: userId }, { projection: { role: 1 } });
  if (user?.role !== 'operator' || (await hasServers(deps, userId))) return `${base}/dashboard`;
  return `${base}/operator`;
}
