import type { Collection, Filter, ObjectId, WithId } from 'mongodb';
import {
  type Credential,
  NAME_COLLATION,
  type Person,
  type Role,
  type SignInSession,
} from '../accounts/person.ts';
import type { Server } from '../servers/server.ts';

type People = { people: Collection<Person> };

/** Where a page of the list ends: the person after whom the next one begins. */
export type PeoplePosition = { createdAt: Date; id: ObjectId };

/** A page of the list of people. */
type PeoplePage = { people: WithId<Person>[]; next: PeoplePosition | null };

/** The newest people, page by page; `role` shows those of one role only. */
export async function listPeople(
  { people }: People,
  { role, after, limit }: { role?: Role | undefined; after?: PeoplePosition | undefined; limit: number },
): Promise<PeoplePage> {
  const older: Filter<Person> = after
    ? {
        createdAt: { $lte: after.createdAt },
        $or: [{ createdAt: { $lt: after.createdAt } }, { _id: { $lt: after.id } }],
      }
    : {};
  const found = await people
    .find({ ...(role ? { role } : {}), ...older })
    .sort({ createdAt: -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { people: page, next: last ? { createdAt: last.createdAt, id: last._id } : null };
}

/** Above every text that begins with what stands before it, in any collation. */
const HIGHEST = '\u{ffff}';

/**
 * People whose e-mail address or name begins with `text`; for names neither case nor accents count.
 *
 * @returns those by address first, then those by name, together at most `limit`
 */
export async function searchPeople(
  { people }: People,
  text: string,
  limit: number,
): Promise<WithId<Person>[]> {
  const wanted = text.trim();
  const address = wanted.toLowerCase();
  const [byEmail, byName] = await Promise.all([
    people
      .find({ email: { $gte: address, $lt: `${address}${HIGHEST}` } })
      .sort({ email: 1 })
      .limit(limit)
      .toArray(),
    people
      .find({ name: { $gte: wanted, $lt: `${wanted}${HIGHEST}` } }, { collation: NAME_COLLATION })
      .sort({ name: 1 })
      .limit(limit)
      .toArray(),
  ]);
  const seen = new Set(byEmail.map(({ _id }) => _id.toHexString()));
  return [...byEmail, ...byName.filter(({ _id }) => !seen.has(_id.toHexString()))].slice(0, limit);
}

/** A person as operators see them. */
export type PersonView = {
  person: WithId<Person>;
  servers: Pick<WithId<Server>, '_id' | 'name' | 'slug'>[];
  /** Where they are signed in. */
  sessions: number;
  hasPassword: boolean;
  hasDiscord: boolean;
};

/** How many servers are named; who has more is a case for a search. */
const MOST_SERVERS = 50;

/** One person with what belongs to them; null when there is none. */
export async function showPerson(
  deps: People & {
    servers: Collection<Server>;
    sessions: Collection<SignInSession>;
    credentials: Collection<Credential>;
  },
  personId: ObjectId,
): Promise<PersonView | null> {
  const [person, servers, sessions, credentials] = await Promise.all([
    deps.people.findOne({ _id: personId }),
    deps.servers
      .find({ ownerId: personId, removedAt: null }, { projection: { name: 1, slug: 1 } })
      .limit(MOST_SERVERS)
      .toArray(),
    deps.sessions.countDocuments({ userId: personId }),
    deps.credentials.find({ userId: personId }, { projection: { providerId: 1 } }).toArray(),
  ]);
  if (!person) return null;
  const has = (providerId: string) => credentials.some((one) => one.providerId === providerId);
  return { person, servers, sessions, hasPassword: has('credential'), hasDiscord: has('discord') };
}
