import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, DAY } from '../../platform/clock.ts';
import { retryOnDuplicateKey } from '../../platform/mongo.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import {
  MOST_SERVERS_OF_ACCOUNT,
  MOST_VOTES,
  MOST_VOTES_FACTOR,
  type NetworkLimits,
} from './network-limits.ts';
import { ORIGIN_KINDS, type Origin, originsOf, type Voter } from './origin-keys.ts';

const playerDefinition = {
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** See `playerHash`. */
  player: { type: String, required: true },
  /** Whether the account is established; absent in the kind `user`. */
  established: { type: Boolean },
  /** See returning-players.ts. */
  returning: { type: Boolean },
} as const;

const voteOriginDefinition = {
  /** The keyed hash of a network or a user, and the UTC day: `3kF…:2026-11-21`. */
  _id: { type: String, required: true },
  /** One entry for each server and player. */
  players: { type: [new Schema(playerDefinition, { _id: false })], required: true },
  kind: { type: String, enum: ORIGIN_KINDS, required: true },
  /** Whether the newest vote was allowed. */
  isAllowed: { type: Boolean },
  /** False if it was refused, or its player was in `players` already. */
  isAdded: { type: Boolean },
  expiresAt: { type: Date, required: true },
} as const;

/** Networks are stored only as keyed hashes. */
export const voteOriginSchema = new Schema(voteOriginDefinition, { collection: 'vote_origins' });
voteOriginSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 3_600 });
voteOriginSchema.index({ 'players.serverId': 1, expiresAt: 1 });

type Entry = { serverId: ObjectId; player: string; established?: boolean; returning?: boolean };
export type VoteOrigin = Omit<InferRawDocType<typeof voteOriginDefinition>, 'players'> & { players: Entry[] };

export const ORIGIN_STORED_DAYS = 30;
export const ORIGIN_STORED_MS = ORIGIN_STORED_DAYS * DAY;

type Origins = { voteOrigins: Collection<VoteOrigin>; config: { SECRET_KEY: string }; clock: Clock };

/** Only `new` counts in the limits for new players. */
export type PlayerStatus = 'established' | 'returning' | 'new';

/** See `playerHash`. */
export type OriginSubject = { serverId: ObjectId; player: string; playerStatus: PlayerStatus };

/** For one server: `account`, `new-players` and `network`. Over all servers: `votes-of-account`, `votes-of-network`. */
export type OriginRefusal = 'account' | 'new-players' | 'network' | 'votes-of-account' | 'votes-of-network';

type OriginUse = {
  refusedBy: OriginRefusal | null;
  /** Of the network over all servers, or a quarter of those of the IPv6 /48, if that is more. */
  newPlayers: { count: number; origin: string };
};

const NOBODY = { count: 0, origin: '' };

function idOf({ clock }: Origins, { id }: Origin): string {
  return `${id}:${dayOf(clock.now())}`;
}

/** Votes of new players of the voter's network or /48, and the limit that would refuse one more. Stores nothing. */
export function originsToday(
  deps: Origins,
  voter: Voter,
  subject: OriginSubject,
  limits: NetworkLimits,
): Promise<OriginDay> {
  return today(deps, originsOf(deps, voter), subject, limits);
}

type OriginDay = { votes: number; refusedBy: OriginRefusal | null };

async function today(
  deps: Origins,
  origins: Origin[],
  subject: OriginSubject,
  limits: NetworkLimits,
): Promise<OriginDay> {
  if (origins.length === 0) return { votes: 0, refusedBy: null };
  const found = await deps.voteOrigins
    .find({ _id: { $in: origins.map((origin) => idOf(deps, origin)) } })
    .toArray();
  const days = origins.map((origin) => {
    const { players = [] } = found.find(({ _id }) => _id === idOf(deps, origin)) ?? {};
    const votes = origin.kind === 'network' ? players.filter(isNew).length : 0;
    return { votes, refusedBy: refusalOf(players, origin, subject, limits) };
  });
  return {
    votes: Math.max(...days.map(({ votes }) => votes)),
    refusedBy: days.find(({ refusedBy }) => refusedBy)?.refusedBy ?? null,
  };
}

