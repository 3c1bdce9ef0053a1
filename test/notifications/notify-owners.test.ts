import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { User } from '../../src/accounts/user.ts';
import {
  pauseListener,
  resumeListener,
  setListener,
  showListener,
} from '../../src/delivery/change-listener.ts';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { notificationTime } from '../../src/events/event-text.ts';
import { isNeglected } from '../../src/listeners/listener-state.ts';
import { mailContext } from '../../src/mail/outbox.ts';
import { listenersDown } from '../../src/moderation/needs-attention.ts';
import { notifyOwners } from '../../src/notifications/notify-owners.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type DeliveryBench, deliveryBench } from '../support/delivering.ts';
import { addOwner } from '../support/owned-server.ts';

const NEVER = new AbortController().signal;

/** A server that belongs to somebody, with its listener. */
async function ownedBench(user: Partial<User> = {}) {
  const bench = await deliveryBench({
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
    PUBLIC_URL: 'https://example.org/listing',
  });
  const { deps, clock, serverId } = bench;
  const ownerId = await addOwner(deps, user);
  await deps.servers.updateOne({ _id: serverId }, { $set: { ownerId } });
  const change = async (set: object) => {
    await deps.listeners.updateOne({ serverId }, { $set: set });
  };
  return {
    ...bench,
    ownerId,
    tell: () => notifyOwners(deps, NEVER),
    /** Fails since `since`, as the breaker notes it. */
    async fail(since = clock.now()) {
      const nextTestAt = after(since, MINUTE);
      await change({
        breaker: { failures: 3, openSince: since, tests: 0, nextTestAt, code: 'connection-refused' },
      });
    },
    recover: () => change({ breaker: { failures: 0, tests: 0 }, lastDeliveredAt: clock.now() }),
    refuse: () =>
      change({ pause: { at: clock.now(), by: 'tallyport', code: 'bad-signature', words: 'not valid' } }),
    mails: () => lettersOf(bench),
  };
}

async function shown(deps: AppDeps, serverId: ObjectId) {
  const listener = await showListener(deps, serverId);
  if (!listener) throw new Error('no listener');
  return listener;
}

/** What is in the outbox, by the beginning of its id: the kind of notification. */
async function lettersOf({ deps: { mails, secrets } }: DeliveryBench) {
  const found = await mails.find().sort({ createdAt: 1 }).toArray();
  return found.map(({ _id, to, subject, sealedText }) => ({
    kind: _id.split(':')[0],
    to,
    subject,
    text: secrets.open(sealedText ?? '', mailContext(_id)),
  }));
}

test('an owner gets one mail that a listener is paused for a configuration error, with its remedy', async () => {
  const { refuse, cast, tell, mails } = await ownedBench();
  await cast('Steve');
  await cast('Alex');
  expect(await tell()).toBe(0);
  await refuse();
  expect(await Promise.all([tell(), tell(), tell()])).toContain(1);
  expect(await tell()).toBe(0);
  const [letter, ...more] = await mails();
  expect(more).toEqual([]);
  expect(letter).toMatchObject({
    kind: 'paused',
    to: 'olivia@example.org',
    subject: 'Alpha: its vote listener is paused',
  });
  expect(letter?.text).toContain(
    'its token for our service name “Tallyport” is different, or it has none for it. Its answer: “not valid”',
  );
  expect(letter?.text).toContain('Copy the token');
  expect(letter?.text).toContain('2 votes are waiting.');
  expect(letter?.text).toMatch(/https:\/\/example\.org\/listing\/dashboard\/servers\/[0-9a-f]{24}\/listener/);
});

test.each([
  ['de', 'Alpha: Vote-Listener ist pausiert', '2 Stimmen warten.', 'Kopiere'],
  ['pl', 'Alpha: ', '2 głosy', ''],
  ['xx', 'Alpha: its vote listener is paused', '2 votes are waiting.', 'Copy the token'],
])('the mail is in the language of the owner’s account: %s', async (language, subject, waiting, advice) => {
  const { refuse, cast, tell, mails } = await ownedBench({ language });
  await cast('Steve');
  await cast('Alex');
  await refuse();
  expect(await tell()).toBe(1);
  const [letter] = await mails();
  expect(letter?.subject).toContain(subject);
  expect(letter?.text).toContain(waiting);
  expect(letter?.text).toContain(advice);
});

