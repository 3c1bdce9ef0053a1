import type { ObjectId, WithId } from 'mongodb';
import { removeWaitingVotes } from '../delivery/leave-queue.ts';
import { retireLiveMessage } from '../events/live-status/live-messages.ts';
import { removeSubscriptions } from '../events/remove-subscriptions.ts';
import { deleteGoal } from '../goals/change-goal.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { deleteDrawnPictures } from '../servers/drawn-pictures.ts';
import { movesOf } from '../servers/moves.ts';
import { deleteUploadsOf } from '../servers/picture-uploads.ts';
import { deleteUnusedPictures, pictureIdsOf } from '../servers/pictures.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import type { Server } from '../servers/server.ts';
import { requestServerQuarantines } from '../votes/exclusions/quarantine.ts';
import type { WorkflowsDeps } from './deps.ts';

/** The document stays, so that its id and slug are never used again. A repeated call completes an interrupted one. */
export async function removeServer(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  by: string,
  ownerId?: ObjectId,
): Promise<{ server: WithId<Server>; failedVotes: number } | null> {
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, ...(ownerId ? { ownerId } : {}) },
    [
      { $set: { removedAt: { $ifNull: ['$removedAt', deps.clock.now()] } } },
      { $unset: ['isUnseen', 'goalId'] },
    ],
    { returnDocument: 'after' },
  );
  if (!server) return null;
  deps.authentications.forget((one) => one.serverId.equals(serverId));
  await deps.serverDrafts.deleteMany(movesOf(serverId));
  await removeSubscriptions(deps, serverId, by);
  await retireLiveMessage(deps, serverId);
  await deleteGoal(deps, serverId);
  await deleteUnusedPictures(deps, pictureIdsOf(server));
  await deleteUploadsOf(deps, serverId);
  await deleteDrawnPictures(deps, serverId);
  await requestServerQuarantines(deps, serverId, by);
  const failedVotes = await removeWaitingVotes(deps, serverId, 'server-removed');
  await recordAudit(deps, {
    by,
    action: 'server.remove',
    serverId,
    details: { slug: server.slug, failedVotes },
  });
  await requestRanks(deps.producer);
  return { server, failedVotes };
}
