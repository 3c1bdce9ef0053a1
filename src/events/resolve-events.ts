import { ERASED_PLAYER } from '../votes/nameless.ts';
import type { EventsDeps } from './deps.ts';
import type { StoredEvent } from './event.ts';

/** An event with what is read when it is sent. */
export type ResolvedEvent = Pick<StoredEvent, '_id' | 'serverId' | 'type' | 'at' | 'text'> & {
  /** Of the message, complete: `server_id`, `server_name` and `server_url` first. Times are ISO strings. */
  data: EventData;
};

export type EventData = Record<string, unknown> & {
  server_id: string;
  server_name: string;
  server_url: string;
  /** Of votes and reviews. Null if the name was erased. */
  username?: string | null;
};

/** In the order of `events`; those of a removed server are left out. One query for each of three collections. */
export async function resolveEvents(
  deps: EventsDeps,
  events: readonly Omit<StoredEvent, 'sends' | 'createdAt'>[],
): Promise<ResolvedEvent[]> {
  const { servers, votes, reviews, config } = deps;
  const username = { projection: { username: 1 } };
  const [listed, voters, reviewers] = await Promise.all([
    byId(events, 'serverId', (ids) =>
      servers.find({ _id: { $in: ids }, removedAt: null }, { projection: { name: 1, slug: 1 } }).toArray(),
    ),
    byId(events, 'voteId', (ids) => votes.find({ _id: { $in: ids } }, username).toArray()),
    byId(events, 'reviewId', (ids) => reviews.find({ _id: { $in: ids } }, username).toArray()),
  ]);
  return events.flatMap(({ _id, serverId, type, at, text, voteId, reviewId, data }) => {
    const server = listed.get(String(serverId));
    if (!server) return [];
    const about = {
      server_id: serverId.toHexString(),
      server_name: server.name,
      server_url: `${config.PUBLIC_URL}/servers/${server.slug}`,
      ...(voteId ? { vote_id: voteId.toString(), username: nameOf(voters.get(String(voteId))) } : {}),
      ...(reviewId
        ? { review_id: reviewId.toHexString(), username: nameOf(reviewers.get(String(reviewId))) }
        : {}),
    };
    return [{ _id, serverId, type, at, ...(text ? { text } : {}), data: { ...about, ...data } }];
  });
}

async function byId<Field extends 'serverId' | 'voteId' | 'reviewId', Found extends { _id: unknown }>(
  events: readonly Pick<StoredEvent, Field>[],
  field: Field,
  find: (ids: NonNullable<StoredEvent[Field]>[]) => Promise<Found[]>,
): Promise<Map<string, Found>> {
  const ids = new Map(
    events.flatMap((event) => (event[field] ? [[String(event[field]), event[field]]] : [])),
  );
  const found = ids.size > 0 ? await find([...ids.values()]) : [];
  return new Map(found.map((document) => [String(document._id), document]));
}

/** Null if it was erased, or if the vote or review is gone. */
function nameOf(found: { username: string } | undefined): string | null {
  return found && found.username !== ERASED_PLAYER ? found.username : null;
}