test('a pause by the owner gives no mail', async () => {
  const { deps, serverId, tell, clock } = await ownedBench();
  await pauseListener(deps, serverId, 'test');
  clock.move(DAY);
  expect(await tell()).toBe(0);
});

test('an owner gets a mail when a listener is unreachable for an hour, not sooner', async () => {
  const { fail, clock, tell, mails } = await ownedBench();
  await fail();
  clock.move(HOUR - SECOND);
  expect(await tell()).toBe(0);
  clock.move(2 * SECOND);
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
  expect((await mails())[0]?.text).toContain('nothing listens at this address and port');
});

test('a listener that comes and goes gives one mail in a day', async () => {
  const { fail, recover, clock, tell, mails } = await ownedBench();
  for (let n = 0; n < 12; n += 1) {
    await fail();
    clock.move(HOUR + MINUTE);
    await tell();
    await recover();
    clock.move(MINUTE);
  }
  expect((await mails()).map(({ kind }) => kind)).toEqual(['unreachable']);
  clock.move(12 * HOUR);
  await fail();
  clock.move(2 * HOUR);
  await tell();
  expect((await mails()).map(({ kind }) => kind)).toEqual(['unreachable', 'unreachable']);
});

test('an owner gets a mail about the return when every delayed vote has arrived', async () => {
  const { fail, recover, cast, drain, clock, tell, mails, deps, serverId } = await ownedBench();
  await fail(clock.now());
  for (let n = 0; n < 5; n += 1) await cast(`player ${n}`);
  clock.move(2 * HOUR);
  expect(await tell()).toBe(1);
  await recover();
  // It works again, and its votes are still to be sent.
  expect(await tell()).toBe(0);
  await drain();
  await cast('after the return');
  await drain();
  expect(await deps.votes.countDocuments({ serverId, 'delivery.state': 'delivered' })).toBe(6);
  expect(await Promise.all([tell(), tell()])).toContain(1);
  expect(await tell()).toBe(0);
  const letters = await mails();
  expect(letters.map(({ kind }) => kind)).toEqual(['unreachable', 'returned']);
  expect(letters[1]?.text).toContain('5 votes waited; all have arrived.');
});

test('the mail about the return counts the votes that the outage delayed, not when they were cast', async () => {
  const { fail, recover, cast, drain, clock, tell, mails, deps, serverId } = await ownedBench();
  const [early, late] = [await cast('Alex'), await cast('Kai')];
  const arrivedBefore = await cast('Ari');
  await drain();
  clock.move(5 * DAY);
  const lost = await cast('Zoe');
  clock.move(HOUR);
  await fail();
  await resendVote(deps, early._id, 'test');
  clock.move(2 * HOUR);
  expect(await tell()).toBe(1);
  await deps.votes.updateMany(
    { serverId, _id: { $in: [lost._id, arrivedBefore._id] } },
    {
      $set: { 'delivery.state': 'failed', 'delivery.events': [{ at: clock.now(), kind: 'expired' }] },
      $unset: { 'delivery.queuedAt': '', 'delivery.expiresAt': '', 'delivery.nextAt': '' },
    },
  );
  await recover();
  await drain();
  // The listener works again: this vote arrives at once, and it waits no longer than any other.
  await resendVote(deps, late._id, 'test');
  await drain();
  expect(await tell()).toBe(1);
  expect((await mails()).at(-1)?.text).toContain(
    '2 votes waited: 1 has arrived; 1 could not be delivered or confirmed',
  );
});

test('a vote that is resent after the return does not delay the mail about the return', async () => {
  const { fail, recover, cast, drain, clock, tell, deps } = await ownedBench();
  const old = await cast('Steve');
  await drain();
  clock.move(5 * DAY);
  await fail();
  clock.move(2 * HOUR);
  expect(await tell()).toBe(1);
  await cast('Alex');
  clock.move(MINUTE);
  await recover();
  expect(await tell()).toBe(0);
  await drain();
  clock.move(MINUTE);
  await resendVote(deps, old._id, 'test');
  expect(await tell()).toBe(1);
});

