import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { saveOwnReview } from '../../src/reviews/own-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let operator: SignedInUser;
let serverId: ObjectId;

beforeAll(async () => {
  web = await openWebApp();
});
beforeEach(async () => {
  // Remove other reviews, because these pages show the reviews of all servers.
  await web.deps.reviews.deleteMany({});
  operator = await signIn(web, { role: 'operator' });
  serverId = await addOwnedServer(web.deps, operator.userId);
});

async function write(username: string): Promise<string> {
  const { reviewId } = await writeReview(web.deps, {
    serverId,
    username,
    rating: 4,
    content: `By ${username}.`,
  });
  return reviewId;
}

const page = async (path = '') => (await getPage(web, `/operator/reviews${path}`, operator.headers)).body;
const decide = (reviewId: string, fields: Record<string, string>) =>
  sendForm(
    web,
    `/operator/reviews/${reviewId}`,
    { seenAs: 'pending', revision: '0', ...fields },
    operator.headers,
  );
const reviewOf = (reviewId: string) => web.deps.reviews.findOne({ _id: new ObjectId(reviewId) });
const ordered = (body: string) => [...body.matchAll(/By (\w+)\./g)].map(([, name]) => name);

test('the oldest waiting review is first, and after a decision the next one', async () => {
  expect(await page()).toContain('No reviews are waiting.');
  const [first] = [await write('First'), await write('Second')];
  expect(ordered(await page())).toEqual(['First', 'Second']);
  const answer = await decide(first, { state: 'approved' });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe(`/operator/reviews?done=approved&review=${first}#next`);
  const next = await page(`?done=approved&review=${first}`);
  expect(next).toContain('is approved by');
  expect(ordered(next)).toEqual(['Second']);
  expect(next.indexOf('id="next"')).toBeLessThan(next.indexOf('By Second.'));
  expect(await reviewOf(first)).toMatchObject({ state: 'approved', moderatedBy: operator.email });
  expect(ordered(await page('?state=approved'))).toEqual(['First']);
});

test('a rejection has a reason and can be undone', async () => {
  const id = await write('Rude');
  expect((await decide(id, { state: 'rejected', reason: '  ' })).statusCode).toBe(400);
  expect((await decide(id, { state: 'rejected', reason: 'x'.repeat(501) })).statusCode).toBe(400);
  expect(await reviewOf(id)).toMatchObject({ state: 'pending' });
  expect((await decide(id, { state: 'rejected', reason: '$insults' })).statusCode).toBe(303);
  expect(await reviewOf(id)).toMatchObject({ state: 'rejected', rejectedFor: '$insults' });
  expect(await page('?state=rejected')).toContain('$insults');
  await decide(id, { state: 'pending', seenAs: 'rejected' });
  expect(await reviewOf(id)).toMatchObject({
    state: 'pending',
    moderatedAt: null,
    moderatedBy: null,
    rejectedFor: null,
  });
  const entries = await web.deps.auditLog
    .find({ action: /^review/, serverId })
    .sort({ at: 1 })
    .toArray();
  expect(entries.map(({ by, action, details }) => [by, action, details.reason])).toEqual([
    [operator.email, 'review.rejected', '$insults'],
    [operator.email, 'review.pending', undefined],
  ]);
});

test('a decision after another operator’s decision shows a message and changes nothing', async () => {
  const id = await write('Both');
  await decide(id, { state: 'rejected', reason: 'Insults' });
  const answer = await decide(id, { state: 'approved' });
  expect(answer.headers.location).toContain('done=meanwhile');
  expect(await page(`?done=meanwhile&review=${id}`)).toContain('Another operator decided first.');
  expect(await reviewOf(id)).toMatchObject({ state: 'rejected' });
});

