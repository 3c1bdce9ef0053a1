import { type Collection, type Document, type Filter, ObjectId, type WithId } from 'mongodb';

/** `next` is the cursor of the next slice, null at the end. */
export type Slice<T> = { rows: T[]; next: string | null };

type Reading<T extends Document> = {
  /** Conditions on the fields with which the index begins. */
  filter: Filter<T>;
  /** Sorted by this date, then by id. The index has both after the fields of `filter`. */
  by: { field: string; direction: 1 | -1 };
  /** The `next` of the previous slice. If it is absent or invalid, the list starts at its beginning. */
  from: string | undefined;
  limit: number;
  /** Checks the conditions that no index serves. */
  wanted?: (row: WithId<T>) => boolean;
};

/** How many rows a slice examines at most if there is `wanted`. The next slice continues after them. */
const MOST_EXAMINED = 1_000;

/** The ids are ObjectIds. A later slice costs no more than the first one. */
export async function readSlice<T extends Document & { _id: ObjectId }>(
  collection: Collection<T>,
  { filter, by: { field, direction }, from, limit, wanted }: Reading<T>,
): Promise<Slice<WithId<T>>> {
  const rest = { ...filter, ...(afterCursor(field, direction, from, filter) as Filter<T>) };
  const all = collection
    .find(rest, { batchSize: limit + 1 })
    .sort({ [field]: direction, _id: direction })
    // The query planner tries each plan for as many rows as the limit allows, so the limit is kept low.
    .limit((wanted ? MOST_EXAMINED : limit) + 1);
  const rows: WithId<T>[] = [];
  let last: WithId<T> | undefined;
  let examined = 0;
  for await (const row of all) {
    if (rows.length === limit || examined === MOST_EXAMINED) return { rows, next: cursorOf(field, last) };
    examined += 1;
    last = row;
    if (!wanted || wanted(row)) rows.push(row);
  }
  return { rows, next: null };
}

function afterCursor(field: string, direction: 1 | -1, from: string | undefined, filter: Document): Document {
  const [, ms, id] = /^(\d{1,15})-([0-9a-f]{24})$/.exec(from ?? '') ?? [];
  if (!ms || !id) return {};
  const at = new Date(Number(ms));
  const [beyond, orSame] = direction === 1 ? (['$gt', '$gte'] as const) : (['$lt', '$lte'] as const);
  return {
    [field]: { ...filter[field], [orSame]: at },
    $or: [{ [field]: { [beyond]: at } }, { _id: { [beyond]: new ObjectId(id) } }],
  };
}

/** Null without a row, or if the row has no such date. */
export function cursorOf(field: string, row: Document | undefined): string | null {
  const at = row?.[field];
  return row && at instanceof Date ? `${at.getTime()}-${row._id.toHexString()}` : null;
}
