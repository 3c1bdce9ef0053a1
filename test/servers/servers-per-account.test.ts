import { expect, it } from 'vitest';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { draftOf, gameServer, prover, provingDeps, shownBy } from './proving.ts';

async function cappedDeps(most: number) {
  const deps = await provingDeps();
  return { ...deps, config: { ...deps.config, SERVERS_PER_ACCOUNT: most } };
}

it('an account lists a limited number of servers, and another one after it removed one', async () => {
  const deps = await cappedDeps(1);
  const olivia = prover();
  const [first, second] = [await gameServer(), await gameServer()];
  const listed = await shownBy(deps, olivia, await draftOf(deps, olivia, { port: first.port }), first);
  expect(listed).toMatchObject({ kind: 'listed' });
  const draft = await draftOf(deps, olivia, { port: second.port });
  const before = second.asked;
  expect(await shownBy(deps, olivia, draft, second)).toEqual({ kind: 'too-many-servers' });
  // The server is not queried for a user who may not list it.
  expect(second.asked).toBe(before);
  await deps.servers.updateOne({ ownerId: olivia._id }, { $set: { removedAt: deps.clock.now() } });
  expect(await shownBy(deps, olivia, draft, second)).toMatchObject({ kind: 'listed' });
});

it('two drafts that are proved at the same time do not exceed the limit', async () => {
  const deps = await cappedDeps(1);
  const olivia = prover();
  const games = [await gameServer(), await gameServer()];
  const proved = await Promise.all(
    games.map(async (game) => shownBy(deps, olivia, await draftOf(deps, olivia, { port: game.port }), game)),
  );
  expect(proved.map(({ kind }) => kind).toSorted()).toEqual(['listed', 'too-many-servers']);
  expect(await deps.servers.countDocuments({ ownerId: olivia._id })).toBe(1);
});

it('an operator can transfer any number of servers to an account', async () => {
  const deps = await cappedDeps(1);
  const [olivia, other] = [prover(), prover()];
  for (const who of [olivia, other]) {
    const game = await gameServer();
    await shownBy(deps, who, await draftOf(deps, who, { port: game.port }), game);
  }
  const transferred = await deps.servers.findOne({ ownerId: other._id });
  if (!transferred) throw new Error('not listed');
  await transferServer(deps, transferred._id, olivia, 'operator');
  expect(await deps.servers.countDocuments({ ownerId: olivia._id })).toBe(2);
});
