import type { ObjectId } from 'mongodb';
import type { Mongo } from '../../platform/mongo.ts';

/**
 * Adds the spread (the number of reviews with each rating) to review lists that builds before 0.1.0 stored. If reviews
 * are added to a list or removed from it at the same moment, the list is read again.
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
