import { expect, it } from 'vitest';
import { claimsOfFile, RACES, vote } from './claiming.ts';

const listed = claimsOfFile();

it.each(RACES)('of 600 claims of one vote at once exactly one succeeds: %s', async (_name, race) => {
  const { claim, won, check = claim, after } = race;
  const all = await listed();
  await vote(all.deps, all.serverId, 'Steve');
  const answers = await Promise.all(Array.from({ length: 600 }, () => claim(all)));
  expect(answers.filter((body) => won.test(body))).toHaveLength(1);
  expect(await check(all)).toMatch(after);
  expect(await all.deps.votes.countDocuments({ claim: { $exists: true } })).toBe(1);
});
