import type { ObjectId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasServers } from '../../servers/members.ts';

/**
 * The start page, which users get after a sign-in unless they wanted another page. The first that fits: the dashboard
 * for owners and members, the admin area for operators, the dashboard for users with a draft, the favourites.
 */
export async function homeOf(
  deps: Pick<AppDeps, 'users' | 'servers' | 'serverDrafts'>,
  base: string,
  userId: ObjectId,
): Promise<string> {
  if (await hasServers(deps, userId)) return `${base}/dashboard`;
  const user = await deps.users.findOne({ _id: userId }, { projection: { role: 1 } });
  if (user?.role === 'operator') return `${base}/operator`;
  const draft = await deps.serverDrafts.findOne({ ownerId: userId }, { projection: { _id: 1 } });
  return draft ? `${base}/dashboard` : `${base}/favourites`;
}
