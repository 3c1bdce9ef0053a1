import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { optionalReason, reasonText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';
import { nextRank } from './listed-servers.ts';
import { requestRanks } from './request-ranks.ts';
import type { Server } from './server.ts';

const hiding = z.object({ reason: reasonText, internalReason: optionalReason });

/**
 * Hides a server from the ranking and all public pages. Its API still works and accepts votes; its rank is one after
 * the last rank. The owner sees the reason; the internal reason is only for operators. A second call changes only the
 * reasons.
 *
 * @param by - the operator, for the audit log
 * @returns the current server; null when no such server is listed
 * @throws {InvalidDocumentError} for an invalid reason
 */
export async function hideServer(
  deps: ServersDeps,
  serverId: ObjectId,
  input: { reason: string; internalReason?: string | undefined },
  by: string,
): Promise<WithId<Server> | null> {
  const { reason, internalReason } = parseInput(hiding, input);
  const { servers, clock } = deps;
  const hidden = await servers.findOneAndUpdate({ _id: serverId, removedAt: null }, [
    {
      $set: {
        hiddenAt: { $ifNull: ['$hiddenAt', clock.now()] },
        hiddenReason: { $literal: reason },
        hiddenInternalReason: internalReason === undefined ? '$$REMOVE' : { $literal: internalReason },
        ranked: null,
      },
    },
    { $unset: 'isUnseen' },
  ]);
  if (!hidden) return null;
  // The rank of hidden servers (see recompute-ranks.ts). This server gets it at once, not only at the next ranking.
  const rankPosition = await nextRank(servers);
  const server = await servers.findOneAndUpdate(
    { _id: serverId, hiddenAt: { $ne: null } },
    { $set: { rankPosition } },
    { returnDocument: 'after' },
  );
  await recordAudit(deps, {
    by,
    action: 'server.hide',
    serverId,
    details: { reason, ...(internalReason ? { internalReason } : {}) },
  });
  await requestRanks(deps.producer);
  return server;
}

/**
 * Shows a hidden server again, and requests a ranking that gives it a rank. A second call does not change the server.
 *
 * @returns the current server; null when no such server is listed
 */
export async function unhideServer(
  deps: ServersDeps,
  serverId: ObjectId,
  by: string,
): Promise<WithId<Server> | null> {
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    { $set: { hiddenAt: null }, $unset: { hiddenReason: 1, hiddenInternalReason: 1 } },
    { returnDocument: 'after' },
  );
  if (!server) return null;
  await recordAudit(deps, { by, action: 'server.unhide', serverId, details: {} });
  await requestRanks(deps.producer);
  return server;
}
