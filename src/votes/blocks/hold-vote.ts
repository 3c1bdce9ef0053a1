import { type Collection, ObjectId } from 'mongodb';
import { after, type Clock, MINUTE } from '../../platform/clock.ts';
import { DURABLE, isDuplicateKey, MAJORITY } from '../../platform/mongo.ts';
import { AUTOMATIC, type VoteExclusion } from '../vote-exclusion.ts';

type Holding = { voteExclusions: Collection<VoteExclusion>; clock: Clock };

/** What is blocked, and where its vote comes in. */
type Held = { serverId: ObjectId; blockId: ObjectId; username: string; usernameKey: string };

/**
 * The exclusion that holds back a server's votes of a blocked name, opened at its first vote. Such votes are neither
 * counted nor delivered. An operator may undo it, which releases them like those of a quarantine (quarantine.ts).
 *
 * @throws the driver's error when MongoDB fails
 */
export async function exclusionOfBlock({ voteExclusions, clock }: Holding, held: Held): Promise<ObjectId> {
  const now = clock.now();
  const { serverId, blockId } = held;
  const open = { serverId, blockId, state: 'excluded' } as const;
  const opened: VoteExclusion = {
    ...held,
    ...open,
    _id: new ObjectId(),
    // The clock of another process may be behind this one.
    since: after(now, -MINUTE),
    until: now,
    tokenId: null,
    reason: 'The name of the player is blocked.',
    by: AUTOMATIC,
    at: now,
    undone: null,
    isQuarantine: true,
    days: [],
    votes: null,
  };
  for (;;) {
    const found = await voteExclusions.findOne(open, { projection: { _id: 1 }, ...MAJORITY });
    if (found) return found._id;
    try {
      await voteExclusions.insertOne(opened, { writeConcern: DURABLE });
      return opened._id;
    } catch (error) {
      // Another process opened one at the same moment.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}
