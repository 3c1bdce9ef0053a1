import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import { rejectOwnersReview } from '../reviews/own-review.ts';
import { acceptInvitation, invitationsOf } from '../servers/members.ts';
import type { Server } from '../servers/server.ts';
import type { WorkflowsDeps } from './deps.ts';

/** Members cannot review their server. So the user's review leaves the public list first. null without an invitation. */
export async function joinServer(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  user: Pick<User, '_id' | 'email' | 'emailVerified'>,
): Promise<WithId<Server> | null> {
  const invited = (await invitationsOf(deps, user)).some(({ server }) => server._id.equals(serverId));
  if (!invited) return null;
  await rejectOwnersReview(deps, { serverId, userId: user._id });
  return acceptInvitation(deps, serverId, user);
}
