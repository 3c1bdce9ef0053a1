import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { requestAddressChange } from '../../src/accounts/address/change-address.ts';
import { addFavourite } from '../../src/favourites/favourites.ts';
import { complain } from '../../src/moderation/complaints.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { saveOwnReview } from '../../src/reviews/own-review.ts';
import { readReviews } from '../../src/reviews/read-reviews.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { authenticate } from '../../src/servers/authenticate-token.ts';
import { saveDraft } from '../../src/servers/drafts.ts';
import { deleteDueAccounts } from '../../src/workflows/delete-account.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { waitingVote } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import { startWorker } from '../support/workers.ts';
import { isSignedIn, linkTo, mailsTo, removeUsers, sendSignIn, tokenOf } from './account-pages.ts';

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Tallyport <votes@example.org>' };

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp(MAIL);
});
beforeEach(async () => {
  await removeUsers(web.deps);
  await web.deps.accountDeletions.deleteMany({});
});

const request = ({ headers }: Pick<SignedInUser, 'headers'>, password = PASSWORD) =>
  sendForm(web, '/account/delete', { password }, headers);

const later = (ms: number): AppDeps => ({ ...web.deps, clock: { now: () => after(new Date(), ms) } });
const isThere = async ({ userId }: SignedInUser) =>
  (await web.deps.users.countDocuments({ _id: userId })) === 1;

test('the page says what happens; a request needs the password, is mailed and shown, and a second request changes nothing', async () => {
  const user = await signIn(web);
  await addOwnedServer(web.deps, user.userId, { name: 'Alpha Craft', port: 25_580 });
  const page = await getPage(web, '/account/delete', user.headers);
  for (const words of ['Alpha Craft', 'tokens', 'Reviews', 'Votes', '7 days'])
    expect(page.body).toContain(words);
  expect((await request(user, 'four ships in the bay')).body).toContain('The password is wrong.');
  expect((await getPage(web, '/account', user.headers)).body).not.toContain('Keep my account');
  expect((await request(user)).headers.location).toBe('/account');
  await request(user);
  expect((await getPage(web, '/account', user.headers)).body).toContain('Keep my account');
  expect(await mailsTo(web.deps, user.email)).toHaveLength(1);
  expect(await deleteDueAccounts(later(7 * DAY - MINUTE))).toBe(0);
  expect(await isThere(user)).toBe(true);
});

test.each(['link', 'banner'])('a deletion that is cancelled by the %s deletes nothing', async (way) => {
  const user = await signIn(web);
  await request(user);
  const token = tokenOf(await linkTo(web.deps, user.email));
  if (way === 'link') {
    // Opening a link changes nothing, because mail scanners open links.
    expect((await getPage(web, `/keep-account?token=${token}`)).body).toContain('Keep my account');
    expect(await web.deps.accountDeletions.countDocuments({})).toBe(1);
    expect((await sendForm(web, '/keep-account', { token })).body).toContain('Your account stays');
  } else {
    const kept = await sendForm(web, '/account/delete/cancel', {}, user.headers);
    expect(kept.headers.location).toBe('/account?done=kept');
  }
  expect((await sendForm(web, '/keep-account', { token })).statusCode).toBe(400);
  expect((await getPage(web, '/keep-account?token=x')).statusCode).toBe(400);
  expect(await deleteDueAccounts(later(8 * DAY))).toBe(0);
  expect(await isThere(user)).toBe(true);
  expect(await isSignedIn(web, user.headers)).toBe(true);
});

/** Creates a user with data of every kind. */
async function richUser() {
  const { deps } = web;
  const [user, neighbour] = [await signIn(web), await signIn(web)];
  await deps.servers.deleteMany({});
  const own = await addOwnedServer(deps, user.userId, { name: 'Own', port: 25_590 });
  const second = await addOwnedServer(deps, user.userId, { name: 'Second', port: 25_591 });
  const others = await addOwnedServer(deps, neighbour.userId, { name: 'Other', port: 25_592 });
  const { token } = await issueToken(deps, { serverId: own, name: 'plugin' });
  const draft = { name: 'Draft', address: 'draft.example.org', port: 25_565 };
  await saveDraft(deps, user.userId, draft);
  const written = { username: 'Steve', rating: 5, content: 'Good.' };
  const saved = await saveOwnReview(deps, { serverId: others, userId: user.userId }, written);
  if (!('review' in saved)) throw new Error('not saved');
  await moderateReview(deps, saved.review._id, 'approved', 'test');
  const vote = waitingVote(own, 'Steve', new Date());
  await deps.votes.insertOne(vote);
  const whose = { user: { _id: user.userId, email: user.email }, sessionId: user.userId };
  await requestAddressChange(deps, whose, { email: `to-${user.email}` });
  const from = { address: '203.0.113.7', userId: user.userId };
  await complain(deps, others, { kind: 'other', text: 'It is a copy.' }, from);
  const at = new Date();
  await deps.servers.updateOne(
    { _id: others },
    {
      $set: {
        members: [{ userId: user.userId, role: 'full', at }],
        invitations: [{ email: user.email, role: 'read', by: neighbour.email, at }],
      },
    },
  );
  await addFavourite(deps, user.userId, others);
  await request(user);
  return { user, neighbour, own, second, others, token, vote };
}

