import { type Collection, type Document, type Filter, ObjectId, type WithId } from 'mongodb';

/** A part of a long list; `next` is where it goes on, null at its end. */
export type Slice<T> = { rows: T[]; next: string | null };

type Reading<T extends Document> = {
  /** What an index gives in the order asked for. */
  filter: Filter<T>;
  /** The list goes by this moment, then by id: an index has both, after what `filter` names. */
  by: { field: string; direction: 1 | -1 };
  /** Where the slice before ended (its `next`); the beginning without it, and where it is nothing of ours. */
  from: string | undefined;
  limit: number;
  /** What no index gives: looked at one by one, at most `LOOKED_AT` for a slice. */
  wanted?: (row: WithId<T>) => boolean;
};

/** A slice that few rows get into looks at so many and no more: the rest is asked for with the next one. */
const LOOKED_AT = 1_000;

/** Reads a slice of a collection whose ids are ObjectIds; a page far back costs no more than the first. */
export async function readOn<T extends Document & { _id: ObjectId }>(
  collection: Collection<T>,
  { filter, by: { field, direction }, from, limit, wanted }: Reading<T>,
): Promise<Slice<WithId<T>>> {
  const rest = { ...filter, ...(afterPlace(field, direction, from, filter) as Filter<T>) };
  const all = collection
    .find(rest, { batchSize: limit + 1 })
    .sort({ [field]: direction, _id: direction })
    // The planner tries its plans on as many rows as are asked for.
    .limit((wanted ? LOOKED_AT : limit) + 1);
  const rows: WithId<T>[] = [];
  let last: WithId<T> | undefined;
  let looked = 0;
  for await (const row of all) {
    if (rows.length === limit || looked === LOOKED_AT) return { rows, next: placeOf(field, last) };
    looked += 1;
    last = row;
    if (!wanted || wanted(row)) rows.push(row);
  }
  return { rows, next: null };
}

function afterPlace(field: string, direction: 1 | -1, from: string | undefined, filter: Document): Document {
  const [, ms, id] = /^(\d{1,15})-([0-9a-f]{24})$/.exec(from ?? '') ?? [];
  if (!ms || !id) return {};
  const at = new Date(Number(ms));
  const [beyond, orSame] = direction === 1 ? (['$gt', '$gte'] as const) : (['$lt', '$lte'] as const);
  return {
    [field]: { ...filter[field], [orSame]: at },
    $or: [{ [field]: { [beyond]: at } }, { _id: { [beyond]: new ObjectId(id) } }],
  };
}

function placeOf(field: string, row: Document | undefined): string | null {
  const at = row?.[field];
  return row && at instanceof Date ? `${at.getTime()}-${row._id.toHexString()}` : null;
}
