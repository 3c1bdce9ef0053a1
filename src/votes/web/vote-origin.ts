import { createHmac } from 'node:crypto';
import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, DAY } from '../../platform/clock.ts';
import { SITE_FACTOR } from '../../platform/limits/by-network.ts';
import { networkOf, siteOf, subnetOf } from '../../platform/limits/network-of.ts';
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
  kind: { type: String, enum: ['user', 'network', 'site'], required: true },
  /** Whether the newest vote was within the limit. */
  isAllowed: { type: Boolean },
  /** The document is deleted after this time. */
  expiresAt: { type: Date, required: true },
} as const;

/** As which players an origin used the vote form on a day. Networks are stored in no other form. */
export const voteOriginSchema = new Schema(voteOriginDefinition, { collection: 'vote_origins' });
voteOriginSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 3_600 });
voteOriginSchema.index({ 'players.serverId': 1, expiresAt: 1 });

export type VoteOrigin = Omit<InferRawDocType<typeof voteOriginDefinition>, 'players'> & {
  players: { serverId: ObjectId; player: string }[];
};

/** Keyed hashes of networks are deleted after this time. */
export const ORIGIN_STORED_MS = 30 * DAY;

/** The most players of one origin and day, over all servers. */
const MOST_PLAYERS = 300;

type Origins = { voteOrigins: Collection<VoteOrigin>; config: { SECRET_KEY: string }; clock: Clock };

/** Where a vote of the vote form comes from: the address of the request, and the user where one is signed in. */
export type Voter = { address: string; userId: ObjectId | null };

/**
 * The origin of a vote as a keyed hash: of the user, or of the network (IPv4 /24, IPv6 /64). Without `SECRET_KEY` nobody
 * can find out which networks voted.
 */
export function originOf(deps: Pick<Origins, 'config'>, voter: Voter): string {
  return originsOf(deps, voter)[0].id;
}

/** `factor`: how many times the limit of one network applies. */
type Origin = { id: string; kind: VoteOrigin['kind']; factor: number };

/**
 * What a vote counts for: the user, or the network and the IPv6 /48 around it. One person may have a whole /48, and a
 * provider with many customers may have one, too.
 */
function originsOf({ config }: Pick<Origins, 'config'>, { address, userId }: Voter): [Origin, ...Origin[]] {
  if (userId) return [{ id: keyed(config, `user ${userId.toHexString()}`), kind: 'user', factor: 1 }];
  const network: Origin = { id: keyed(config, `network ${subnetOf(address)}`), kind: 'network', factor: 1 };
  const site = siteOf(address);
  if (site === networkOf(address)) return [network];
  return [network, { id: keyed(config, `network ${site}`), kind: 'site', factor: SITE_FACTOR }];
}

function keyed({ SECRET_KEY }: Origins['config'], text: string): string {
  const key = derivedKey(SECRET_KEY, 'origins of votes');
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
}

function idOf({ clock }: Origins, origin: string): string {
  return `${origin}:${dayOf(clock.now())}`;
}

/**
 * What the origins of a voter did today, without noting anything: how many votes its network or user cast over all servers
 * (each player of each server counts once), and whether `useOrigins` would allow one more.
 */
export async function originsToday(
  deps: Origins,
  voter: Voter,
  { serverId, player }: { serverId: ObjectId; player: string },
  limit: number,
): Promise<{ votes: number; isAllowed: boolean }> {
  const origins = originsOf(deps, voter);
  const found = await deps.voteOrigins
    .find({ _id: { $in: origins.map(({ id }) => idOf(deps, id)) } })
    .toArray();
  const days = origins.map(({ id, factor }) => {
    const { players = [] } = found.find(({ _id }) => _id === idOf(deps, id)) ?? {};
    const ofServer = players.filter((one) => one.serverId.equals(serverId));
    const isKnown = ofServer.some((one) => one.player === player);
    const hasRoom = ofServer.length < limit * factor && players.length < MOST_PLAYERS;
    return { votes: players.length, isAllowed: isKnown || hasRoom };
  });
  return { votes: days[0]?.votes ?? 0, isAllowed: days.every(({ isAllowed }) => isAllowed) };
}

/** A keyed hash of a player's `usernameKey`, which may be long. */
export function playerHash({ config }: Pick<Origins, 'config'>, usernameKey: string): string {
  return keyed(config, `player ${usernameKey}`);
}

type OriginUse = {
  /** False when the origin voted for this server as `limit` other players today. */
  isAllowed: boolean;
  /** How many different players the origin voted as today, over all servers; of a wider network the share of one. */
  players: number;
};

/**
 * Notes that a voter votes for a server as a player (`playerHash`): at most `limit` players a server and UTC day for its
 * user or network, and four times as many for an IPv6 /48. The same player again is always allowed.
 *
 * @throws the driver's error when MongoDB fails
 */
export async function useOrigins(
  deps: Origins,
  voter: Voter,
  subject: { serverId: ObjectId; player: string },
  limit: number,
): Promise<OriginUse> {
  let players = 0;
  for (const origin of originsOf(deps, voter)) {
    const use = await useOrigin(deps, origin, subject, limit * origin.factor);
    players = Math.max(players, Math.ceil(use.players / origin.factor));
    if (!use.isAllowed) return { isAllowed: false, players };
  }
  return { isAllowed: true, players };
}

/** Notes the use of one origin, in one conditional update. */
async function useOrigin(
  deps: Origins,
  { id, kind }: Origin,
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
        kind,
        expiresAt: { $ifNull: ['$expiresAt', after(deps.clock.now(), ORIGIN_STORED_MS)] },
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
    deps.voteOrigins.findOneAndUpdate({ _id: idOf(deps, id) }, update, {
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

/** The networks that are counted for one server; more are not counted. */
export const MOST_NETWORKS = 1_000;

/** How many networks voted for a server with the vote form since a time, at most 30 days ago. */
export async function countNetworks(
  { voteOrigins }: Pick<Origins, 'voteOrigins'>,
  serverId: ObjectId,
  since: Date,
): Promise<number> {
  const of = { 'players.serverId': serverId, expiresAt: { $gt: after(since, ORIGIN_STORED_MS - DAY) } };
  const [counted] = await voteOrigins
    .aggregate<{ networks: number }>([
      { $match: of },
      { $limit: MOST_NETWORKS },
      { $match: { kind: 'network' } },
      { $count: 'networks' },
    ])
    .toArray();
  return counted?.networks ?? 0;
}
