import type { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { similarServers } from '../../src/ranking/picked-servers.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { type Listed, listServers } from '../support/servers.ts';
import { testDeps } from '../support/test-deps.ts';

/** Lists servers, the best ranked first, each with its tags; `similarTo` names the servers similar to one of them. */
async function listed(servers: (Listed & { name: string; tags?: string[] })[]) {
  const deps = await testDeps();
  const ranked = servers.map((one, index) => ({ online: 5, ...one, votes: servers.length - index }));
  const ids = await listServers(deps, ranked);
  for (const [index, { tags }] of servers.entries())
    if (tags) await deps.servers.updateOne({ _id: ids[index] as ObjectId }, { $set: { profile: { tags } } });
  await recomputeRanks(deps);
  const similarTo = async (name: string, most = 3) => {
    const server = await deps.servers.findOne({ name });
    if (!server) throw new Error('not listed');
    return (await similarServers(deps, server, most)).map((row) => row.name);
  };
  return { deps, similarTo };
}

const minecraft = { game: 'minecraft' };

test('similar are servers of the same game: the most common tags first, then the best ranked', async () => {
  const { similarTo } = await listed([
    { name: 'First', ...minecraft },
    { name: 'Both tags', ...minecraft, tags: ['pvp', 'economy'] },
    { name: 'One tag', ...minecraft, tags: ['pvp'] },
    { name: 'Other game', game: 'rust', tags: ['pvp', 'economy'] },
    { name: 'No game', tags: ['pvp'] },
    { name: 'Both tags, ranked low', ...minecraft, tags: ['economy', 'pvp'] },
    { name: 'Asked', ...minecraft, tags: ['pvp', 'economy'] },
  ]);
  expect(await similarTo('Asked', 10)).toEqual(['Both tags', 'Both tags, ranked low', 'One tag', 'First']);
  expect(await similarTo('Asked', 2)).toEqual(['Both tags', 'Both tags, ranked low']);
  expect(await similarTo('First')).toEqual(['Both tags', 'One tag', 'Both tags, ranked low']);
  expect(await similarTo('Other game')).toEqual([]);
});

test('a server without a game has similar ones by its tags, and none without tags', async () => {
  const { similarTo } = await listed([
    { name: 'Tagged', ...minecraft, tags: ['pvp'] },
    { name: 'Asked', tags: ['pvp'] },
    { name: 'Nothing known' },
  ]);
  expect(await similarTo('Asked')).toEqual(['Tagged']);
  expect(await similarTo('Nothing known')).toEqual([]);
});

test('a server that is offline, or was hidden since the ranking, is not among the similar ones', async () => {
  const { deps, similarTo } = await listed([
    { name: 'Asked', ...minecraft },
    { name: 'Offline', ...minecraft, online: null },
    { name: 'Hidden later', ...minecraft },
    { name: 'There', ...minecraft },
  ]);
  expect(await similarTo('Asked')).toEqual(['Hidden later', 'There']);
  await deps.servers.updateOne({ name: 'Hidden later' }, { $set: { hiddenAt: deps.clock.now() } });
  expect(await similarTo('Asked')).toEqual(['There']);
});
