import type { ObjectId } from 'mongodb';
import type { Mongo } from '../../platform/mongo.ts';

/**
 * Lists of reviews of builds before 0.1.0 get the spread of their ratings. 0.1.0 stores it. A list that a moderator
 * changes in the same moment is read again.
 */
export async function spreadReviewLists({ db }: Mongo): Promise<void> {
  const lists = db.collection('review_lists');
  const incomplete = { spread: { $exists: false } };
  let changed = true;
  while (changed) {
    changed = false;
    for await (const { _id, entries } of lists.find(incomplete)) {
      const ids = (entries as { id: ObjectId }[]).map(({ id }) => id);
      const spread: Record<string, number> = {};
      for await (const { rating } of db.collection('reviews').find({ _id: { $in: ids } })) {
        spread[rating] = (spread[rating] ?? 0) + 1;
      }
      const { matchedCount } = await lists.updateOne({ _id, entries, ...incomplete }, { $set: { spread } });
      if (matchedCount === 0) changed = true;
    }
  }
}
