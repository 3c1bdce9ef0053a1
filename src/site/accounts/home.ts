import type { ObjectId } from 'mongodb';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasServers } from '../../servers/members.ts';

/** The path of a user's start page, which follows a sign-in unless the user wanted another page. */
export async function homeOf(deps: AppDeps, base: string, userId: ObjectId): Promise<string> {
  if (await hasServers(deps, userId)) return `${base}/dashboard`;
  const user = await deps.users.findOne({ _id: userId }, { projection: { role: 1 } });
  if (user?.role === 'operator') return `${base}/operator`;
  const draft = await deps.serverDrafts.findOne({ ownerId: userId }, { projection: { _id: 1 } });
  return draft ? `${base}/dashboard` : `${base}/favourites`;
}
