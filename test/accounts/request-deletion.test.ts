import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { requestDeletion } from '../../src/accounts/deletion/request-deletion.ts';
import { signIn } from '../support/sign-in.ts';
import { openWebApp } from '../support/web-app.ts';

test('if another request inserts the deletion first, that one stays, and it is recorded once', async () => {
  const web = await openWebApp();
  const { deps } = web;
  const { userId } = await signIn(web);
  const user = (await deps.users.findOne({ _id: userId })) ?? expect.fail('there is no user');
  const first = new ObjectId();
  const insertOne = deps.accountDeletions.insertOne.bind(deps.accountDeletions);
  vi.spyOn(deps.accountDeletions, 'insertOne').mockImplementationOnce(async (deletion, options) => {
    await insertOne({ ...deletion, deletionId: first, token: 'of the first' }, options);
    return insertOne(deletion, options);
  });
  expect(await requestDeletion(deps, user)).toMatchObject({ deletionId: first, token: 'of the first' });
  expect(await deps.auditLog.countDocuments({ action: 'account.delete-requested' })).toBe(0);
});
