import { createHmac } from 'node:crypto';
import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, DAY } from '../../platform/clock.ts';
import { subnetOf } from '../../platform/limits/network-of.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { derivedKey } from '../../platform/secrets.ts';

const playerDefinition = {
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** As `playerHash` gives it. */
  player: { type: String, required: true },
} as const;

const voteOriginDefinition = {
  /** The keyed hash of a network or a user, and the UTC day: `3kF…:2026-11-21`. */
  _id: { type: String, required: true },
  /** The players that it voted as on that day, by server. */
  players: { type: [new Schema(playerDefinition, { _id: false })], required: true },
  /** Whether the newest vote was within the limit. */
  isAllowed: { type: Boolean },
  /** The document is deleted after this time. */
  expiresAt: { type: Date, required: true },
} as const;

/** As which players an origin used the vote form on a day. Networks are stored in no other form. */
export const voteOriginSchema = new Schema(voteOriginDefinition, { collection: 'vote_origins' });
voteOriginSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 3_600 });
voteOriginSchema.index({ 'players.serverId': 1 });

export type VoteOrigin = Omit<InferRawDocType<typeof voteOriginDefinition>, 'players'> & {
  players: { serverId: ObjectId; player: string }[];
};

/** Keyed hashes of networks are deleted after this time. */
const STORED_MS = 30 * DAY;

/** The most players of one origin and day, over all servers. */
const MOST_PLAYERS = 300;

type Origins = { voteOrigins: Collection<VoteOrigin>; config: { SECRET_KEY: string }; clock: Clock };

/** Where a vote of the vote form comes from: the address of the request, and the user where one is signed in. */
export type Voter = { address: string; userId: ObjectId | null };

/**
 * The origin of a vote as a keyed hash: of the user, or of the network (IPv4 /24, IPv6 /64). Without `SECRET_KEY` nobody
 * can find out which networks voted.
 */
export function originOf({ config }: Pick<Origins, 'config'>, { address, userId }: Voter): string {
  return keyed(config, userId ? `user ${userId.toHexString()}` : `network ${subnetOf(address)}`);
}

function keyed({ SECRET_KEY }: Origins['config'], text: string): string {
  const key = derivedKey(SECRET_KEY, 'origins of votes');
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
}

function idOf({ clock }: Origins, origin: string): string {
  return `${origin}:${dayOf(clock.now())}`;
}

/**
 * What an origin did today, without noting anything: how many votes it cast over all servers (each player of each server
 * counts once), and whether `useOrigin` would allow one more.
 */
export async function originToday(
  deps: Origins,
  { origin, serverId, player }: { origin: string; serverId: ObjectId; player: string },
  limit: number,
): Promise<{ votes: number; isAllowed: boolean }> {
  const found = await deps.voteOrigins.findOne({ _id: idOf(deps, origin) });
  const players = found?.players ?? [];
  const ofServer = players.filter((one) => one.serverId.equals(serverId));
  const isKnown = ofServer.some((one) => one.player === player);
  return {
    votes: players.length,
    isAllowed: isKnown || (ofServer.length < limit && players.length < MOST_PLAYERS),
  };
}

/** A keyed hash of a player's `usernameKey`, which may be long. */
export function playerHash({ config }: Pick<Origins, 'config'>, usernameKey: string): string {
  return keyed(config, `player ${usernameKey}`);
}

export type OriginUse = {
  /** False when the origin voted for this server as `limit` other players today. */
  isAllowed: boolean;
  /** How many different players the origin voted as today, over all servers. */
  players: number;
};

/**
 * Notes that an origin votes for a server as a player (`playerHash`), in one conditional update: at most `limit` players a server and
 * UTC day. The same player again is always allowed.
 *
 * @throws the driver's error when MongoDB fails
 */
export async function useOrigin(
  deps: Origins,
  origin: string,
  { serverId, player }: { serverId: ObjectId; player: string },
  limit: number,
): Promise<OriginUse> {
  const entry = { serverId, player };
  const known = { $in: [{ $literal: entry }, '$players'] };
  const ofServer = { $filter: { input: '$players', cond: { $eq: ['$$this.serverId', serverId] } } };
  const hasRoom = {
    $and: [{ $lt: [{ $size: ofServer }, limit] }, { $lt: [{ $size: '$players' }, MOST_PLAYERS] }],
  };
  const update = [
    {
      $set: {
        players: { $ifNull: ['$players', []] },
        expiresAt: { $ifNull: ['$expiresAt', after(deps.clock.now(), STORED_MS)] },
      },
    },
    { $set: { isAllowed: { $or: [known, hasRoom] } } },
    {
      $set: {
        players: {
          $cond: [
            { $and: ['$isAllowed', { $not: known }] },
            { $concatArrays: ['$players', [{ $literal: entry }]] },
            '$players',
          ],
        },
      },
    },
  ];
  const upsert = () =>
    deps.voteOrigins.findOneAndUpdate({ _id: idOf(deps, origin) }, update, {
      upsert: true,
      returnDocument: 'after',
    });
  const used = await upsert().catch((error: unknown) => {
    // Another process inserted it at the same moment.
    if (isDuplicateKey(error)) return upsert();
    throw error;
  });
  const players = new Set(used?.players.map(({ player }) => player));
  return { isAllowed: used?.isAllowed === true, players: players.size };
}

/** How many origins voted for a server with the vote form since a time: at most 30 days ago. */
export function countOrigins(
  { voteOrigins }: Pick<Origins, 'voteOrigins'>,
  serverId: ObjectId,
  since: Date,
): Promise<number> {
  return voteOrigins.countDocuments({
    'players.serverId': serverId,
    expiresAt: { $gt: after(since, STORED_MS - DAY) },
  });
}
