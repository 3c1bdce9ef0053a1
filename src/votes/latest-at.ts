import type { Document } from 'mongodb';

/** An expression: the latest `at` in an array, such as `$delivery.attempts`, where `cond` on `$$this` is true. */
export function latestAt(array: string, cond: Document): Document {
  return { $max: { $map: { input: { $filter: { input: array, cond } }, in: '$$this.at' } } };
}
