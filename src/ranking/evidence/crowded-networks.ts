import type { ObjectId } from 'mongodb';
import { after, DAY } from '../../platform/clock.ts';
import { WIDER_NETWORK_FACTOR } from '../../platform/limits/network-of.ts';
import { startOfDay } from '../../platform/periods/period-marks.ts';
import { ORIGIN_STORED_MS } from '../../votes/web/vote-origin.ts';
import type { RankingDeps } from '../deps.ts';
import { FULL_OF_NETWORK } from './weigh-day.ts';

/** A network from which more than `FULL_OF_NETWORK` players (times `factor`) voted for a server on a UTC day. */
export type CrowdedNetwork = {
  serverId: ObjectId;
  /** For the limits of a single network: above 1 for an IPv6 /48, otherwise 1. */
  factor: number;
  /** Hashes (`playerHash`). */
  players: string[];
  /** Those of `players` who voted with a confirmed account that is older than 7 days. */
  established: string[];
};

/**
 * IPv6 /48 networks come last. Players whose votes were refused or held are included; this has no effect, because only
 * counted votes are weighed.
 */
export function crowdedNetworks({ voteOrigins }: RankingDeps, serverIds: ObjectId[], day: string) {
  const stored = after(startOfDay(day), ORIGIN_STORED_MS);
  const ofServers = { $in: ['$$this.serverId', serverIds] };
  const isEstablished = { $eq: ['$players.established', true] };
  return voteOrigins
    .aggregate<CrowdedNetwork>(
      [
        {
          $match: {
            'players.serverId': { $in: serverIds },
            expiresAt: { $gte: stored, $lt: after(stored, DAY) },
            kind: { $in: ['network', 'site'] },
          },
        },
        { $match: { $expr: { $gt: [{ $size: '$players' }, FULL_OF_NETWORK] } } },
        { $project: { kind: 1, players: { $filter: { input: '$players', cond: ofServers } } } },
        { $unwind: '$players' },
        {
          $group: {
            _id: { origin: '$_id', serverId: '$players.serverId' },
            kind: { $first: '$kind' },
            players: { $push: '$players.player' },
            established: { $push: { $cond: [isEstablished, '$players.player', '$$REMOVE'] } },
          },
        },
        {
          $project: {
            _id: 0,
            serverId: '$_id.serverId',
            factor: { $cond: [{ $eq: ['$kind', 'site'] }, WIDER_NETWORK_FACTOR, 1] },
            players: 1,
            established: 1,
          },
        },
        { $match: { $expr: { $gt: [{ $size: '$players' }, { $multiply: [FULL_OF_NETWORK, '$factor'] }] } } },
        { $sort: { factor: 1 } },
      ],
      { allowDiskUse: true },
    )
    .toArray();
}
