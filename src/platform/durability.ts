import { type Db, UUID } from 'mongodb';
import type { Batcher, BatchLoader } from './batching/batcher.ts';
import type { Clock } from './clock.ts';
import { DURABLE, type Mongo } from './mongo.ts';

/** Makes sure that the data in an API answer is durable: it survives a crash of mongod, like an accepted vote. */
export type Durability = {
  /**
   * Waits until everything that was read before this call is durable. A standalone mongod also returns data that is not
   * in its journal yet; a majority read of a replica set returns durable data only.
   *
   * @param writtenBy - the latest time at which the data was written. If the journal was flushed after it, this returns
   *   at once
   * @throws the driver's error when MongoDB fails
   */
  confirm(writtenBy?: Date): Promise<void>;
};

const NO_VOTE_ID = new UUID('00000000-0000-0000-0000-000000000000');

/** A write that changes nothing. mongod acknowledges it when all earlier writes are in the journal. */
const flushJournal: BatchLoader<Db, null, true> = {
  most: 1_000,
  async load(db, requests) {
    const { w, journal: j } = DURABLE;
    const updates = [{ q: { _id: NO_VOTE_ID }, u: { $set: { delivery: null } } }];
    await db.command({ update: 'votes', updates, writeConcern: { w, j } });
    return requests.map(() => true);
  },
};

/** Unless mongod is standalone, `confirm` does nothing. `clock` must be the clock that dates the votes. */
export function createDurability(
  { db, isStandalone }: Pick<Mongo, 'db' | 'isStandalone'>,
  batcher: Batcher,
  clock: Clock,
): Durability {
  if (!isStandalone) return { confirm: async () => undefined };
  let flushedAt = new Date(0);
  return {
    async confirm(writtenBy) {
      if (writtenBy && writtenBy < flushedAt) return;
      const began = clock.now();
      await batcher.load(flushJournal, db, null);
      if (began > flushedAt) flushedAt = began;
    },
  };
}
