import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { requestDeletion } from '../../src/accounts/deletion/request-deletion.ts';
import { signIn } from '../support/sign-in.ts';
import { openWebApp } from '../support/web-app.ts';

test('if another request inserted the deletion and lost its lease, this one records and mails it', async () => {
  const web = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' });
  const { deps } = web;
  const { userId } = await signIn(web);
  const user = (await deps.users.findOne({ _id: userId })) ?? expect.fail('there is no user');
  const first = new ObjectId();
  const insertOne = deps.accountDeletions.insertOne.bind(deps.accountDeletions);
  vi.spyOn(deps.accountDeletions, 'insertOne').mockImplementationOnce(async (deletion, options) => {
    await insertOne({ ...deletion, deletionId: first, token: 'of the first' }, options);
    return insertOne(deletion, options);
  });
  const requested = await requestDeletion(deps, user);
  expect(requested.deletionId).toEqual(first);
  // The link of the mail is that of the second request.
  expect(requested.token).not.toBe('of the first');
  expect(await deps.mails.countDocuments()).toBe(1);
  expect(await deps.auditLog.countDocuments({ action: 'account.delete-requested' })).toBe(1);
});

test('if another request’s deletion is cancelled meanwhile, this one is stored; if it has begun, that one stays', async () => {
  const web = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' });
  const { accountDeletions, users, mails } = web.deps;
  const { userId } = await signIn(web);
  const user = (await users.findOne({ _id: userId })) ?? expect.fail('there is no user');
  const insertOne = accountDeletions.insertOne.bind(accountDeletions);
  const inserted = (changes: object) =>
    vi.spyOn(accountDeletions, 'insertOne').mockImplementationOnce(async (deletion, options) => {
      await insertOne({ ...deletion, ...changes }, options);
      return insertOne(deletion, options);
    });
  inserted({ token: 'of the first' });
  vi.spyOn(accountDeletions, 'findOneAndUpdate').mockImplementationOnce(async () => {
    await accountDeletions.deleteOne({ _id: userId });
    return null;
  });
  const requested = await requestDeletion(web.deps, user);
  expect(await accountDeletions.findOne({ _id: userId })).toEqual(requested);
  expect(await mails.countDocuments()).toBe(1);
  await accountDeletions.deleteOne({ _id: userId });
  const first = new ObjectId();
  inserted({ deletionId: first, begunAt: new Date() });
  expect((await requestDeletion(web.deps, user)).deletionId).toEqual(first);
  expect(await mails.countDocuments()).toBe(1);
});
