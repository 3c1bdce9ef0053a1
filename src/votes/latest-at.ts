import type { Document } from 'mongodb';

/**
 * An aggregation expression for the latest `at` of the elements of an array, such as `$delivery.attempts`, that fulfil a
 * condition on `$$this`; null if there is none.
 */
export function latestAt(array: string, cond: Document): Document {
  return { $max: { $map: { input: { $filter: { input: array, cond } }, in: '$$this.at' } } };
}
