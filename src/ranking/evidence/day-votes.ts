import type { Collection, Document, ObjectId } from 'mongodb';
import { after, DAY } from '../../platform/clock.ts';
import { startOfDay } from '../../platform/periods/period-marks.ts';
import { EXCLUDED_VOTES, KNOWN_AFTER, type Vote } from '../../votes/vote.ts';
import { playerHash } from '../../votes/web/origin-keys.ts';
import type { RankingDeps } from '../deps.ts';
import type { CrowdedNetwork } from './crowded-networks.ts';
import { type DayEvidence, NEW_VOTES, type NetworkVote, networkWeights } from './weigh-day.ts';

export type DayVotes = Pick<DayEvidence, 'imported' | 'form' | 'api' | 'network'>;

const CHUNK = 1_000;

export const noVotes = (): DayVotes => ({
  imported: 0,
  form: { regulars: 0, newcomers: 0 },
  api: { regulars: 0, newcomers: 0, unknown: 0 },
  network: { tenths: 0, nothing: 0 },
});

const dayRange = (day: string) => ({ $gte: startOfDay(day), $lt: after(startOfDay(day), DAY) });

const isImported = { $lt: ['$seq', 0] };
const isForm = { $eq: ['$source', 'web'] };
const isRegular = { $gt: ['$seq', NEW_VOTES + 1] };
const isKnown = { $gte: ['$pageVotes', KNOWN_AFTER] };
const not = (condition: Document) => ({ $not: [condition] });
const votesWhere = (...all: Document[]) => ({ $sum: { $cond: [{ $and: all }, 1, 0] } });

/**
 * Counts votes by their own fields, without excluded ones. Not exact if networks are crowded, or if earlier votes of a
 * player were excluded or imported: for such days, use `readVotes`.
 */
export async function countDayVotes({ votes }: RankingDeps, serverIds: ObjectId[], day: string) {
  const live = not(isImported);
  const counts = votes.aggregate<{ _id: ObjectId } & DayVotes>(
    [
      { $match: { serverId: { $in: serverIds }, votedAt: dayRange(day), excludedAt: null } },
      {
        $group: {
          _id: '$serverId',
          imported: votesWhere(isImported),
          formRegulars: votesWhere(live, isForm, isRegular),
          formNewcomers: votesWhere(live, isForm, not(isRegular)),
          apiRegulars: votesWhere(live, not(isForm), isKnown, isRegular),
          apiNewcomers: votesWhere(live, not(isForm), isKnown, not(isRegular)),
          apiUnknown: votesWhere(live, not(isForm), not(isKnown)),
        },
      },
      {
        $project: {
          imported: 1,
          form: { regulars: '$formRegulars', newcomers: '$formNewcomers' },
          api: { regulars: '$apiRegulars', newcomers: '$apiNewcomers', unknown: '$apiUnknown' },
          network: { tenths: { $literal: 0 }, nothing: { $literal: 0 } },
        },
      },
    ],
    { hint: 'serverId_1_votedAt_1' },
  );
  return new Map(await counts.map(({ _id, ...counted }) => [_id.toHexString(), counted] as const).toArray());
}

/** Excluded votes raise the numbers of the player's later votes, but must not make the player a regular. */
export async function withExclusions({ votes }: RankingDeps, serverIds: ObjectId[], day: string) {
  const before = { $lt: after(startOfDay(day), DAY) };
  const found = await Promise.all(
    serverIds.map((serverId) =>
      votes.findOne(
        { serverId, votedAt: before, excludedAt: { $gt: new Date(0) } },
        { hint: EXCLUDED_VOTES, projection: { serverId: 1 } },
      ),
    ),
  );
  return new Set(found.flatMap((vote) => (vote ? [vote.serverId.toHexString()] : [])));
}

/** A vote of the vote form from a crowded network. */
type Member = NetworkVote & { isRegular: boolean; weight: number };

