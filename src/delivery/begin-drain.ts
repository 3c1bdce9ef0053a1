import type { Collection, ObjectId } from 'mongodb';
import type { Lanes } from '../batching/lanes.ts';
import type { Logger } from '../log.ts';
import type { Server } from '../servers/server.ts';
import { serversTogether } from '../servers/servers-together.ts';
import type { Claimed } from './after-end.ts';
import type { Recording } from './attempt-records.ts';
import { endLostAttempts, hasLostAttempts } from './lost-attempts.ts';

/** What a drain needs to know of its server. */
const serversOfDrains = serversTogether({ name: 1, ownerId: 1, removedAt: 1 });

/**
 * What a drain does first, together with others that begin: it looks at its server, and ends the attempts that a
 * dead worker left behind.
 *
 * @returns the server's name, null when it is gone, and its owner's id; the attempts ended
 */
export async function beginDrain(
  deps: Recording & { servers: Collection<Server>; lanes: Lanes; log: Logger },
  serverId: ObjectId,
): Promise<{ server: string | null; accountId: string | null; lost: Claimed[] }> {
  const { lanes, servers, votes, log } = deps;
  const [found, hasLost] = await Promise.all([
    lanes.ask(serversOfDrains, servers, serverId),
    lanes.ask(hasLostAttempts, votes, serverId),
  ]);
  const lost = hasLost ? await endLostAttempts(deps, serverId) : [];
  for (const { vote } of lost) log.warn({ event: 'delivery.lost', voteId: vote._id.toString() });
  const accountId = found?.ownerId?.toHexString() ?? null;
  return { server: found && !found.removedAt ? found.name : null, accountId, lost };
}
