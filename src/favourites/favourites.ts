import type { ObjectId, WithId } from 'mongodb';
import { defineMessage } from '../language/t.ts';
import { MINUTE } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { Server } from '../servers/server.ts';
import { nextVoteAt, readCooldown } from '../votes/cast/cooldown.ts';
import { fitsServer } from '../votes/identity/player-name.ts';
import { usernameKey } from '../votes/username.ts';
import type { FavouritesDeps } from './deps.ts';
import { MOST_FAVOURITES } from './favourite-list.ts';

/** Enough to star every server on several pages of the ranking. */
export const FAVOURITE_CHANGES = defineLimit({
  key: 'favourites',
  what: 'Changes of favourites',
  of: 'user',
  times: 120,
  windowMs: 10 * MINUTE,
  sentence: defineMessage('You changed your favourites too often.'),
});

/** False when the user has `MOST_FAVOURITES` others. Adding a server again changes nothing. */
export async function addFavourite(
  { favourites, clock }: FavouritesDeps,
  userId: ObjectId,
  serverId: ObjectId,
): Promise<boolean> {
  // An upsert's filter cannot contain `$expr`, so it checks the last possible entry. If that is missing, there is room.
  const hasRoom = { [`entries.${MOST_FAVOURITES - 1}`]: { $exists: false } };
  const entry = { serverId, at: clock.now() };
  for (;;) {
    try {
      await favourites.updateOne(
        { _id: userId, 'entries.serverId': { $ne: serverId }, ...hasRoom },
        { $push: { entries: { $each: [entry], $position: 0 } } },
        { upsert: true },
      );
      return true;
    } catch (error) {
      // The upsert fails if the user's list exists and does not match the filter: the list has the server or is full,
      // or another request inserted the list just now.
      if (!isDuplicateKey(error)) throw error;
      const entries = (await favourites.findOne({ _id: userId }))?.entries ?? [];
      if (entries.some((one) => one.serverId.equals(serverId))) return true;
      if (entries.length >= MOST_FAVOURITES) return false;
    }
  }
}

export async function removeFavourite({ favourites }: FavouritesDeps, userId: ObjectId, serverId: ObjectId) {
  await favourites.updateOne({ _id: userId }, { $pull: { entries: { serverId } } });
}

export async function favouriteIds({ favourites }: FavouritesDeps, userId: ObjectId): Promise<Set<string>> {
  const list = await favourites.findOne({ _id: userId });
  return new Set(list?.entries?.map(({ serverId }) => serverId.toHexString()));
}

export async function noteUsername({ favourites }: FavouritesDeps, userId: ObjectId, username: string) {
  await favourites.updateOne({ _id: userId }, { $set: { username } }, { upsert: true });
}

export async function forgetUsername({ favourites }: FavouritesDeps, userId: ObjectId): Promise<void> {
  await favourites.updateOne({ _id: userId }, { $unset: { username: '' } });
}

/** Null before the first vote, and after `forgetUsername`. */
export async function notedUsername({ favourites }: FavouritesDeps, userId: ObjectId) {
  const list = await favourites.findOne({ _id: userId }, { projection: { username: 1 } });
  return list?.username ?? null;
}

export type Favourite = {
  serverId: ObjectId;
  /** Null if the server is removed or hidden. */
  server: WithId<Server> | null;
  /** The player name of the user's last vote. Null without one, if `server` is null, or if the game refuses it. */
  username: string | null;
  /** When this player may vote next; null if they may now. Undefined without a name, or if the server is not listed. */
  nextVoteAt: Date | null | undefined;
};

/** `page` counts from 1. */
export async function listFavourites(
  deps: FavouritesDeps,
  userId: ObjectId,
  { page, limit }: { page: number; limit: number },
): Promise<{ rows: Favourite[]; total: number; username: string | null }> {
  const list = await deps.favourites.findOne({ _id: userId });
  const username = list?.username ?? null;
  const ids = (list?.entries ?? []).map(({ serverId }) => serverId);
  const wanted = ids.slice((page - 1) * limit, page * limit);
  const listed = { _id: { $in: wanted }, removedAt: null, hiddenAt: null };
  const found = wanted.length > 0 ? await deps.servers.find(listed).toArray() : [];
  const byId = new Map(found.map((server) => [server._id.toHexString(), server]));
  const rows = wanted.map(async (serverId): Promise<Favourite> => {
    const server = byId.get(serverId.toHexString()) ?? null;
    if (!server || !username || !fitsServer(server, username))
      return { serverId, server, username: null, nextVoteAt: undefined };
    const player = { serverId, usernameKey: usernameKey(username) };
    const { blocking } = await readCooldown(deps, player, deps.clock.now());
    return { serverId, server, username, nextVoteAt: blocking[0] ? nextVoteAt(blocking[0]) : null };
  });
  return { rows: await Promise.all(rows), total: ids.length, username };
}
