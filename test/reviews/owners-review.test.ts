import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { rejectOwnersReview, saveOwnReview } from '../../src/reviews/own-review.ts';
import { readAnswered } from '../../src/reviews/read-reviews.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { adoptServers, transferServer } from '../../src/workflows/transfer-server.ts';
import { draftOf, gameServer, prover, provingDeps, shownBy } from '../servers/proving.ts';

type Deps = Awaited<ReturnType<typeof provingDeps>>;

/** A server of nobody's, with two approved reviews, one of them of whoever is to own it. */
async function reviewed(deps: Deps, userId: ObjectId, port: number): Promise<ObjectId> {
  const place = { name: 'Ownerless', address: '127.0.0.1', port };
  const serverId = new ObjectId((await addServer(deps, place, 'test')).serverId);
  for (const [who, rating] of [[userId, 5] as const, [new ObjectId(), 2] as const]) {
    const saved = await saveOwnReview(deps, { serverId, userId: who }, { username: 'Ada', rating });
    if (!('review' in saved)) throw new Error('too often');
    await moderateReview(deps, saved.review._id, 'approved', 'test');
  }
  return serverId;
}

const WAYS: [string, (deps: Deps) => Promise<{ serverId: ObjectId; userId: ObjectId }>][] = [
  [
    'by proving it',
    async (deps) => {
      const [olivia, game] = [prover(), await gameServer()];
      const serverId = await reviewed(deps, olivia._id, game.port);
      await shownBy(deps, olivia, await draftOf(deps, olivia, { port: game.port }), game);
      return { serverId, userId: olivia._id };
    },
  ],
  [
    'by an operator’s word',
    async (deps) => {
      const olivia = prover();
      const serverId = await reviewed(deps, olivia._id, 30_000);
      await transferServer(deps, serverId, olivia, 'test');
      return { serverId, userId: olivia._id };
    },
  ],
  [
    'by the address that it was imported with',
    async (deps) => {
      const olivia = prover();
      const serverId = await reviewed(deps, olivia._id, 30_000);
      await deps.servers.updateOne({ _id: serverId }, { $set: { ownerEmail: olivia.email } });
      await adoptServers(deps, { ...olivia, emailVerified: true });
      return { serverId, userId: olivia._id };
    },
  ],
];

test.each(WAYS)('whoever gets a server %s has no review of it in public any more', async (_, get) => {
  const deps = await provingDeps();
  const { serverId, userId } = await get(deps);
  expect(await deps.servers.findOne({ _id: serverId })).toMatchObject({ ownerId: userId });
  const page = { page: 1, limit: 10 };
  const found = { total: 1, averageRating: 2, spread: [0, 1, 0, 0, 0] };
  expect(await readAnswered(deps, serverId, page)).toMatchObject(found);
  const rejected = await deps.reviews.findOne({ serverId, personId: userId });
  expect(rejected).toMatchObject({ state: 'rejected', moderatedBy: 'tallyport' });
  await rejectOwnersReview(deps, { serverId, userId });
  expect(await deps.reviews.findOne({ serverId, personId: userId })).toEqual(rejected);
  expect(await readAnswered(deps, serverId, page)).toMatchObject(found);
});