test('new settings alone are no return; the first vote that arrives is', async () => {
  const { refuse, deps, serverId, listener, clock, tell, cast, drain, mails } = await ownedBench();
  await refuse();
  await tell();
  clock.move(MINUTE);
  await setListener(
    deps,
    serverId,
    {
      protocol: 'votifier-v2',
      host: '127.0.0.1',
      port: listener.port,
      secret: listener.token,
      serviceName: 'T',
    },
    'test',
  );
  clock.move(MINUTE);
  expect(await tell()).toBe(0);
  await cast('Steve');
  await drain();
  expect(await tell()).toBe(1);
  expect((await mails())[1]?.text).toContain('No vote had to wait.');
});

test('an outage without a mail gives no mail about its end', async () => {
  const { fail, recover, clock, tell } = await ownedBench();
  await fail();
  clock.move(30 * MINUTE);
  await tell();
  await recover();
  clock.move(MINUTE);
  expect(await tell()).toBe(0);
});

test('an owner gets a mail a day before votes expire, also of a listener paused by hand', async () => {
  const { deps, serverId, cast, clock, tell, mails } = await ownedBench();
  await pauseListener(deps, serverId, 'test');
  await cast('Steve');
  clock.move(47 * HOUR);
  expect(await tell()).toBe(0);
  clock.move(2 * HOUR);
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
  const [letter] = await mails();
  expect(letter?.subject).toBe('Alpha: votes are about to be given up');
  expect(letter?.text).toContain('1 vote waits');
  await resumeListener(deps, serverId, 'test');
  expect(await tell()).toBe(0);
});

test('an owner gets a mail a day before a vote expires, also if an older vote was resent later', async () => {
  const { deps, serverId, cast, drain, clock, tell, mails } = await ownedBench();
  const old = await cast('Alex');
  await drain();
  clock.move(5 * DAY);
  await pauseListener(deps, serverId, 'test');
  const { delivery } = await cast('Steve');
  clock.move(2 * HOUR);
  expect(await resendVote(deps, old._id, 'test')).toMatchObject({ kind: 'resent' });
  clock.move(45 * HOUR);
  expect(await tell()).toBe(0);
  clock.move(2 * HOUR);
  expect(await tell()).toBe(1);
  expect((await mails())[0]?.text).toContain(
    `2 votes wait for the vote listener of Alpha. A vote that could not be delivered within 72 hours is given up. The first one: on ${notificationTime(delivery.expiresAt ?? clock.now())}`,
  );
});

test('an owner gets a mail a day before votes expire because connections to the listener are limited', async () => {
  const { deps, serverId, clock, cast, tell, mails } = await ownedBench();
  await cast('Steve');
  const limited = { until: after(clock.now(), MINUTE), by: 'destination' as const };
  await deps.listeners.updateOne({ serverId }, { $set: { limited } });
  clock.move(47 * HOUR);
  expect(await tell()).toBe(0);
  clock.move(2 * HOUR);
  expect(await tell()).toBe(1);
  expect(await tell()).toBe(0);
  const [letter] = await mails();
  expect(letter).toMatchObject({ kind: 'expiring', subject: 'Alpha: votes are about to be given up' });
  expect(letter?.text).toContain('only so many connections a minute');
});

test('a mail written before a kill is not written again, and is recorded as sent', async () => {
  const { deps, refuse, recover, clock, tell, mails } = await ownedBench();
  await refuse();
  await tell();
  // As if the process had died between the mail and the note.
  await deps.sentNotifications.deleteMany({});
  expect(await tell()).toBe(0);
  expect(await mails()).toHaveLength(1);
  await deps.listeners.updateMany({}, { $set: { pause: null } });
  clock.move(MINUTE);
  await recover();
  expect(await tell()).toBe(1);
});

test('a sent notification stays sent when its mail is forgotten', async () => {
  const { deps, refuse, clock, tell } = await ownedBench();
  await refuse();
  await tell();
  await deps.mails.deleteMany({});
  clock.move(8 * DAY);
  expect(await tell()).toBe(0);
});

test.each([
  ['does not want mail', { wantsMail: false }],
  ['has not confirmed the address', { emailVerified: false }],
  ['is suspended', { suspendedAt: new Date() }],
])('an owner who %s gets none', async (_, user) => {
  const { refuse, tell } = await ownedBench(user);
  await refuse();
  expect(await tell()).toBe(0);
});

test('a server without an owner and a removed server give no mail', async () => {
  const { deps, serverId, refuse, tell } = await ownedBench();
  await refuse();
  await deps.servers.updateOne({ _id: serverId }, { $unset: { ownerId: '' } });
  expect(await tell()).toBe(0);
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { ownerId: new ObjectId(), removedAt: new Date() } },
  );
  expect(await tell()).toBe(0);
});