async function expectDeleted({
  user,
  own,
  second,
  others,
  token,
  vote,
}: Awaited<ReturnType<typeof richUser>>) {
  const { deps } = web;
  const { userId, email } = user;
  const left = await Promise.all([
    deps.users.countDocuments({ _id: userId }),
    deps.credentials.countDocuments({ userId }),
    deps.sessions.countDocuments({ userId }),
    deps.serverDrafts.countDocuments({ ownerId: userId, slot: { $gte: 0 } }),
    deps.reviews.countDocuments({ personId: userId }),
    deps.addressChanges.countDocuments({ _id: userId }),
    deps.favourites.countDocuments({ _id: userId }),
    deps.complaints.countDocuments({ userId }),
    deps.accountDeletions.countDocuments({ _id: userId }),
    deps.servers.countDocuments({ _id: { $in: [own, second] }, removedAt: null }),
  ]);
  expect(left).toEqual(left.map(() => 0));
  expect(await authenticate(deps, own.toHexString(), token)).toBeNull();
  expect((await deps.votes.findOne({ _id: vote._id, serverId: own }))?.delivery.state).toBe('failed');
  expect(await deps.servers.findOne({ _id: others })).toMatchObject({
    removedAt: null,
    members: [],
    invitations: [],
  });
  expect((await readReviews(deps, others, { page: 1, limit: 10 })).total).toBe(0);
  expect((await sendSignIn(web, email)).statusCode).toBe(401);
  const last = (await mailsTo(deps, email)).filter((text) => text.includes('was deleted'));
  expect(last).toHaveLength(1);
  expect(await deps.auditLog.countDocuments({ action: 'account.deleted', by: email })).toBe(1);
}

test('after 7 days a worker deletes the account with its servers, tokens, drafts and reviews', async () => {
  const rich = await richUser();
  const worker = await startWorker(web.deps.config, {
    args: ['settle-accounts'],
    clock: later(8 * DAY).clock,
  });
  await web.deps.producer.add('settle-accounts', {});
  await worker.waitForEvent('accounts.settled');
  await worker.stop();
  await expectDeleted(rich);
  expect(await isThere(rich.neighbour)).toBe(true);
});

type Step = {
  [Name in keyof AppDeps]: AppDeps[Name] extends { deleteOne: unknown } ? Name : never;
}[keyof AppDeps];

test.each<[Step, string]>([
  ['users', 'updateOne'],
  ['accountDeletions', 'findOneAndUpdate'],
  ['sessions', 'deleteMany'],
  ['servers', 'findOneAndUpdate'],
  ['votes', 'updateMany'],
  ['auditLog', 'insertOne'],
  ['reviews', 'deleteOne'],
  ['favourites', 'deleteOne'],
  ['addressChanges', 'deleteOne'],
  ['credentials', 'deleteMany'],
  ['users', 'deleteOne'],
  ['accountDeletions', 'deleteOne'],
])('a deletion that is interrupted at %s.%s is completed by the next round', async (name, method) => {
  const rich = await richUser();
  const dies = () => Promise.reject(new Error('killed'));
  const broken = Object.assign(Object.create(web.deps[name]), { [method]: dies });
  await expect(deleteDueAccounts({ ...later(8 * DAY), [name]: broken })).rejects.toThrow('killed');
  expect(await isThere(rich.user)).toBe(name !== 'accountDeletions' || method !== 'deleteOne');
  expect(await deleteDueAccounts(later(8 * DAY))).toBe(1);
  await expectDeleted(rich);
  expect(await deleteDueAccounts(later(8 * DAY))).toBe(0);
});

test('one deletion that fails does not stop the others', async () => {
  const [one, two] = [await signIn(web), await signIn(web)];
  await request(one);
  await request(two);
  const { deleteOne } = web.deps.users;
  const users = Object.assign(Object.create(web.deps.users), {
    deleteOne: (filter: { _id: ObjectId }, options: object) =>
      filter._id.equals(one.userId)
        ? Promise.reject(new Error('broken'))
        : deleteOne.call(web.deps.users, filter, options),
  });
  await expect(deleteDueAccounts({ ...later(8 * DAY), users })).rejects.toThrow('broken');
  expect([await isThere(one), await isThere(two)]).toEqual([true, false]);
});

test('the last operator cannot leave, also when two ask at once or the other one left meanwhile', async () => {
  const first = await signIn(web, { role: 'operator', twoFactor: false });
  const alone = await request(first);
  expect(alone.statusCode).toBe(409);
  expect(alone.body).toContain('the last operator');
  const second = await signIn(web, { role: 'operator', twoFactor: false });
  const answers = await Promise.all([request(first), request(second)]);
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 409]);
  const [leaving, staying] = answers[0]?.statusCode === 303 ? [first, second] : [second, first];
  await web.deps.users.updateOne({ _id: staying.userId }, { $set: { role: 'owner' } });
  expect(await deleteDueAccounts(later(8 * DAY))).toBe(0);
  expect(await isThere(leaving)).toBe(true);
  expect((await mailsTo(web.deps, leaving.email)).at(-1)).toContain('the last operator');
  expect(await isSignedIn(web, leaving.headers)).toBe(true);
});
