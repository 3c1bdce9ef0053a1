import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { saveOwnReview } from '../../src/reviews/own-review.ts';
import type { Review } from '../../src/reviews/review.ts';
import { reviewersOf } from '../../src/reviews/reviewers.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { usernameKey } from '../../src/votes/username.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { storedVote } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp();
});

const addServer = (name: string) =>
  addOwnedServer(web.deps, new ObjectId(), { name, address: `${name.split(' ')[0]}.example.org` });

async function review(serverId: ObjectId, { userId }: SignedInUser, content: string, username = 'Steve') {
  const saved = await saveOwnReview(web.deps, { serverId, userId }, { username, rating: 4, content });
  if (!('review' in saved)) throw new Error('not saved');
  return saved.review;
}

test('users see their own reviews in every state, also of removed servers, and delete only their own', async () => {
  const { deps } = web;
  const [user, other] = [await signIn(web), await signIn(web)];
  const [shown, removed] = [await addServer('Alpha Craft'), await addServer('Gone Craft')];
  const ofShown = await review(shown, user, 'Good <b>lag</b>.');
  const ofRemoved = await review(removed, user, 'It was good.');
  const ofOther = await review(shown, other, 'Somebody else’s.');
  await moderateReview(deps, ofShown._id, 'approved', 'test');
  await moderateReview(deps, ofRemoved._id, 'rejected', 'test', { reason: 'between operators' });
  await deps.servers.updateOne({ _id: removed }, { $set: { removedAt: new Date() } });

  const { body } = await getPage(web, '/account/reviews', user.headers);
  expect(body).toContain('Good &lt;b&gt;lag&lt;/b&gt;.');
  for (const words of ['Alpha Craft', 'Gone Craft', 'It was good.', 'not approved', 'not listed any more'])
    expect(textOf(body)).toContain(words);
  expect(body).not.toContain('between operators');
  expect(textOf(body)).not.toContain('Somebody else');

  const remove = (id: ObjectId) =>
    sendForm(web, `/account/reviews/${id.toHexString()}/delete`, {}, user.headers);
  expect((await remove(ofOther._id)).statusCode).toBe(404);
  for (const { _id } of [ofShown, ofRemoved]) {
    expect((await remove(_id)).headers.location).toBe('/account/reviews?done=deleted');
    expect((await remove(_id)).statusCode).toBe(404);
  }
  expect(textOf((await getPage(web, '/account/reviews', user.headers)).body)).toContain('no reviews yet');
  expect(await deps.reviews.countDocuments({ serverId: { $in: [shown, removed] } })).toBe(1);
});

test('the name beside a review is no mail address', async () => {
  const user = await signIn(web);
  const serverId = await addServer('Mail Craft');
  await expect(review(serverId, user, 'Good.', 'nora@example.org')).rejects.toThrow('not an e-mail address');
  expect(await web.deps.reviews.countDocuments({ serverId })).toBe(0);
});

test('reviews are listed 20 a page, newest first', async () => {
  const user = await signIn(web);
  const stored = Array.from({ length: 25 }, (_, n): Review & { _id: ObjectId } => ({
    _id: new ObjectId(),
    serverId: new ObjectId(),
    personId: user.userId,
    username: 'Steve',
    rating: 3,
    content: `Review ${n}.`,
    state: 'pending',
    createdAt: after(new Date(), -n * MINUTE),
    moderatedAt: null,
    moderatedBy: null,
    rejectedFor: null,
  }));
  await web.deps.reviews.insertMany(stored);
  const first = await getPage(web, '/account/reviews', user.headers);
  expect(first.body).toContain('Review 19.');
  expect(first.body).not.toContain('Review 20.');
  const [, next = ''] = /href="([^"]*from=[^"]*)"/.exec(first.body) ?? [];
  const second = await getPage(web, next, user.headers);
  expect(second.body.match(/Review \d+\./g)).toHaveLength(5);
});

test('a review says whether its author’s account is new and a player of that name has voted', async () => {
  const { deps } = web;
  const serverId = await addServer('Beta Craft');
  const vote = (username: string, more = {}) =>
    deps.votes.insertOne(
      storedVote(serverId, username, new Date(), { usernameKey: usernameKey(username), ...more }),
    );
  const [fresh, old] = [await signIn(web), await signIn(web)];
  await deps.users.updateOne({ _id: old.userId }, { $set: { createdAt: after(new Date(), -30 * DAY) } });
  await vote('STEVE');
  await vote('Imported', { seq: -1 });
  await vote('Excluded', { excludedAt: new Date() });
  const written = (username: string, user: SignedInUser | null) => ({ username, personId: user?.userId });
  const expected: [string, SignedInUser | null, { isNewAccount: boolean; hasVoted: boolean }][] = [
    ['steve', fresh, { isNewAccount: true, hasVoted: true }],
    ['Imported', old, { isNewAccount: false, hasVoted: true }],
    ['Excluded', old, { isNewAccount: false, hasVoted: false }],
    ['Nobody', null, { isNewAccount: false, hasVoted: false }],
  ];
  const reviews = expected.map(([username, user]) => written(username, user));
  expect(await reviewersOf(deps, serverId, reviews as Review[])).toMatchObject(
    expected.map(([, , reviewer]) => reviewer),
  );

  const { _id } = await review(serverId, fresh, 'Good.', 'steve');
  await moderateReview(deps, _id, 'approved', 'test');
  const { reviewId } = await writeReview(deps, { serverId, username: 'Nobody', rating: 5 });
  await moderateReview(deps, new ObjectId(reviewId), 'approved', 'test');
  const slug = (await deps.servers.findOne({ _id: serverId }))?.slug;
  const { body } = await getPage(web, `/servers/${slug}`);
  const itemOf = (id: string) => body.slice(body.indexOf(`id="review-${id}"`)).split('</li>')[0];
  expect(itemOf(_id.toHexString())).toContain('has voted');
  expect(itemOf(_id.toHexString())).toContain('new account');
  expect(itemOf(reviewId)).not.toMatch(/has voted|new account/);
});
