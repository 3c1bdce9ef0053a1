import type { ObjectId } from 'mongodb';
import type { Platform } from '../../process/app-deps.ts';
import { hasServers } from '../../servers/members.ts';

/** The page after signing in without a destination: for operators without a server the admin area, else the dashboard. */
export async function homeOf(
  platform: Pick<Platform, 'users' | 'servers'>,
  base: string,
  userId: ObjectId,
): Promise<string> {
  const user = await platform.users.findOne({ _id: userId }, { projection: { role: 1 } });
  if (user?.role !== 'operator' || (await hasServers(platform, userId))) return `${base}/dashboard`;
  return `${base}/operator`;
}
