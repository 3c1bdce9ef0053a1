import { createHash } from 'node:crypto';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { type AnyBulkWriteOperation, Binary, type Collection, type ObjectId } from 'mongodb';
import type { ActiveLease } from '../platform/periods/work-lease.ts';
import type { RankedList } from './ranked-list.ts';

/** So many parts are written in one round trip, and made before the event loop runs other work. */
const BULK = 1_000;

/** `places` are indexes in the ranking, from 0; `total` is the number of servers. */
export type ListInProgress = { places: number[]; total: number };

/** All keys of the kind, and no others, begin with `prefix`. */
export type ListsOfKind = {
  prefix: string;
  lists: Iterable<[key: string, list: ListInProgress]>;
  length: number;
  /** `id`: sorted by id. This order changes less often than the ranking, so fewer parts are written. */
  order: 'given' | 'id';
};

/** If the list has `most` servers already: the server is only counted. */
export function addTo(
  lists: Map<string, ListInProgress>,
  key: string,
  place: number,
  most = Number.POSITIVE_INFINITY,
) {
  const list = lists.get(key);
  if (!list) return lists.set(key, { places: [place], total: 1 });
  if (list.total < most) list.places.push(place);
  list.total += 1;
  return lists;
}

/** Parts that did not change are not written. `ids`: by rank. */
export async function replaceLists(
  rankedLists: Collection<RankedList>,
  lease: ActiveLease,
  { prefix, lists, length, order }: ListsOfKind,
  ids: ObjectId[],
): Promise<void> {
  const existing = await digestsOf(rankedLists, prefix);
  let writes: AnyBulkWriteOperation<RankedList>[] = [];
  const write = async (operation?: AnyBulkWriteOperation<RankedList>) => {
    if (operation) writes.push(operation);
    if (writes.length === 0 || (operation && writes.length < BULK)) return;
    lease.throwIfLost();
    await rankedLists.bulkWrite(writes, { ordered: false });
    writes = [];
  };
  let made = 0;
  for (const [key, list] of lists) {
    for (const part of partsOf(key, list, { length, order }, ids)) {
      made += 1;
      if (made % BULK === 0) await letOthersRun();
      const isNew = existing.get(part._id) !== part.digest;
      existing.delete(part._id);
      if (isNew) await write({ replaceOne: { filter: { _id: part._id }, replacement: part, upsert: true } });
    }
  }
  for (const _id of existing.keys()) await write({ deleteOne: { filter: { _id } } });
  await write();
}

async function digestsOf(rankedLists: Collection<RankedList>, prefix: string): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  // The end of the range is `f;`, the next text after all keys that begin with `f:`. `f:\uffff` would be too low:
  // MongoDB compares bytes of UTF-8, in which letters such as 𠮷 come after `\uffff`.
  const behind = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const ofKind = { _id: { $gte: prefix, $lt: behind } };
  const parts = rankedLists.find(ofKind, { projection: { digest: 1 }, batchSize: 10_000 });
  for await (const { _id, digest } of parts) digests.set(_id, digest);
  return digests;
}

/** Yields the last part first. Readers take the number of pages from the first part, so it must be written last. */
function* partsOf(
  key: string,
  { places, total }: ListInProgress,
  { length, order }: Pick<ListsOfKind, 'length' | 'order'>,
  ids: ObjectId[],
): Generator<RankedList> {
  for (let part = Math.max(Math.ceil(places.length / length), 1) - 1; part >= 0; part -= 1) {
    const listed = places.slice(part * length, (part + 1) * length).flatMap((place) => ids[place]?.id ?? []);
    const bytes = Buffer.concat(order === 'id' ? listed.toSorted(Buffer.compare) : listed);
    const digest = createHash('sha1').update(bytes).update(String(total)).digest('base64url');
    yield { _id: partId(key, part), ids: new Binary(bytes), total, digest };
  }
}

export function partId(key: string, part: number): string {
  return `${key}/${part}`;
}