test('a missing review and an invalid form are refused', async () => {
  expect((await decide('f'.repeat(24), { state: 'approved' })).statusCode).toBe(404);
  expect((await decide('nothing', { state: 'approved' })).statusCode).toBe(404);
  expect((await decide(await write('Steve'), { state: 'deleted' })).statusCode).toBe(400);
});

test('paging shows every review', async () => {
  for (let i = 0; i < 45; i++) await write(`P${i}`);
  const seen: (string | undefined)[] = [];
  let path: string | undefined = '';
  while (path !== undefined) {
    const body = await page(path);
    seen.push(...ordered(body));
    path = /href="\/operator\/reviews(\?[^"]*)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => `P${i}`));
});

/** Sends the check boxes of the page. */
const approve = (...values: string[]) =>
  web.app.inject({
    method: 'POST',
    url: '/operator/reviews/approve',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'text/html',
      ...OWN_ORIGIN,
      ...operator.headers,
    },
    payload: values.map((value) => `review=${value}`).join('&'),
  });

test('several reviews are approved at once, and sending the form twice changes nothing', async () => {
  const ids = [await write('One'), await write('Two'), await write('Three')];
  const boxes = [
    ...(await page()).matchAll(/type="checkbox" name="review" value="([^"]*)" form="approve-many"/g),
  ];
  const values = boxes.map(([, value = '']) => value);
  expect(values).toEqual(ids.map((id) => `${id}-0`));
  const [first, again] = [await approve(...values.slice(0, 2)), await approve(...values.slice(0, 2))];
  expect(first.headers.location).toBe('/operator/reviews?done=many&approved=2&of=2');
  expect(again.headers.location).toBe(first.headers.location);
  expect(ordered(await page())).toEqual(['Three']);
  const audited = { action: 'review.approved', serverId };
  expect(await web.deps.auditLog.countDocuments(audited)).toBe(2);
  await Promise.all([approve(...values), approve(...values)]);
  expect(await web.deps.auditLog.countDocuments(audited)).toBe(3);
  const list = await web.deps.reviewLists.findOne({ _id: serverId });
  expect(list?.count).toBe(3);
});

test('a review that was decided or edited meanwhile is not approved with others', async () => {
  const [rejected, edited, fine] = [await write('Rejected'), await write('Edited'), await write('Fine')];
  await decide(rejected, { state: 'rejected', reason: 'Insults' });
  await web.deps.reviews.updateOne({ _id: new ObjectId(edited) }, { $set: { revision: 1 } });
  const answer = await approve(`${rejected}-0`, `${edited}-0`, `${fine}-0`, `${'f'.repeat(24)}-0`);
  const location = String(answer.headers.location);
  expect(location).toContain('approved=1&of=4');
  expect(await page(location.slice(location.indexOf('?')))).toContain('3 reviews changed meanwhile');
  expect(await reviewOf(rejected)).toMatchObject({ state: 'rejected' });
  expect(await reviewOf(edited)).toMatchObject({ state: 'pending' });
  for (const answer of [await approve(), await approve('nothing')])
    expect(answer).toMatchObject({
      statusCode: 303,
      headers: { location: '/operator/reviews?done=none-selected' },
    });
  expect(await page('?done=many&approved=<b>x&of=1')).not.toContain('<b>x');
});

test('a waiting review shows the age of its account and whether a vote of its name is known', async () => {
  const author = await signIn(web);
  const other = await addOwnedServer(web.deps, operator.userId, { name: 'Other' });
  await castVote(web.deps, { serverId: other, username: 'Voter', tokenId: null });
  await saveOwnReview(
    web.deps,
    { serverId: other, userId: author.userId },
    { username: 'VOTER', rating: 5, content: 'By Voter.' },
  );
  await write('Nobody');
  const [voter = '', nobody = ''] = (await page()).split('<article').slice(1);
  expect(voter).toContain('new account');
  expect(voter).toContain('has voted');
  expect(nobody).toContain('Entered by an operator, without an account');
  expect(nobody).toContain('no vote known');
});
