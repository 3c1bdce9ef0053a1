import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { DAY } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import type { Resources } from '../../platform/resources.ts';
import { reasonText } from '../../platform/text.ts';
import { requestRanks } from '../../servers/request-ranks.ts';
import type { Server } from '../../servers/server.ts';
import type { RankingDeps } from '../deps.ts';

export const MOST_ALLOWED = 1_000_000;

const allowing = z.object({
  // Not coerced by `Number`: an empty text would end an allowance, and `1e6` would be a million.
  votes: z.preprocess(
    (value) => (typeof value === 'string' && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value),
    z
      .number('must be a whole number')
      .int('must be a whole number')
      .min(0, 'must be 0 or more')
      .max(MOST_ALLOWED, `must be at most ${MOST_ALLOWED}`),
  ),
  reason: reasonText,
});

const ALLOWED = { $ifNull: ['$voteAllowance.votes', 0] };

export const LEFT_MS = 30 * DAY;

/** The votes wait anyway: only the inbox does not show the server for `LEFT_MS`. Null if no such server is listed. */
export async function leaveWaiting(
  { servers, auditLog, clock }: RankingDeps,
  serverId: ObjectId,
  isLeft: boolean,
  by: string,
): Promise<WithId<Server> | null> {
  const now = clock.now();
  const change = isLeft ? { $set: { waitingLeftAt: now } } : { $unset: { waitingLeftAt: true as const } };
  const server = await servers.findOneAndUpdate({ _id: serverId, removedAt: null }, change, {
    returnDocument: 'after',
  });
  if (!server) return null;
  await recordAudit({ auditLog, clock }, { by, action: 'rank.leave', serverId, details: { isLeft } });
  return server;
}

/**
 * How many votes of a server count for its rank on each UTC day without evidence, from the next ranking on and for all
 * its days. The limits for networks still apply. 0 ends the decision. Null if no such server is listed, or if its
 * allowance is neither the one that the operator saw (`seen`) nor the wanted one.
 *
 * @throws {InvalidDocumentError} for an invalid number or reason
 */
export async function allowVotes(
  deps: RankingDeps & Pick<Resources, 'producer'>,
  serverId: ObjectId,
  { seen, ...input }: { votes: string | number; reason: string; seen?: number },
  by: string,
): Promise<WithId<Server> | null> {
  const { votes, reason } = parseInput(allowing, input);
  const asSeen = seen === undefined ? {} : { $expr: { $in: [ALLOWED, [seen, votes]] } };
  const voteAllowance = { votes, reason, by, at: deps.clock.now() };
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null, ...asSeen },
    { $set: { voteAllowance } },
    { returnDocument: 'after' },
  );
  if (!server) return null;
  // If a ranking has read the counters before this: its `reweighed` does not match, so it stores no weights.
  await deps.voteCounters.updateMany(
    { serverId },
    { $unset: { weighed: true, less: true, waiting: true }, $inc: { reweighed: 1 } },
  );
  await recordAudit(deps, { by, action: 'rank.allow', serverId, details: { votes, reason } });
  await requestRanks(deps.producer);
  return server;
}