function isNew({ established, returning }: Entry): boolean {
  return !established && !returning;
}

/** `most` votes for this server, or for all (`of`), of all players or only of visitors or new ones (`from`). */
type OriginLimit = { by: OriginRefusal; of: 'server' | 'day'; from: keyof typeof MOST_VOTES; most: number };

/** The first that refuses is the reason. */
function limitsOf(
  { kind, factor }: Origin,
  { playerStatus }: OriginSubject,
  limits: NetworkLimits,
): OriginLimit[] {
  if (kind === 'user') {
    return [
      { by: 'account', of: 'server', from: 'all', most: 1 },
      { by: 'votes-of-account', of: 'day', from: 'all', most: MOST_SERVERS_OF_ACCOUNT },
    ];
  }
  const votesOf = (from: OriginLimit['from']): OriginLimit => {
    const most = MOST_VOTES[from] * (factor === 1 ? 1 : MOST_VOTES_FACTOR);
    return { by: 'votes-of-network', of: 'day', from, most };
  };
  const all: OriginLimit = { by: 'network', of: 'server', from: 'all', most: limits.players * factor };
  if (playerStatus === 'established') return [all, votesOf('all')];
  if (playerStatus === 'returning') return [all, votesOf('all'), votesOf('visitors')];
  const most = limits.newPlayers * factor;
  return [
    all,
    { by: 'new-players', of: 'server', from: 'new', most },
    votesOf('all'),
    votesOf('visitors'),
    votesOf('new'),
  ];
}

/** A player as which the origin already voted for the server today is never refused. */
function refusalOf(
  players: Entry[],
  origin: Origin,
  subject: OriginSubject,
  limits: NetworkLimits,
): OriginRefusal | null {
  const { serverId, player } = subject;
  if (players.some((one) => serverId.equals(one.serverId) && one.player === player)) return null;
  const votes = ({ of, from }: OriginLimit) =>
    players.filter(
      (one) =>
        (of === 'day' || serverId.equals(one.serverId)) &&
        (from === 'all' || (from === 'new' ? isNew(one) : !one.established)),
    ).length;
  return limitsOf(origin, subject, limits).find((limit) => votes(limit) >= limit.most)?.by ?? null;
}

/**
 * Stores the player in each origin of a voter, unless a limit refuses the vote.
 *
 * @param elsewhere - as in `AcceptedProofOfWork`: the vote counts there too, as one of a new player
 */
export async function useOrigins(
  deps: Origins,
  voter: Voter,
  subject: OriginSubject,
  limits: NetworkLimits,
  elsewhere: Origin[] = [],
): Promise<OriginUse> {
  const own = originsOf(deps, voter);
  // In the same IPv6 /48 the vote counts only once.
  const others = elsewhere.filter(({ id }) => own.every((origin) => origin.id !== id));
  const asNew: OriginSubject = { ...subject, playerStatus: 'new' };
  // Before anything is stored: an account whose votes are refused must not use up the limits of its network.
  for (const [origins, as] of [
    [own, subject],
    [others, asNew],
  ] as const) {
    const { refusedBy } = await today(deps, origins, as, limits);
    if (refusedBy) return { refusedBy, newPlayers: NOBODY };
  }
  let newPlayers = NOBODY;
  const added: Origin[] = [];
  for (const origin of [...own, ...others]) {
    const use = await useOrigin(deps, origin, others.includes(origin) ? asNew : subject, limits);
    if (use.refusedBy) {
      // Concurrent votes have just used up a later origin's limit.
      await forget(deps, added, subject);
      return { refusedBy: use.refusedBy, newPlayers };
    }
    if (use.isAdded) added.push(origin);
    const count = Math.ceil(use.newPlayers / origin.factor);
    if (count > newPlayers.count) newPlayers = { count, origin: origin.id };
  }
  return { refusedBy: null, newPlayers };
}

