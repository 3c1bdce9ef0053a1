import { after, DAY } from '../../platform/clock.ts';
import { DURABLE, type Mongo } from '../../platform/mongo.ts';
import { MARK } from '../../votes/cast/imported-cooldowns.ts';
import { bindCollections } from '../collections.ts';

/** Builds before this one import votes without a mark, for up to a day beside this one; a cooldown lasts another day. */
export async function markImports(mongo: Mongo): Promise<void> {
  await bindCollections(mongo).importMarks.updateOne(
    { _id: MARK },
    { $max: { cooldownsEndAt: after(new Date(), 2 * DAY) } },
    { upsert: true, writeConcern: DURABLE },
  );
}
