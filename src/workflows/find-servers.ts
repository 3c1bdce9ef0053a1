import { ObjectId, type WithId } from 'mongodb';
import { foldName } from '../ranking/name-terms.ts';
import { searchListing } from '../ranking/search-listing.ts';
import { findServer } from '../servers/listed-servers.ts';
import { searchServers } from '../servers/search-servers.ts';
import type { Server } from '../servers/server.ts';
import { isId } from '../servers/slug.ts';
import type { WorkflowsDeps } from './deps.ts';

/** Of each group (new, hidden and removed servers), the newest first. */
const COMPARED = 1_000;

/** First what begins with the text, then the public search and other servers whose names contain it. */
export async function findServers(
  deps: WorkflowsDeps,
  text: string,
  { limit }: { limit: number },
): Promise<WithId<Server>[]> {
  const typed = text.trim().slice(0, 254);
  const begun = await searchServers(deps, typed, { limit });
  if (isId(typed.toLowerCase()) || typed.includes('@') || begun.length >= limit) return begun;
  const known = new Set(begun.map(({ _id }) => _id.toHexString()));
  const listed = (await searchListing(deps, typed)).map(({ id }) => id);
  const ids = [...listed, ...(await comparedIds(deps, typed))]
    .filter((id) => !known.has(id))
    .slice(0, limit - begun.length);
  const others = await deps.servers.find({ _id: { $in: ids.map((id) => new ObjectId(id)) } }).toArray();
  const byId = new Map(others.map((server) => [server._id.toHexString(), server]));
  return [...begun, ...ids.flatMap((id) => byId.get(id) ?? [])];
}

/** The public search has no hidden, removed or unranked servers. */
async function comparedIds({ servers }: WorkflowsDeps, typed: string): Promise<string[]> {
  const wanted = foldName(typed);
  if (wanted === '') return [];
  const named = (field: 'listedAt' | 'hiddenAt' | 'removedAt') =>
    servers
      .find({ [field]: { $type: 'date' } }, { projection: { name: 1 } })
      .sort({ [field]: -1, _id: -1 })
      .limit(COMPARED)
      .toArray();
  const all = (await Promise.all([named('listedAt'), named('hiddenAt'), named('removedAt')])).flat();
  const found = all.filter(({ name }) => foldName(name).includes(wanted));
  return [...new Set(found.map(({ _id }) => _id.toHexString()))];
}

export type MeantServer =
  | { kind: 'one'; server: WithId<Server> }
  | { kind: 'several'; servers: WithId<Server>[] }
  | { kind: 'none' };

/** By id, slug or name. If nothing is equal, the only server that `findServers` finds is meant. */
export async function serverMeantBy(
  deps: WorkflowsDeps,
  text: string,
  { limit }: { limit: number },
): Promise<MeantServer> {
  const exact = await findServer(deps, text, { removed: true });
  const servers = await findServers(deps, text, { limit });
  const folded = foldName(text);
  const called = servers.filter(({ name }) => foldName(name) === folded);
  // A slug may also be a name: `alpha` may be the slug of one server and the name of others.
  const meant = exact && !called.some(({ _id }) => _id.equals(exact._id)) ? [exact, ...called] : called;
  const [one, ...others] = exact && isId(text.toLowerCase()) ? [exact] : meant;
  if (one && others.length === 0) return { kind: 'one', server: one };
  if (one) return { kind: 'several', servers: [one, ...others] };
  const [only, ...more] = servers;
  if (only && more.length === 0) return { kind: 'one', server: only };
  return servers.length > 0 ? { kind: 'several', servers } : { kind: 'none' };
}
