import type { Collection, WithId } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { Server } from './server.ts';
import { freeSlug, slugOf } from './slug.ts';

/**
 * A slug belongs to its server for ever, so without a limit one server could occupy all good names by renaming itself.
 * At the limit, a new name does not change the slug.
 */
const MOST_SLUGS = 10;

/**
 * If another server has the slug, the unique index refuses the insert, and the next free slug is tried. Returns the
 * slug; null when the server's id is taken.
 */
export async function insertUnderFreeSlug(
  servers: Collection<Server>,
  server: Omit<Server, 'slug' | 'slugs'>,
): Promise<string | null> {
  const wanted = slugOf(server.name, server._id.toHexString());
  for (;;) {
    const slug = freeSlug(wanted, new Set(await slugsLike(servers, wanted)));
    const taken = await insertListing(servers, { ...server, slug });
    if (!taken) return slug;
    if (taken === 'id') return null;
  }
}

/**
 * Ids and slugs are never reused, which includes the earlier slugs of a renamed server. Returns what is taken; null
 * when the server was inserted.
 */
export async function insertListing(
  servers: Collection<Server>,
  server: Omit<Server, 'slugs'>,
): Promise<'id' | 'slug' | null> {
  try {
    await servers.insertOne({ ...server, slugs: [server.slug] });
    return null;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const existing = await servers.findOne({ _id: server._id }, { projection: { _id: 1 } });
    return existing ? 'id' : 'slug';
  }
}

/**
 * Unchanged if the old and the new name give the same slug; otherwise the first that no other server has or had. A
 * server with `MOST_SLUGS` slugs gets no new one, but can return to an earlier one.
 */
export async function slugForName(
  servers: Collection<Server>,
  server: Pick<WithId<Server>, '_id' | 'name' | 'slug' | 'slugs'>,
  name: string,
): Promise<string> {
  const id = server._id.toHexString();
  const wanted = slugOf(name, id);
  if (wanted === slugOf(server.name, id)) return server.slug;
  const own = new Set(slugsOf(server));
  const others = (await slugsLike(servers, wanted)).filter((slug) => !own.has(slug));
  const slug = freeSlug(wanted, new Set(others));
  return own.has(slug) || own.size < MOST_SLUGS ? slug : server.slug;
}

/** Of all servers, but only those that equal `slug` or `slug` with a number. */
async function slugsLike(servers: Collection<Server>, slug: string): Promise<string[]> {
  // A colon sorts after the digits and before the letters, so only slugs that continue with a digit are in the range.
  const numbered = { $gte: `${slug}-0`, $lt: `${slug}-:` };
  const alike = await servers
    .find(
      { $or: [{ slugs: slug }, { slugs: { $elemMatch: numbered } }, { slug }, { slug: numbered }] },
      { projection: { slug: 1, slugs: 1 } },
    )
    .toArray();
  const like = new RegExp(`^${slug}(-\\d+)?$`);
  return alike.flatMap(slugsOf).filter((one) => like.test(one));
}

/** A server that an older version listed may have no `slugs` yet. */
export function slugsOf({ slug, slugs }: Pick<Server, 'slug'> & { slugs?: string[] }): string[] {
  return slugs ?? [slug];
}
