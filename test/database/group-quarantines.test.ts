import { expect, test } from 'vitest';
import { makeIndexes } from '../../src/database/indexes.ts';
import { groupQuarantines } from '../../src/database/migrations/0006-group-quarantines.ts';
import { testDeps } from '../support/test-deps.ts';

test('the indexes of quarantines of earlier builds are replaced, also if the migration runs twice', async () => {
  const { mongo, voteExclusions } = await testDeps();
  const origins = { partialFilterExpression: { origin: { $exists: true } } };
  await voteExclusions.dropIndex('quarantines_of_origin');
  await voteExclusions.createIndex({ origin: 1 }, origins);
  const { created } = await makeIndexes(mongo);
  expect(created).toEqual(['vote_exclusions.quarantines_of_origin']);
  for (let run = 0; run < 2; run += 1) await groupQuarantines(mongo);
  const names = (await voteExclusions.indexes()).map(({ name }) => name);
  expect(names).toContain('quarantines_of_origin');
  expect(names).not.toContain('origin_1');
});