test('an owner is notified once that nobody fetches while votes wait, and that they are fetched again', async () => {
  const { deps, clock, serverId, cast, tell, mails } = await ownedBench();
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  clock.move(HOUR);
  // No vote waits: nobody needs to fetch.
  expect(await tell()).toBe(0);
  await cast('Steve');
  clock.move(9 * MINUTE);
  expect(await tell()).toBe(0);
  clock.move(2 * MINUTE);
  expect([await tell(), await tell()]).toEqual([1, 0]);
  const [mail] = await mails();
  expect(mail).toMatchObject({
    kind: 'unfetched',
    subject: expect.stringContaining('nobody fetches its votes'),
  });
  expect(mail?.text).toContain('1 vote is waiting.');
  expect(mail?.text).toContain('Start the relay');
  clock.move(HOUR);
  expect(await tell()).toBe(0);
  const fetched = { at: clock.now(), agent: 'tallyport-relay/1.0' };
  await deps.listeners.updateOne({ serverId }, { $set: { fetched } });
  expect([await tell(), await tell()]).toEqual([1, 0]);
  expect((await mails()).map(({ kind }) => kind)).toEqual(['unfetched', 'fetched-again']);
});

test('a listener that nobody fetched and that then gets its votes by Votifier is back', async () => {
  const { deps, clock, serverId, cast, tell, mails } = await ownedBench();
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  await cast('Steve');
  clock.move(11 * MINUTE);
  expect(await tell()).toBe(1);
  await deps.listeners.updateOne({ serverId }, { $set: { protocol: 'votifier-v2' } });
  expect(await tell()).toBe(0);
  await deps.votes.updateMany({ serverId }, { $set: { 'delivery.state': 'delivered' } });
  await deps.listeners.updateOne({ serverId }, { $set: { lastDeliveredAt: clock.now() } });
  expect([await tell(), await tell()]).toEqual([1, 0]);
  expect((await mails()).map(({ kind }) => kind)).toEqual(['unfetched', 'returned']);
});

test('if an older vote is resent, nobody is notified that it is not fetched until it has waited for 10 minutes', async () => {
  const { deps, clock, serverId, cast, drain, tell } = await ownedBench();
  const old = await cast('Steve');
  await drain();
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  clock.move(HOUR);
  expect(await resendVote(deps, old._id, 'test')).toMatchObject({ kind: 'resent' });
  clock.move(SECOND);
  expect(await tell()).toBe(0);
  expect((await listenersDown(deps)).unfetched.rows).toEqual([]);
  let view = await shown(deps, serverId);
  expect(isNeglected(view, view.queuedSince, clock.now())).toBe(false);
  clock.move(10 * MINUTE);
  expect((await listenersDown(deps)).unfetched.rows).toHaveLength(1);
  view = await shown(deps, serverId);
  expect(isNeglected(view, view.queuedSince, clock.now())).toBe(true);
  expect(await tell()).toBe(1);
});

test('an owner is not notified of votes that nobody fetches while the listener is paused, nor after they ended', async () => {
  const { deps, clock, serverId, cast, tell } = await ownedBench();
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  const vote = await cast('Steve');
  await pauseListener(deps, serverId, 'test');
  clock.move(HOUR);
  expect(await tell()).toBe(0);
  await resumeListener(deps, serverId, 'test');
  await deps.votes.updateOne(
    { serverId, _id: vote._id },
    { $set: { 'delivery.state': 'failed' }, $unset: { 'delivery.queuedAt': '', 'delivery.nextAt': '' } },
  );
  expect(await tell()).toBe(0);
});

test('an operator sees servers whose votes nobody fetches', async () => {
  const { deps, clock, serverId, cast } = await ownedBench();
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  const since = (await deps.listeners.findOne({ serverId }))?.updatedAt;
  await cast('Steve');
  expect((await listenersDown(deps)).unfetched.rows).toEqual([]);
  clock.move(11 * MINUTE);
  const { rows, more } = (await listenersDown(deps)).unfetched;
  expect(rows).toEqual([{ server: expect.objectContaining({ _id: serverId }), since, waiting: 1 }]);
  expect(more).toBe(false);
});
