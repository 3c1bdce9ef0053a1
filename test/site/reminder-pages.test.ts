import { expect, test } from 'vitest';
import { requestDeletion } from '../../src/accounts/deletion/request-deletion.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { readPushKey } from '../../src/reminders/read-push-key.ts';
import { reminderId } from '../../src/reminders/reminder.ts';
import { deleteDueAccounts } from '../../src/workflows/delete-account.ts';
import { setUses } from '../support/limits.ts';
import { signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { getPage, openWebApp, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { nextMorning, withServer } from './vote-server.ts';

const clock = stoppedClock();
clock.set(nextMorning(clock));
const ORIGIN = 'https://listing.example';
const web = webAppOfFile({ PUBLIC_URL: ORIGIN }, { clock });

/** The keys of a browser, from RFC 8291, section 5. */
const KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const ENDPOINT = 'https://fcm.googleapis.com/fcm/send/abc:DEF';
const FROM_HERE = { origin: ORIGIN, accept: 'application/json' };

async function voted(player = 'Steve') {
  const open = await withServer(web());
  const { location } = (await voteOnPage(open, open.slug, player, { headers: { origin: ORIGIN } })).headers;
  const path = String(location);
  return { open, path, vote: path.split('/').at(-1) ?? '' };
}

async function fieldsFor(votes: string) {
  const key = await readPushKey(web().deps);
  return { endpoint: ENDPOINT, ...KEYS, key, timeZone: 'Europe/Berlin', votes };
}

const post = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  sendForm(web(), '/reminders', fields, { ...FROM_HERE, ...headers });

test('the page after a vote has the button, with the key; that of a site without HTTPS has none', async () => {
  const { open, path } = await voted();
  const { body } = await getPage(open, path);
  expect(body).toContain('data-reminder=');
  expect(body).toContain(await readPushKey(open.deps));
  const plain = await withServer(await openWebApp({ PUBLIC_URL: 'http://listing.example' }));
  const { location } = (
    await voteOnPage(plain, plain.slug, 'Steve', { headers: { origin: 'http://listing.example' } })
  ).headers;
  expect((await getPage(plain, String(location))).body).not.toContain('data-reminder=');
  const refused = await sendForm(
    plain,
    '/reminders',
    { endpoint: ENDPOINT },
    { ...FROM_HERE, origin: 'http://listing.example' },
  );
  expect(refused.statusCode).toBe(404);
});

test('a browser that voted is stored without a name or server, sealed, and is due when the cooldown is over', async () => {
  const { open, vote } = await voted();
  const answer = await post(await fieldsFor(vote), { 'accept-language': 'de' });
  expect(answer.json()).toEqual({ due_at: after(clock.now(), DAY).toISOString() });
  const reminder = await open.deps.reminders.findOne({ _id: reminderId(ENDPOINT) });
  expect(reminder).toMatchObject({ host: 'fcm.googleapis.com', language: 'de', timeZone: 'Europe/Berlin' });
  const stored = JSON.stringify(reminder);
  for (const secret of ['Steve', open.serverId.toHexString(), open.slug, 'abc:DEF', KEYS.auth])
    expect(stored).not.toContain(secret);
  const stopped = await sendForm(open, '/reminders/stop', { endpoint: ENDPOINT }, FROM_HERE);
  expect(stopped.statusCode).toBe(204);
  expect(await open.deps.reminders.countDocuments()).toBe(0);
});

test('another site can neither set nor stop reminders', async () => {
  const { open, vote } = await voted();
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect((await post(await fieldsFor(vote), foreign)).statusCode).toBe(403);
  await post(await fieldsFor(vote));
  const stopped = await sendForm(
    open,
    '/reminders/stop',
    { endpoint: ENDPOINT },
    { ...FROM_HERE, ...foreign },
  );
  expect(stopped.statusCode).toBe(403);
  expect(await open.deps.reminders.countDocuments()).toBe(1);
});

test('what is no subscription of a push service is refused', async () => {
  const { open, vote } = await voted();
  const good = await fieldsFor(vote);
  const wrong = [
    { endpoint: 'http://fcm.googleapis.com/a' },
    { endpoint: 'https://127.0.0.1/a' },
    { endpoint: 'https://[::1]/a' },
    { endpoint: 'https://2130706433/a' },
    { endpoint: 'https://user:pass@fcm.googleapis.com/a' },
    { endpoint: 'https://fcm.googleapis.com:22/a' },
    { endpoint: `https://fcm.googleapis.com/${'a'.repeat(1_100)}` },
    { endpoint: 'no address' },
    { p256dh: `BA${KEYS.p256dh.slice(2)}` },
    { p256dh: 'short' },
    { auth: 'short' },
    { votes: 'no-id' },
    { votes: '0193d4a0-0000-7000-8000-000000000000' },
  ];
  for (const change of wrong)
    expect([change, (await post({ ...good, ...change })).statusCode]).toEqual([change, 400]);
  expect((await post({ ...good, key: 'another' })).statusCode).toBe(409);
  expect(await open.deps.reminders.countDocuments()).toBe(0);
});

test('a network and a browser have limits', async () => {
  const { open, vote } = await voted();
  const fields = await fieldsFor(vote);
  expect((await post(fields)).statusCode).toBe(200);
  await setUses(open.deps, 'reminder-browser', reminderId(ENDPOINT), 60);
  expect((await post(fields)).statusCode).toBe(429);
  const other = { ...fields, endpoint: `${ENDPOINT}2` };
  await setUses(open.deps, 'reminder-new', '127.0.0.1', 40);
  const refused = await post(other);
  expect([refused.statusCode, refused.json().error]).toEqual([
    429,
    'Too many reminders were set from here. Try again later.',
  ]);
  await setUses(open.deps, 'reminder-new', '127.0.0.1', 0);
  await setUses(open.deps, 'reminder-set', '127.0.0.1', 120);
  expect((await post(other)).statusCode).toBe(429);
});

test('the reminder of a user is in the export, without the address, and is deleted with the account', async () => {
  const { open, vote } = await voted();
  const { deps } = open;
  const user = await signIn(open);
  await post(await fieldsFor(vote), user.headers);
  const { body } = await sendForm(open, '/account/export', {}, { ...user.headers, origin: ORIGIN });
  expect(JSON.parse(body).reminders).toMatchObject([
    { push_service: 'fcm.googleapis.com', time_zone: 'Europe/Berlin' },
  ]);
  expect(body).not.toContain('abc:DEF');
  const found = await deps.users.findOne({ _id: user.userId });
  if (found) await requestDeletion(deps, found);
  await deps.accountDeletions.updateMany({}, { $set: { dueAt: clock.now() } });
  await deleteDueAccounts(deps);
  expect(await deps.reminders.countDocuments()).toBe(0);
});

test('the page of reminders and the privacy page', async () => {
  const open = await withServer(web());
  expect((await getPage(open, '/reminders')).body).toContain('data-reminder=');
  expect(textOf((await getPage(open, '/privacy')).body)).toContain(
    'it learns neither your player name nor the servers',
  );
});
