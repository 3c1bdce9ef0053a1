import type { ObjectId } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import type { ServersDeps } from './deps.ts';

/** Turns the vote form of a server on or off. Votes that were already cast do not change. */
export async function switchVoteForm(
  deps: ServersDeps,
  serverId: ObjectId,
  isOn: boolean,
  by: string,
): Promise<void> {
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, removedAt: null },
    isOn ? { $unset: { webVotes: '' } } : { $set: { webVotes: false } },
  );
  if (modifiedCount === 0) return;
  await recordAudit(deps, { by, action: 'server.web-votes', serverId, details: { isOn } });
}
