import type { Collection, WithId } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { Server } from './server.ts';
import { freeSlug, slugOf } from './slug.ts';

/**
 * So many slugs a server may have in its life. Each stays its own for ever, so that without a bound one server
 * could take every good name by renaming itself; a later new name keeps the slug that stands.
 */
const MOST_SLUGS = 10;

/**
 * Inserts a server under a slug made of its name. The unique index decides who gets a slug; whoever comes too late
 * looks for the next free one.
 *
 * @returns the slug; null when the server's id is taken
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
 * Inserts a server unless its id or its slug is taken: both are never used again, nor is a slug that another server
 * had before it was renamed.
 *
 * @returns what is taken; null when the server was inserted
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
 * The slug that a server gets with a new name: the one that stands where both names give the same, one that it had
 * before where that is free for it, else the first free one.
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

/** Every slug that a server has or had and that is `slug`, or `slug` with a number. */
async function slugsLike(servers: Collection<Server>, slug: string): Promise<string[]> {
  // A colon follows the digits. Names that go on in letters are many, and not read.
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

/**
 * Every slug that a server has or had. One that a process of an older version listed, while this one was brought in,
 * has no list of them until the next migration.
 */
export function slugsOf({ slug, slugs }: Pick<Server, 'slug'> & { slugs?: string[] }): string[] {
  return slugs ?? [slug];
}
