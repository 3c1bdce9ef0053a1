import type { Collection, ObjectId } from 'mongodb';
import { EXCLUDED_VOTES, type Vote } from '../../votes/vote.ts';
import { NEW_VOTES } from './weigh-day.ts';

type Named = Pick<Vote, 'usernameKey' | 'seq'>;

export type KnownNames = { areRegulars(votes: Named[]): Promise<boolean[]> };

/**
 * Finds regulars: players with more than `NEW_VOTES` earlier votes for the server. A vote with the number 5 follows
 * four votes of its player. Excluded votes are subtracted; imported votes, whose numbers are negative, are added.
 *
 * @param before - the end of the day that is weighed
 */
export async function knownNames(
  { votes }: { votes: Collection<Vote> },
  serverId: ObjectId,
  before: Date,
): Promise<KnownNames> {
  const excluded = votes.aggregate<{ _id: string; votes: number }>(
    [
      { $match: { serverId, votedAt: { $lt: before }, excludedAt: { $gt: new Date(0) } } },
      { $group: { _id: '$usernameKey', votes: { $sum: 1 } } },
    ],
    { hint: EXCLUDED_VOTES, allowDiskUse: true },
  );
  const excludedOf = new Map<string, number>();
  for await (const { _id, votes } of excluded) excludedOf.set(_id, votes);
  return {
    async areRegulars(some) {
      const earlier = some.map(({ usernameKey, seq }) => seq - 1 - (excludedOf.get(usernameKey) ?? 0));
      const names = some.flatMap(({ usernameKey }, i) =>
        (earlier[i] ?? 0) > NEW_VOTES ? [] : [usernameKey],
      );
      const imported = names.length > 0 ? await importedVotes(votes, serverId, names) : new Map();
      return some.map(
        ({ usernameKey }, i) => (earlier[i] ?? 0) + (imported.get(usernameKey) ?? 0) > NEW_VOTES,
      );
    },
  };
}

/** Counts imported votes by player name. Their numbers are negative, so the query needs only the index. */
async function importedVotes(
  votes: Collection<Vote>,
  serverId: ObjectId,
  usernameKeys: string[],
): Promise<Map<string, number>> {
  const counts = votes.aggregate<{ _id: string; votes: number }>([
    { $match: { serverId, usernameKey: { $in: usernameKeys }, seq: { $lt: 0 } } },
    { $group: { _id: '$usernameKey', votes: { $sum: 1 } } },
  ]);
  return new Map(await counts.map(({ _id, votes }) => [_id, votes] as const).toArray());
}
