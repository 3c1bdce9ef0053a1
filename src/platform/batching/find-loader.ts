import type { Collection, Document, Filter, FindOptions, WithId } from 'mongodb';
import type { BatchLoader } from './batcher.ts';

/** `$in`; a plain comparison where there is but one, as it would be written for it alone. */
export function anyOf<T>(values: T[]): T | { $in: T[] } {
  const [only] = values;
  return only !== undefined && values.length === 1 ? only : { $in: values };
}

/**
 * Finds documents by something that each has to itself: its id, its hash, its server. Those who ask for the same one
 * share what is found.
 *
 * @param filter - for all of a batch, no key twice
 * @param nameOf - tells keys apart, and finds the key of a document
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
  options?: FindOptions;
}): BatchLoader<Collection<D>, Key, WithId<D> | null> {
  return {
    most: 500,
    async load(collection, keys) {
      const names = keys.map(nameOf);
      const wanted = new Map(names.map((name, i) => [name, keys[i] as Key]));
      const found = await collection.find(filter([...wanted.values()]), options).toArray();
      const byName = new Map(found.map((document) => [nameOf(keyOf(document)), document]));
      return names.map((name) => byName.get(name) ?? null);
    },
  };
}