/** A conditional update: concurrent votes cannot exceed the limits. */
async function useOrigin(
  deps: Origins,
  origin: Origin,
  subject: OriginSubject,
  limits: NetworkLimits,
): Promise<{ refusedBy: OriginRefusal | null; isAdded: boolean; newPlayers: number }> {
  const { serverId, player, playerStatus } = subject;
  const isUser = origin.kind === 'user';
  const entry: Entry = {
    serverId,
    player,
    ...(playerStatus === 'new' || isUser ? {} : { [playerStatus]: true }),
  };
  const ofServer = { $eq: ['$$this.serverId', serverId] };
  const size = (cond: object) => ({ $size: { $filter: { input: '$players', cond } } });
  const isKnown = { $gt: [size({ $and: [ofServer, { $eq: ['$$this.player', player] }] }), 0] };
  const isVisitor = { $not: ['$$this.established'] };
  const FROM = { all: true, visitors: isVisitor, new: { $and: [isVisitor, { $not: ['$$this.returning'] }] } };
  const hasRoom = limitsOf(origin, subject, limits).map(({ of, from, most }) => ({
    $lt: [size({ $and: [of === 'day' || ofServer, FROM[from]] }), most],
  }));
  const update = [
    {
      $set: {
        players: { $ifNull: ['$players', []] },
        kind: origin.kind,
        expiresAt: { $ifNull: ['$expiresAt', after(deps.clock.now(), ORIGIN_STORED_MS)] },
      },
    },
    { $set: { isAllowed: { $or: [isKnown, { $and: hasRoom }] }, isAdded: { $not: isKnown } } },
    { $set: { isAdded: { $and: ['$isAllowed', '$isAdded'] } } },
    {
      $set: {
        players: {
          $cond: ['$isAdded', { $concatArrays: ['$players', [{ $literal: entry }]] }, '$players'],
        },
      },
    },
  ];
  const used = await retryOnDuplicateKey(() =>
    deps.voteOrigins.findOneAndUpdate({ _id: idOf(deps, origin) }, update, {
      upsert: true,
      returnDocument: 'after',
    }),
  );
  const players = used?.players ?? [];
  const newPlayers = isUser ? 0 : new Set(players.filter(isNew).map((one) => one.player)).size;
  const isAdded = used?.isAdded === true;
  if (used?.isAllowed) return { refusedBy: null, isAdded, newPlayers };
  return { refusedBy: refusalOf(players, origin, subject, limits) ?? 'network', isAdded, newPlayers };
}

async function forget(deps: Origins, origins: Origin[], { serverId, player }: OriginSubject): Promise<void> {
  if (origins.length === 0) return;
  const _id = { $in: origins.map((origin) => idOf(deps, origin)) };
  await deps.voteOrigins.updateMany({ _id }, { $pull: { players: { serverId, player } } });
}

/** Documents of a server, one for each origin and day, the newest first. */
export const MOST_NETWORKS = 300;

/** `ofPlayers`: voted as one of the given players. */
export type NetworkCount = { all: number; ofPlayers: number };

/** Each network once, since a time at most 30 days ago. `players`: as `playerHash` returns them. */
export async function countNetworks(
  { voteOrigins }: Pick<Origins, 'voteOrigins'>,
  serverId: ObjectId,
  since: Date,
  players: string[],
): Promise<NetworkCount> {
  const of = { 'players.serverId': serverId, expiresAt: { $gt: after(since, ORIGIN_STORED_MS - DAY) } };
  const some = { $in: ['$$this.player', players] };
  const isOne = { $and: [{ $eq: ['$$this.serverId', serverId] }, some] };
  const found = await voteOrigins
    .aggregate<{ _id: string; isOfPlayers: boolean }>([
      { $match: of },
      { $sort: { expiresAt: -1 } },
      { $limit: MOST_NETWORKS },
      { $match: { kind: 'network' } },
      { $project: { isOfPlayers: { $gt: [{ $size: { $filter: { input: '$players', cond: isOne } } }, 0] } } },
    ])
    .toArray();
  const networks = (rows: { _id: string }[]) => new Set(rows.map(({ _id }) => _id.split(':')[0])).size;
  return { all: networks(found), ofPlayers: networks(found.filter(({ isOfPlayers }) => isOfPlayers)) };
}
