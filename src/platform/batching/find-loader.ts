import type { Collection, Document, Filter, FindOptions, WithId } from 'mongodb';
import type { BatchLoader } from './batcher.ts';
import { findFew } from './find-few.ts';

/** `$in`, or the value itself if there is only one. */
export function anyOf<T>(values: T[]): T | { $in: T[] } {
  const [only] = values;
  return only !== undefined && values.length === 1 ? only : { $in: values };
}

/**
 * Finds documents by a unique key: an id, a hash, a server. Requests for the same key share the result. `filter`
 * matches all keys of a batch, each of which occurs once.
 */
export function findLoader<D extends Document, Key>({
  filter,
  nameOf,
  keyOf,
  options = {},
}: {
  filter(keys: Key[]): Filter<D>;
  nameOf(key: Key): string;
  keyOf(document: WithId<D>): Key;
  options?: Pick<FindOptions, 'projection' | 'readConcern'>;
}): BatchLoader<Collection<D>, Key, WithId<D> | null> {
  return {
    most: 500,
    async load(collection, keys) {
      const names = keys.map(nameOf);
      const wanted = new Map(names.map((name, i) => [name, keys[i] as Key]));
      const found = await findFew(collection, filter([...wanted.values()]), options);
      const byName = new Map(found.map((document) => [nameOf(keyOf(document)), document]));
      return names.map((name) => byName.get(name) ?? null);
    },
  };
}
