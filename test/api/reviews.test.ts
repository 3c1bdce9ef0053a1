import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
/** With 60 approved reviews, one each second, ratings 1 to 5 in turn; the odd ones have content. */
let busy: TestServer;

async function review(server: TestServer, username: string, rating: number, content?: string) {
  tallyport.clock.move(1_000);
  const { reviewId } = await writeReview(tallyport.deps, {
    serverId: server.serverId,
    username,
    rating,
    ...(content ? { content } : {}),
  });
  return new ObjectId(reviewId);
}

const approve = (id: ObjectId) => moderateReview(tallyport.deps, id, 'approved', 'test');

beforeAll(async () => {
  tallyport = await startApp();
  busy = await tallyport.addServer();
  tallyport.clock.stop(new Date('2026-11-20T08:00:00.000Z'));
  for (let i = 1; i <= 60; i++) {
    await approve(await review(busy, `player ${i}`, (i % 5) + 1, i % 2 ? `content ${i}` : undefined));
  }
});
afterAll(() => tallyport.close());

test('without reviews the average and the pages are 0', async () => {
  const answer = await tallyport.call(await tallyport.addServer(), 'reviews');
  expect(answer.text).toBe(
    '{"review_count":0,"average_rating":0,"reviews":[],"pagination":{"page":1,"limit":10,"total":0,"total_pages":0}}',
  );
});

test('only approved reviews are listed and counted, newest first', async () => {
  const server = await tallyport.addServer();
  tallyport.clock.stop(new Date('2026-11-20T09:00:00.000Z'));
  const old = await review(server, 'Old', 5, '  "Great"\nand 🦑 ');
  const rejected = await review(server, 'Rejected', 1);
  await review(server, 'Pending', 1);
  const young = await review(server, 'Young', 4);
  await approve(young);
  await approve(old);
  await moderateReview(tallyport.deps, rejected, 'rejected', 'test');
  expect((await tallyport.call(server, 'reviews')).body).toEqual({
    review_count: 2,
    average_rating: 4.5,
    reviews: [
      { username: 'Young', rating: 4, created_at: '2026-11-20T09:00:04.000Z' },
      { username: 'Old', rating: 5, content: '"Great"\nand 🦑', created_at: '2026-11-20T09:00:01.000Z' },
    ],
    pagination: { page: 1, limit: 10, total: 2, total_pages: 1 },
  });
  await moderateReview(tallyport.deps, old, 'rejected', 'test');
  expect((await tallyport.call(server, 'reviews')).body).toMatchObject({
    review_count: 1,
    average_rating: 4,
  });
});

test('an average has at most two decimals', async () => {
  const server = await tallyport.addServer();
  for (const rating of [5, 5, 4]) await approve(await review(server, 'Steve', rating));
  expect((await tallyport.call(server, 'reviews')).body.average_rating).toBe(4.67);
});

describe('pages', () => {
  test.each([
    ['', 1, 10, 6, 60, 51],
    ['?page=&limit=', 1, 10, 6, 60, 51],
    ['?page=2', 2, 10, 6, 50, 41],
    ['?page=6&limit=11', 6, 11, 6, 5, 1],
    ['?limit=50', 1, 50, 2, 60, 11],
    ['?limit=51', 1, 50, 2, 60, 11],
    ['?limit=99999999999999999999&page=2', 2, 50, 2, 10, 1],
    ['?limit=1&page=60', 60, 1, 60, 1, 1],
    ['?page=007', 7, 10, 6, undefined, undefined],
    ['?page=7', 7, 10, 6, undefined, undefined],
    [`?page=${'9'.repeat(400)}`, Number.MAX_SAFE_INTEGER, 10, 6, undefined, undefined],
  ])('%s', async (query, page, limit, totalPages, first, last) => {
    const { status, body } = await tallyport.call(busy, `reviews${query}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      review_count: 60,
      average_rating: 3,
      pagination: { page, limit, total: 60, total_pages: totalPages },
    });
    const names = (body.reviews as { username: string }[]).map(({ username }) => username);
    expect([names.at(0), names.at(-1)]).toEqual(
      first === undefined ? [undefined, undefined] : [`player ${first}`, `player ${last}`],
    );
  });

  test.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=1e3',
    'page=0x1',
    'page=one',
    'page=+1',
    'page=1%00',
    'page=%zz',
    'page=%D9%A1',
    'limit=0',
    'limit=-5',
    'limit=ten',
    'page=1&page=2',
    'limit=1&limit=1',
  ])('refuses %s', async (query) => {
    const answer = await tallyport.call(busy, `reviews?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(
      /^(page|limit) (must be a whole number, 1 or more|must be given only once)\.$/,
    );
  });
});
