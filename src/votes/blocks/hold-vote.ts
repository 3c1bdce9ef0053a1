import type { Collection, ObjectId } from 'mongodb';
import type { Clock } from '../../platform/clock.ts';
import { openExclusion } from '../open-exclusion.ts';
import type { VoteExclusion } from '../vote-exclusion.ts';

type HoldDeps = { voteExclusions: Collection<VoteExclusion>; clock: Clock };

/** What is blocked, and where its vote comes in. */
type Held = { serverId: ObjectId; blockId: ObjectId; username: string; usernameKey: string };

/**
 * The exclusion that holds back a server's votes of a blocked name, opened at its first vote. An operator may undo it,
 * which releases the votes like those of a quarantine (quarantine.ts).
 *
 * @throws the driver's error when MongoDB fails
 */
export function exclusionOfBlock(deps: HoldDeps, { serverId, blockId, ...player }: Held): Promise<ObjectId> {
  const open = { serverId, blockId, state: 'excluded' } as const;
  return openExclusion(deps, open, { ...player, reason: 'The name of the player is blocked.' });
}
