import type { Collection, ObjectId } from 'mongodb';
import { after, type Clock, SECOND } from '../clock.ts';
import type { Server } from '../servers/server.ts';
import { type Checked, type Checking, checkServer } from './check-server.ts';

/** An owner may ask for so many checks at once, and for one more each time this has passed. */
const CHECKS_AT_ONCE = 5;
const CHECK_EVERY_MS = 12 * SECOND;

/** `refused`: too many were asked for; `not-found`: there is no such listed server. */
export type CheckedNow = Checked | { kind: 'refused'; nextAllowedAt: Date } | { kind: 'not-found' };

/**
 * Checks a server at once because its owner asks, five times in a row and then every 12 s, over all processes. A
 * server that is long offline goes back to the usual interval when it answers.
 *
 * @throws what MongoDB throws
 */
export async function checkNow(
  deps: Checking,
  serverId: ObjectId,
  signal?: AbortSignal,
): Promise<CheckedNow> {
  const allowed = await useAllowance(deps, serverId);
  if (allowed) return checkServer(deps, allowed, signal);
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!server) return { kind: 'not-found' };
  const usedUp = server.probe.askedUntil ?? deps.clock.now();
  return { kind: 'refused', nextAllowedAt: after(usedUp, -(CHECKS_AT_ONCE - 1) * CHECK_EVERY_MS) };
}

/** Takes one check from the allowance, in one conditional update; null when nothing is left. */
function useAllowance({ servers, clock }: { servers: Collection<Server>; clock: Clock }, serverId: ObjectId) {
  const now = clock.now();
  const fits = { $lte: after(now, (CHECKS_AT_ONCE - 1) * CHECK_EVERY_MS) };
  return servers.findOneAndUpdate(
    {
      _id: serverId,
      removedAt: null,
      $or: [{ 'probe.askedUntil': null }, { 'probe.askedUntil': fits }],
    },
    [
      {
        $set: {
          'probe.askedUntil': { $add: [{ $max: ['$probe.askedUntil', now] }, CHECK_EVERY_MS] },
        },
      },
    ],
    { returnDocument: 'after' },
  );
}
