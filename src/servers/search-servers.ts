import { type Filter, ObjectId, type WithId } from 'mongodb';
import { readSlice, type Slice } from '../platform/slices.ts';
import type { ServersDeps } from './deps.ts';
import { SERVER_NAMES, type Server } from './server.ts';
import { isId } from './slug.ts';

/** Sorts after all other characters in MongoDB's collations, and in binary order after those of slugs and addresses. */
const LAST = '\uffff';

const beginsWith = (text: string) => ({ $gte: text, $lt: `${text}${LAST}` });

/**
 * By id, by the owner's e-mail address, or by the beginning of the name, the address or a current or earlier slug. An
 * address with a port must match as a whole. Removed and hidden servers are included. Each kind of search reads a range
 * of an index.
 */
export async function searchServers(deps: ServersDeps, text: string, { limit }: { limit: number }) {
  const { servers } = deps;
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  if (isId(wanted)) return servers.find({ _id: new ObjectId(wanted) }).toArray();
  if (wanted.includes('@')) return serversOf(deps, wanted, limit);
  const [, host = wanted, port] = /^([^:]+):(\d{1,5})$/.exec(wanted) ?? [];
  const found = await Promise.all([
    servers
      .find(
        { name: beginsWith(text.trim()) },
        { collation: { locale: 'en', strength: 1 }, hint: SERVER_NAMES },
      )
      .sort({ name: 1, _id: 1 })
      .limit(limit)
      .toArray(),
    servers
      .find({ slugs: { $elemMatch: beginsWith(wanted) } })
      .limit(limit)
      .toArray(),
    servers
      .find({ address: port ? host : beginsWith(wanted), ...(port ? { port: Number(port) } : {}) })
      .sort({ address: 1, _id: 1 })
      .limit(limit)
      .toArray(),
    servers
      .find({
        'second.address': port ? host : beginsWith(wanted),
        ...(port ? { 'second.port': Number(port) } : {}),
      })
      .limit(limit)
      .toArray(),
  ]);
  const byId = new Map(found.flat().map((server) => [server._id.toHexString(), server]));
  return [...byId.values()].slice(0, limit);
}

async function serversOf({ servers, users }: ServersDeps, email: string, limit: number) {
  const user = await users.findOne({ email }, { projection: { _id: 1 } });
  const [owned, imported] = await Promise.all([
    user ? servers.find({ ownerId: user._id }).limit(limit).toArray() : [],
    servers.find({ ownerEmail: email }).limit(limit).toArray(),
  ]);
  return [...owned, ...imported].slice(0, limit);
}

/** Each list is sorted by this time, newest first. */
export const SERVER_LISTS = { all: 'listedAt', hidden: 'hiddenAt', removed: 'removedAt' } as const;
export type ServerList = keyof typeof SERVER_LISTS;

export function listServersByTime(
  { servers }: ServersDeps,
  list: ServerList,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Slice<WithId<Server>>> {
  const field = SERVER_LISTS[list];
  const filter: Filter<Server> = list === 'all' ? {} : { [field]: { $type: 'date' } };
  return readSlice(servers, { filter, by: { field, direction: -1 }, from, limit });
}
