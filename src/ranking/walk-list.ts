import type { ObjectId } from 'mongodb';
import type { RankingDeps } from './deps.ts';
import { type Filters, listKey, passes } from './filters.ts';
import { hash32 } from './name-terms.ts';
import { type PublicServer, readPublicServers } from './public-servers.ts';
import { idsOf } from './read-lists.ts';
import { partId } from './replace-lists.ts';
import type { Sort } from './sorts.ts';
import { PART } from './write-lists.ts';

/** The servers of a page, at most. A slice of this length is in at most two parts of a list. */
export const MOST_A_PAGE = 100;

type List = { filters: Filters; sort: Sort };
/** Up to where a list was read: how many of its servers, and the id of the last one. */
type Position = { read: number; last: string };

export type WalkedPage = { servers: PublicServer[]; next: string | null };

/**
 * Servers of a list in its order, from after `cursor` (`next` of the page before) on. If a ranking changes the list
 * meanwhile, the walk goes on after the last server that was read, or at the same place if that one moved down. A page
 * may have fewer servers than `limit` although others follow: some were hidden since the last ranking, or there is no
 * list of all filters together.
 *
 * @param limit - 1 to `MOST_A_PAGE`
 * @returns null if the cursor is not one of this list
 */
export async function walkList(
  deps: RankingDeps,
  list: List,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<WalkedPage | null> {
  const from = cursor === undefined ? { read: 0, last: '' } : positionIn(list, cursor);
  if (!from) return null;
  const { filters, sort } = list;
  const { country, version, ...others } = filters;
  // There are no lists of a tag with a country or a version: these are looked for among the servers with the tag.
  const isNarrowed = filters.tag !== undefined && (country !== undefined || version !== undefined);
  const most = isNarrowed ? MOST_A_PAGE : limit;
  const key = listKey(isNarrowed ? others : filters, sort);
  const { ids, begin, total } = await idsAfter(deps, key, from, most);
  const now = deps.clock.now();
  const wanted = { country, version };
  const servers = await readPublicServers(
    deps,
    ids,
    (server) => !isNarrowed || passes(server, wanted, now),
    limit,
  );
  const last = servers.length === limit ? servers.at(-1)?.id : ids.at(-1)?.toHexString();
  const read = begin + 1 + ids.findIndex((id) => id.toHexString() === last);
  return { servers, next: last && read < total ? cursorOf(list, { read, last }) : null };
}

async function idsAfter(
  { rankedLists }: RankingDeps,
  key: string,
  { read, last }: Position,
  most: number,
): Promise<{ ids: ObjectId[]; begin: number; total: number }> {
  const load = async (from: number, to: number) => {
    const first = Math.floor(from / PART);
    const parts = Array.from({ length: Math.floor((to - 1) / PART) - first + 1 }, (_, i) =>
      partId(key, first + i),
    );
    const found = await rankedLists.find({ _id: { $in: parts } }).toArray();
    const byId = new Map(found.map((part) => [part._id, part]));
    // A missing part ends the list.
    const ids: ObjectId[] = [];
    for (const id of parts) {
      const part = byId.get(id);
      if (!part) break;
      ids.push(...idsOf(part));
    }
    return { ids, begin: first * PART, total: found[0]?.total ?? 0 };
  };
  const slice = ({ ids, begin, total }: Awaited<ReturnType<typeof load>>, from: number) => ({
    ids: ids.slice(from - begin, from - begin + most),
    begin: from,
    total,
  });
  const loaded = await load(Math.max(0, read - 1), read + most);
  const place = loaded.ids.findIndex((id) => id.toHexString() === last);
  // If that server moved down, going on after it would leave out all servers that moved up past it.
  return slice(loaded, place < 0 ? read : Math.min(read, loaded.begin + place + 1));
}

function cursorOf(list: List, { read, last }: Position): string {
  return `${read}.${last}.${mark(list)}`;
}

function positionIn(list: List, cursor: string): Position | null {
  const [, read, last, of] = /^([1-9]\d{0,7})\.([0-9a-f]{24})\.([0-9a-z]{1,8})$/.exec(cursor) ?? [];
  return read && last && of === mark(list) ? { read: Number(read), last } : null;
}

/** So that a cursor of another list is refused. */
function mark({ filters, sort }: List): string {
  return (hash32(listKey(filters, sort)) >>> 0).toString(36);
}
