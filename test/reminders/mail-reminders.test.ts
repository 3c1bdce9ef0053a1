import { ObjectId, type UUID } from 'mongodb';
import { expect, test } from 'vitest';
import { mailContext } from '../../src/mail/outbox.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { noteVoteOf, startMailReminder, stopMailReminder } from '../../src/reminders/keep-mail-reminder.ts';
import { sendMailReminders } from '../../src/reminders/send-mail-reminders.ts';
import { NOON, reminderBench } from './reminded.ts';

async function mailBench(env: Record<string, string> = {}) {
  const bench = await reminderBench({
    SMTP_URL: 'smtp://127.0.0.1:25',
    MAIL_FROM: 'Tallyport <votes@example.org>',
    ...env,
  });
  const { deps } = bench;
  const user = { _id: new ObjectId(), email: 'ann@example.org', language: 'de', emailVerified: true };
  await deps.users.insertOne(user as never);
  return {
    ...bench,
    user,
    start: () => startMailReminder(deps, user._id),
    noted: async (server: number, player = 'Steve') => {
      const vote = await bench.vote(server, player);
      await noteVoteOf(deps, user._id, vote);
      return vote;
    },
    send: () => sendMailReminders(deps, new AbortController().signal),
    dueAt: async () => (await deps.mailReminders.findOne({ _id: user._id }))?.dueAt,
    mails: () =>
      deps.mails
        .find()
        .sort({ createdAt: 1 })
        .map((mail) => ({ ...mail, text: deps.secrets.open(mail.sealedText ?? '', mailContext(mail._id)) }))
        .toArray(),
  };
}

test('a mail in the user’s language names the servers that take the next vote, and has the link that ends it', async () => {
  const bench = await mailBench();
  await bench.start();
  await bench.noted(0);
  bench.clock.move(20 * MINUTE);
  await bench.noted(1);
  expect(await bench.dueAt()).toEqual(after(NOON, DAY + 20 * MINUTE));
  bench.clock.set(after(NOON, DAY + 19 * MINUTE));
  expect(await bench.send()).toEqual([]);
  bench.clock.move(MINUTE);
  expect(await bench.send()).toEqual(['sent']);
  expect(await bench.send()).toEqual([]);
  const [mail, ...others] = await bench.mails();
  expect(others).toEqual([]);
  const { stopToken } = (await bench.deps.mailReminders.findOne()) ?? {};
  expect(mail).toMatchObject({
    to: 'ann@example.org',
    stopUrl: `https://listing.example/reminders/stop-mail/${stopToken}`,
  });
  expect(mail?.subject).toContain('Du kannst wieder abstimmen');
  expect(mail?.text).toContain('Alpha\nhttps://listing.example/servers/alpha/vote');
  expect(mail?.text).toContain('Beta\nhttps://listing.example/servers/beta/vote');
  expect(mail?.text).not.toContain('Steve');
});

test('only votes since the reminder was switched on, and only for users who switched it on', async () => {
  const bench = await mailBench();
  await bench.noted(0);
  expect(await bench.deps.mailReminders.countDocuments()).toBe(0);
  await bench.start();
  bench.nextDay();
  expect(await bench.send()).toEqual([]);
});

test('two mails are a day apart', async () => {
  const bench = await mailBench();
  await bench.start();
  await bench.noted(0);
  bench.clock.move(6 * HOUR);
  await bench.noted(1);
  bench.clock.set(after(NOON, DAY));
  expect(await bench.send()).toEqual(['sent']);
  await bench.noted(0);
  expect(await bench.dueAt()).toEqual(after(NOON, 2 * DAY));
});

test('who has voted meanwhile gets none, but one when that cooldown is over', async () => {
  const bench = await mailBench();
  await bench.start();
  await bench.noted(0);
  bench.nextDay();
  await bench.vote(0, 'Steve');
  expect(await bench.send()).toEqual(['voted']);
  bench.nextDay();
  expect(await bench.send()).toEqual(['sent']);
});

test('runs at once, and one that died after it wrote the mail, send one mail', async () => {
  const bench = await mailBench();
  await bench.start();
  await bench.noted(0);
  bench.nextDay();
  const before = await bench.deps.mailReminders.findOne();
  await Promise.all([bench.send(), bench.send(), bench.send()]);
  if (before) await bench.deps.mailReminders.replaceOne({ _id: before._id }, before);
  await bench.send();
  expect(await bench.mails()).toHaveLength(1);
});

test('votes at once are all noted', async () => {
  const bench = await mailBench();
  await bench.start();
  const votes: UUID[] = await Promise.all([bench.vote(0, 'Steve'), bench.vote(1, 'Steve')]);
  await Promise.all(votes.map((vote) => noteVoteOf(bench.deps, bench.user._id, vote)));
  const noted = await bench.deps.mailReminders.findOne();
  expect(noted?.votes.map(String).toSorted()).toEqual(votes.map(String).toSorted());
  expect(noted?.dueAt).toEqual(after(NOON, DAY));
});

test.each([
  { emailVerified: false },
  { suspendedAt: NOON },
])('a user with %o gets none, nor does one without an account', async (change) => {
  const bench = await mailBench();
  await bench.start();
  await bench.noted(0);
  await bench.deps.users.updateOne({ _id: bench.user._id }, { $set: change });
  const stranger = new ObjectId();
  await startMailReminder(bench.deps, stranger);
  await noteVoteOf(bench.deps, stranger, await bench.vote(1, 'Steve'));
  bench.nextDay();
  expect((await bench.send()).toSorted()).toEqual(['gone', 'refused']);
  expect(await bench.mails()).toEqual([]);
  await stopMailReminder(bench.deps, { _id: bench.user._id });
  expect(await bench.deps.mailReminders.countDocuments()).toBe(0);
});
