import type { Collection, ObjectId } from 'mongodb';
import { EXCLUDED_VOTES, KNOWN_AFTER, type Vote } from '../../votes/vote.ts';
import type { RankingDeps } from '../deps.ts';
import { NEW_VOTES } from './weigh-day.ts';

type Named = Pick<Vote, 'usernameKey' | 'seq' | 'pageVotes'>;

/**
 * What earlier votes say about a name. `isRegular`: it has more than `NEW_VOTES` of them. `isKnown`: at least
 * `KNOWN_AFTER` of them were cast on the server's page or imported.
 */
export type NameEvidence = { isRegular: boolean; isKnown: boolean };

/** `lookUp`: the evidence for the name of each vote, in the given order. */
export type KnownNames = { lookUp(votes: Named[]): Promise<NameEvidence[]> };

/**
 * Finds regulars and known names. A vote with the number 5 follows four votes of its player; `pageVotes` counts those
 * on the page. Excluded votes are subtracted from both; imported votes, whose numbers are negative, are added.
 *
 * @param before - the end of the day that is weighed
 */
export async function knownNames(
  { votes }: RankingDeps,
  serverId: ObjectId,
  before: Date,
): Promise<KnownNames> {
  const excluded = votes.aggregate<{ _id: string; votes: number; onPage: number }>(
    [
      { $match: { serverId, votedAt: { $lt: before }, excludedAt: { $gt: new Date(0) } } },
      {
        $group: {
          _id: '$usernameKey',
          votes: { $sum: 1 },
          // Without `pageVotes`, the vote is not in the numbers of later votes.
          onPage: {
            $sum: { $cond: [{ $and: [{ $eq: ['$source', 'web'] }, { $gt: ['$pageVotes', 0] }] }, 1, 0] },
          },
        },
      },
    ],
    { hint: EXCLUDED_VOTES, allowDiskUse: true },
  );
  const excludedOf = new Map<string, { votes: number; onPage: number }>();
  for await (const { _id, ...of } of excluded) excludedOf.set(_id, of);
  return {
    async lookUp(some) {
      const earlier = some.map(({ usernameKey, seq, pageVotes }): EarlierVotes => {
        const without = excludedOf.get(usernameKey) ?? { votes: 0, onPage: 0 };
        return { usernameKey, votes: seq - 1 - without.votes, onPage: (pageVotes ?? 0) - without.onPage };
      });
      const names = earlier.flatMap((one) => {
        const { isRegular, isKnown } = evidenceOf(one, 0);
        return isRegular && isKnown ? [] : [one.usernameKey];
      });
      const imported =
        names.length > 0 ? await importedVotes(votes, serverId, names) : new Map<string, number>();
      return earlier.map((one) => evidenceOf(one, imported.get(one.usernameKey) ?? 0));
    },
  };
}

/** The counted votes of a name before the vote that is weighed, without imported ones. */
type EarlierVotes = { usernameKey: string; votes: number; onPage: number };

function evidenceOf({ votes, onPage }: EarlierVotes, imported: number): NameEvidence {
  return { isRegular: votes + imported > NEW_VOTES, isKnown: onPage + imported >= KNOWN_AFTER };
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
