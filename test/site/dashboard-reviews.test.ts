import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { spreadReviewLists } from '../../src/database/migrations/0002-spread-review-lists.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;
let port = 30_000;

beforeAll(async () => {
  web = await openWebApp();
  olivia = await signIn(web);
});

const path = (id: ObjectId, rest = '') => `/dashboard/servers/${id.toHexString()}/reviews${rest}`;
const get = (id: ObjectId, rest = '') => getPage(web, path(id, rest), olivia.headers);
const post = (id: ObjectId, rest: string, fields: Record<string, string> = {}) =>
  sendForm(web, path(id, rest), fields, olivia.headers);
const server = () => addOwnedServer(web.deps, olivia.userId, { port: port++ });

async function review(serverId: ObjectId, rating = 4, content = 'Good people.'): Promise<ObjectId> {
  const { reviewId } = await writeReview(web.deps, { serverId, username: 'Steve', rating, content });
  return new ObjectId(reviewId);
}
async function approved(serverId: ObjectId, rating = 4, content?: string): Promise<ObjectId> {
  const reviewId = await review(serverId, rating, content);
  await moderateReview(web.deps, reviewId, 'approved', 'test');
  return reviewId;
}

it('approved reviews are shown page by page, with the number of each rating', async () => {
  const id = await server();
  for (let i = 0; i < 12; i++) await approved(id, i < 9 ? 5 : 2, `<i>words ${i}</i>`);
  await review(id, 1, 'Nobody has approved this.');
  const first = (await get(id)).body;
  expect(first).toContain('4.25 of 5 stars');
  expect(first.match(/<meter [^>]*>\d+<\/meter>/g)?.map((meter) => />(\d+)</.exec(meter)?.[1])).toEqual([
    '9',
    '0',
    '0',
    '3',
    '0',
  ]);
  expect(first).toContain('&lt;i&gt;words 11&lt;/i&gt;');
  expect(first).not.toContain('Nobody has approved this.');
  expect(first).toContain('?page=2" rel="next"');
  const second = (await get(id, '?page=2')).body;
  expect(second).toContain('words 1&lt;');
  expect(second).toContain('?page=1" rel="prev"');
  expect((await get(id, '?page=99')).body).toContain('There are no reviews on this page.');
  expect((await get(id, '?page=x')).statusCode).toBe(200);
});

it('an answer is public at once, can be edited and removed, and is not in the API', async () => {
  const id = await server();
  const reviewId = await approved(id);
  const answered = await post(id, `/${reviewId}/answer?page=1`, { answer: ' Thank <you>.\r\nCome again. ' });
  expect(answered.headers.location).toBe(`${path(id)}?page=1&done=answered#review-${reviewId}`);
  expect((await get(id)).body).toContain('Thank &lt;you&gt;.<br />Come again.');
  expect(await web.deps.reviews.findOne({ _id: reviewId })).toMatchObject({
    answer: { text: 'Thank <you>.\nCome again.', by: olivia.email },
  });

  const { token } = await issueToken(web.deps, { serverId: id, name: 'test' });
  const url = await web.app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${token}` };
  const api = await fetch(`${url}/api/v1/servers/${id}/reviews`, { headers });
  const { reviews } = (await api.json()) as { reviews: object[] };
  expect(reviews.map((shown) => Object.keys(shown).toSorted())).toEqual([
    ['content', 'created_at', 'rating', 'username'],
  ]);

  await post(id, `/${reviewId}/answer`, { answer: 'Better words.' });
  expect((await get(id)).body).toContain('Better words.');
  await post(id, `/${reviewId}/remove-answer`);
  await post(id, `/${reviewId}/remove-answer`);
  expect((await get(id)).body).not.toContain('Better words.');
  const actions = await web.deps.auditLog.find({ serverId: id, by: olivia.email }).sort({ at: 1 }).toArray();
  expect(actions.map(({ action }) => action)).toEqual([
    'review.answer',
    'review.answer',
    'review.answer-removed',
  ]);
});

it('only public reviews of the owner’s own server can be answered', async () => {
  const [id, elsewhere] = [await server(), await server()];
  const [pending, others] = [await review(id), await approved(elsewhere)];
  for (const reviewId of [pending, others, new ObjectId()]) {
    expect((await post(id, `/${reviewId}/answer`, { answer: 'Hello' })).statusCode).toBe(404);
  }
  expect((await post(id, `/${others}/remove-answer`)).statusCode).toBe(404);
  const reviewId = await approved(id);
  const empty = await post(id, `/${reviewId}/answer`, { answer: ' ' });
  expect(empty.statusCode).toBe(400);
  expect(empty.body).toContain('The answer must not be empty.');
  expect((await post(id, `/${reviewId}/answer`, { answer: 'x'.repeat(2_001) })).body).toContain(
    'at most 2,000 characters',
  );
});

it('the rating counts follow every decision; a migration adds missing ones', async () => {
  const id = await server();
  const [five, two] = [await approved(id, 5), await approved(id, 2)];
  await moderateReview(web.deps, two, 'rejected', 'test');
  await moderateReview(web.deps, two, 'rejected', 'test');
  await moderateReview(web.deps, five, 'approved', 'test');
  const spread = async () => (await web.deps.reviewLists.findOne({ _id: id }))?.spread;
  expect(await spread()).toEqual({ 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 });
  await web.deps.reviewLists.updateOne({ _id: id }, { $unset: { spread: '' } });
  await spreadReviewLists(web.deps.mongo);
  expect(await spread()).toEqual({ 5: 1 });
});
