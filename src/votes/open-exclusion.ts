import { type Collection, ObjectId } from 'mongodb';
import { after, type Clock, MINUTE } from '../platform/clock.ts';
import { DURABLE, isDuplicateKey, MAJORITY, OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import { AUTOMATIC, type VoteExclusion } from './vote-exclusion.ts';

/** What finds the exclusion. A unique index allows one such exclusion per server and, if it has one, origin. */
type Open =
  | { serverId: ObjectId; state: 'quarantined'; origin: string | null }
  | { serverId: ObjectId; blockId: ObjectId; state: 'excluded' };

/**
 * The exclusion that holds back votes of a server as they are cast, opened when there is none. Its votes have its id in
 * `excludedBy` and `quarantinedAt`, and they are neither counted nor delivered.
 *
 * @param about - what is stored when it is opened
 * @throws the driver's error when MongoDB fails
 */
export async function openExclusion(
  { voteExclusions, clock }: { voteExclusions: Collection<VoteExclusion>; clock: Clock },
  open: Open,
  about: Pick<VoteExclusion, 'reason' | 'username' | 'usernameKey' | 'cause'>,
): Promise<ObjectId> {
  const now = clock.now();
  const { origin, ...place } = { origin: null, ...open };
  const opened: VoteExclusion = {
    ...about,
    ...place,
    ...(origin === null ? {} : { origin }),
    _id: new ObjectId(),
    // The clock of another process may be behind this one.
    since: after(now, -MINUTE),
    until: now,
    tokenId: null,
    by: AUTOMATIC,
    at: now,
    undone: null,
    isQuarantine: true,
    days: [],
    votes: null,
  };
  const deadline = performance.now() + OPERATION_TIMEOUT_MS;
  for (;;) {
    const found = await voteExclusions.findOne(open, { projection: { _id: 1 }, ...MAJORITY });
    if (found) return found._id;
    try {
      await voteExclusions.insertOne(opened, { writeConcern: DURABLE });
      return opened._id;
    } catch (error) {
      // Another process opened one at the same moment, and a majority may not hold it yet.
      if (!isDuplicateKey(error) || performance.now() >= deadline) throw error;
    }
  }
}