/** Like `countDayVotes`, but for one server and exact. Only the votes of crowded networks stay in memory. */
export async function readVotes(
  deps: RankingDeps,
  serverId: ObjectId,
  day: string,
  crowded: CrowdedNetwork[],
): Promise<DayVotes> {
  const counted = noVotes();
  const networks = crowded.map((network) => ({ ...network, members: [] as Member[] }));
  const networksOf = new Map<string, typeof networks>();
  for (const network of networks) {
    for (const player of network.players)
      networksOf.set(player, [...(networksOf.get(player) ?? []), network]);
  }
  const established = new Set(crowded.flatMap((network) => network.established));
  const known = await knownNames(deps, serverId, after(startOfDay(day), DAY));
  const members: Member[] = [];

  const take = async (chunk: ReadVote[]) => {
    const names = await known.lookUp(chunk);
    for (const [i, { usernameKey, seq, source }] of chunk.entries()) {
      const { isRegular, isKnown } = names[i] as NameEvidence;
      const player = networks.length > 0 && source === 'web' ? playerHash(deps, usernameKey) : '';
      const of = networksOf.get(player);
      if (seq < 0) counted.imported += 1;
      else if (source !== 'web' && !isKnown) counted.api.unknown += 1;
      else if (!of) countOne(source === 'web' ? counted.form : counted.api, isRegular);
      else {
        const member = { isRegular, isProven: isRegular || established.has(player), weight: 10 };
        members.push(member);
        for (const network of of) network.members.push(member);
      }
    }
  };
  await inChunks(deps.votes, { serverId, votedAt: dayRange(day), excludedAt: null }, take);

  for (const network of networks) {
    // Votes without weight do not use up the limits of the wider network.
    const left = network.members.filter(({ weight }) => weight > 0);
    for (const [i, weight] of networkWeights(left, network.factor).entries()) {
      const member = left[i];
      if (member) member.weight = Math.min(member.weight, weight);
    }
  }
  for (const { weight, isRegular } of members) {
    if (weight === 10) countOne(counted.form, isRegular);
    else if (weight === 1) counted.network.tenths += 1;
    else counted.network.nothing += 1;
  }
  return counted;
}

function countOne(of: { regulars: number; newcomers: number }, isRegular: boolean): void {
  if (isRegular) of.regulars += 1;
  else of.newcomers += 1;
}

type ReadVote = Pick<Vote, 'usernameKey' | 'seq' | 'pageVotes' | 'source'>;

async function inChunks(
  votes: Collection<Vote>,
  filter: { serverId: ObjectId; votedAt: { $gte: Date; $lt: Date }; excludedAt: null },
  take: (chunk: ReadVote[]) => Promise<void>,
): Promise<void> {
  const cursor = votes
    .find(filter, { hint: 'serverId_1_votedAt_1' })
    .project<ReadVote>({ _id: 0, usernameKey: 1, seq: 1, pageVotes: 1, source: 1 })
    .batchSize(CHUNK);
  let chunk: ReadVote[] = [];
  for await (const vote of cursor) {
    chunk.push(vote);
    if (chunk.length < CHUNK) continue;
    await take(chunk);
    chunk = [];
  }
  if (chunk.length > 0) await take(chunk);
}

type Named = Pick<Vote, 'usernameKey' | 'seq' | 'pageVotes'>;

/**
 * What earlier votes say about a name. `isRegular`: it has more than `NEW_VOTES` of them. `isKnown`: at least
 * `KNOWN_AFTER` of them were cast on the server's page or imported.
 */
type NameEvidence = { isRegular: boolean; isKnown: boolean };

/**
 * A vote with the number 5 follows four votes of its player; `pageVotes` counts those on the page. Excluded votes are
 * subtracted from both; imported votes, whose numbers are negative, are added.
 */
async function knownNames({ votes }: RankingDeps, serverId: ObjectId, before: Date) {
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
    /** The evidence has the order of the names. */
    async lookUp(some: Named[]): Promise<NameEvidence[]> {
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

/** Before the vote that is weighed, without imported ones. */
type EarlierVotes = { usernameKey: string; votes: number; onPage: number };

function evidenceOf({ votes, onPage }: EarlierVotes, imported: number): NameEvidence {
  return { isRegular: votes + imported > NEW_VOTES, isKnown: onPage + imported >= KNOWN_AFTER };
}

/** Their numbers are negative, so the query needs only the index. */
async function importedVotes(votes: Collection<Vote>, serverId: ObjectId, usernameKeys: string[]) {
  const counts = votes.aggregate<{ _id: string; votes: number }>([
    { $match: { serverId, usernameKey: { $in: usernameKeys }, seq: { $lt: 0 } } },
    { $group: { _id: '$usernameKey', votes: { $sum: 1 } } },
  ]);
  return new Map(await counts.map(({ _id, votes }) => [_id, votes] as const).toArray());
}
