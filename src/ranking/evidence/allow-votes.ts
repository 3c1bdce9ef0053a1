import type { Collection, ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { type AuditEntry, recordAudit } from '../../platform/audit/audit-log.ts';
import type { Clock } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import type { Producer } from '../../platform/producer.ts';
import { reasonText } from '../../platform/text.ts';
import { requestRanks } from '../../servers/request-ranks.ts';
import type { Server } from '../../servers/server.ts';
import type { VoteCounter } from '../../votes/vote-counter.ts';

type AllowDeps = {
  servers: Collection<Server>;
  voteCounters: Collection<VoteCounter>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
  producer: Pick<Producer, 'add'>;
};

export const MOST_ALLOWED = 1_000_000;

const allowing = z.object({
  votes: z.coerce
    .number({ error: 'must be a number' })
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(MOST_ALLOWED, `must be at most ${MOST_ALLOWED}`),
  reason: reasonText,
});

/**
 * Stores an operator's decision about the allowance: how many votes of a server count for its rank on each UTC day
 * without evidence. From the next ranking on, waiting votes count up to this number, for all days of the ranking. The
 * limits for networks still apply. The number 0 ends the decision.
 *
 * @param by - the operator, for the audit log
 * @returns the server after the change; null if no such server is listed
 * @throws {InvalidDocumentError} for an invalid number or reason
 */
export async function allowVotes(
  deps: AllowDeps,
  serverId: ObjectId,
  input: { votes: string | number; reason: string },
  by: string,
): Promise<WithId<Server> | null> {
  const { votes, reason } = parseInput(allowing, input);
  const voteAllowance = { votes, reason, by, at: deps.clock.now() };
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    { $set: { voteAllowance } },
    { returnDocument: 'after' },
  );
  if (!server) return null;
  // If a ranking has read the counters before this update: its `reweighed` does not match, so it stores no weights.
  await deps.voteCounters.updateMany(
    { serverId },
    { $unset: { weighed: true, less: true, waiting: true }, $inc: { reweighed: 1 } },
  );
  await recordAudit(deps, { by, action: 'rank.allow', serverId, details: { votes, reason } });
  await requestRanks(deps.producer);
  return server;
}
