import { expect, it } from 'vitest';
import { transferServer } from '../../src/listing/transfer-server.ts';
import { draftOf, gameServer, prover, provingPlatform, shownBy } from './proving.ts';

async function cappedPlatform(most: number) {
  const deps = await provingPlatform();
  return { ...deps, config: { ...deps.config, SERVERS_PER_ACCOUNT: most } };
}

it('an account lists so many servers, and another one when it has removed one', async () => {
  const deps = await cappedPlatform(1);
  const olivia = prover();
  const [first, second] = [await gameServer(), await gameServer()];
  const listed = await shownBy(deps, olivia, await draftOf(deps, olivia, { port: first.port }), first);
  expect(listed).toMatchObject({ kind: 'listed' });
  const draft = await draftOf(deps, olivia, { port: second.port });
  const before = second.asked;
  expect(await shownBy(deps, olivia, draft, second)).toEqual({ kind: 'too-many-servers' });
  // Nothing is asked for somebody who may not list it.
  expect(second.asked).toBe(before);
  await deps.servers.updateOne({ ownerId: olivia._id }, { $set: { removedAt: deps.clock.now() } });
  expect(await shownBy(deps, olivia, draft, second)).toMatchObject({ kind: 'listed' });
});

it('two drafts that are proved at once do not pass it together', async () => {
  const deps = await cappedPlatform(1);
  const olivia = prover();
  const games = [await gameServer(), await gameServer()];
  const proved = await Promise.all(
    games.map(async (game) => shownBy(deps, olivia, await draftOf(deps, olivia, { port: game.port }), game)),
  );
  expect(proved.map(({ kind }) => kind).toSorted()).toEqual(['listed', 'too-many-servers']);
  expect(await deps.servers.countDocuments({ ownerId: olivia._id })).toBe(1);
});

it('an operator gives an account any number', async () => {
  const deps = await cappedPlatform(1);
  const [olivia, other] = [prover(), prover()];
  for (const who of [olivia, other]) {
    const game = await gameServer();
    await shownBy(deps, who, await draftOf(deps, who, { port: game.port }), game);
  }
  const given = await deps.servers.findOne({ ownerId: other._id });
  if (!given) throw new Error('not listed');
  await transferServer(deps, given._id, olivia, 'operator');
  expect(await deps.servers.countDocuments({ ownerId: olivia._id })).toBe(2);
});
