import { DURABLE, type Mongo } from '../../platform/mongo.ts';
import { nextVoteAt } from '../../votes/cast/cooldown.ts';
import { NEWEST_IMPORT } from '../../votes/cast/imported-cooldowns.ts';
import { bindCollections } from '../collections.ts';

/** Builds before this one imported votes without a mark, up to now. */
export async function markImports(mongo: Mongo): Promise<void> {
  const cooldownsEndAt = nextVoteAt({ votedAt: new Date() });
  await bindCollections(mongo).importMarks.updateOne(
    { _id: NEWEST_IMPORT },
    { $setOnInsert: { cooldownsEndAt } },
    { upsert: true, writeConcern: DURABLE },
  );
}
