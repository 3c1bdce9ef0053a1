import { expect, test } from 'vitest';
import { requestDeletion } from '../../src/accounts/deletion/request-deletion.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { deleteDueAccounts } from '../../src/workflows/delete-account.ts';
import { signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { nextMorning, withServer } from './vote-server.ts';

const clock = stoppedClock();
clock.set(nextMorning(clock));
const web = webAppOfFile(
  { SMTP_URL: 'smtp://127.0.0.1:25', MAIL_FROM: 'Tallyport <votes@example.org>' },
  { clock },
);
const FORM = '/account/vote-reminder';
const reminders = () => web().deps.mailReminders.find().toArray();

async function votedWhileSignedIn() {
  const open = await withServer(web());
  const user = await signIn(open);
  const vote = async (player = 'Steve') =>
    String((await voteOnPage(open, open.slug, player, { headers: user.headers })).headers.location);
  return { open, user, vote, path: await vote() };
}

test('after a vote, a signed-in user switches mails on and comes back; the vote just cast counts', async () => {
  const { open, user, path } = await votedWhileSignedIn();
  const { body } = await getPage(open, path, user.headers);
  expect(body).toContain('E-mail me when I can vote again');
  const vote = path.split('/').at(-1) ?? '';
  const sent = await sendForm(open, FORM, { wanted: 'yes', vote, next: path }, user.headers);
  expect([sent.statusCode, sent.headers.location]).toEqual([303, path]);
  expect(await reminders()).toMatchObject([{ _id: user.userId, dueAt: after(clock.now(), DAY) }]);
  expect((await getPage(open, path, user.headers)).body).toContain('Stop these mails');
  await sendForm(open, FORM, { wanted: 'no', next: path }, user.headers);
  expect(await reminders()).toEqual([]);
});

test('a further vote moves the reminder; that of a visitor does not', async () => {
  const { open, user, vote } = await votedWhileSignedIn();
  const on = await sendForm(open, FORM, { wanted: 'yes', next: '' }, user.headers);
  expect(on.headers.location).toBe('/account?done=vote-reminder-yes#notifications');
  expect((await reminders())[0]?.dueAt).toBeNull();
  await voteOnPage(open, open.slug, 'Alex');
  expect((await reminders())[0]?.dueAt).toBeNull();
  await vote('Herobrine');
  await expect.poll(async () => (await reminders())[0]?.dueAt).toEqual(after(clock.now(), DAY));
});

test('visitors, users with an unconfirmed address and sites without mail have no such button', async () => {
  const { open, user, path } = await votedWhileSignedIn();
  expect((await getPage(open, path)).body).not.toContain('vote-reminder');
  await open.deps.users.updateOne({ _id: user.userId }, { $set: { emailVerified: false } });
  expect((await getPage(open, path, user.headers)).body).not.toContain('vote-reminder');
  expect((await sendForm(open, FORM, { wanted: 'yes', next: '' }, user.headers)).statusCode).toBe(409);
  expect(await reminders()).toEqual([]);
});

test.each([
  ['application/x-www-form-urlencoded', 'List-Unsubscribe=One-Click'],
  [
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
  ],
])('one POST of a mailbox ends the mails (%s); opening the link does not', async (type, payload) => {
  const { open, user } = await votedWhileSignedIn();
  await sendForm(open, FORM, { wanted: 'yes', next: '' }, user.headers);
  const url = `/reminders/stop-mail/${(await reminders())[0]?.stopToken}`;
  expect((await getPage(open, url)).body).toContain('Stop these mails');
  expect(await reminders()).toHaveLength(1);
  // A mailbox sends neither Origin nor Sec-Fetch-Site, nor a cookie.
  const post = (to: string) =>
    open.app.inject({ method: 'POST', url: to, headers: { 'content-type': type }, payload });
  expect((await post(`${url}x`)).statusCode).toBe(200);
  expect(await reminders()).toHaveLength(1);
  expect(textOf((await post(url)).body)).toContain('You get no more mails about votes.');
  expect(await reminders()).toEqual([]);
  expect(textOf((await post(url)).body)).toContain('This link is not valid any more');
});

test('it is in the export of the account without the link, and is deleted with the account', async () => {
  const { open, user } = await votedWhileSignedIn();
  await sendForm(open, FORM, { wanted: 'yes', next: '' }, user.headers);
  const { body } = await sendForm(open, '/account/export', {}, user.headers);
  expect(JSON.parse(body).reminder_by_mail).toMatchObject({ votes: [], due_at: null });
  expect(body).not.toContain((await reminders())[0]?.stopToken);
  const found = await open.deps.users.findOne({ _id: user.userId });
  if (found) await requestDeletion(open.deps, found);
  await open.deps.accountDeletions.updateMany({}, { $set: { dueAt: clock.now() } });
  await deleteDueAccounts(open.deps);
  expect(await reminders()).toEqual([]);
});
