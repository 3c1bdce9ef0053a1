import { ObjectId } from 'mongodb';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { attemptsOf } from '../../src/events/attempt-log.ts';
import { replayEvent } from '../../src/events/replay-event.ts';
import { requestSubscriptionTest } from '../../src/events/request-subscription-test.ts';
import {
  addSubscription,
  changeSubscription,
  removeSubscription,
  rotateSubscriptionSecret,
  subscriptionsOf,
  TooManySubscriptionsError,
} from '../../src/events/subscriptions.ts';
import { testSubscription } from '../../src/events/test-subscription.ts';
import { HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import { createSecretBox } from '../../src/platform/secrets.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { storedVote } from '../support/votes.ts';
import { isSignedWith, messagesOf, sendingBench } from './sending-bench.ts';

const HTTP = {
  type: 'http' as const,
  name: 'Raid bot',
  kinds: ['milestone' as const],
  url: 'https://example.org/events',
};
const SOON = () => AbortSignal.timeout(MINUTE);

test('a server has at most ten, even if many are added at once', async () => {
  const { deps, serverId } = await sendingBench();
  const added = await Promise.allSettled(
    Array.from({ length: 14 }, () => addSubscription(deps, serverId, HTTP, 'test')),
  );
  const refused = added.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused).toHaveLength(4);
  expect(refused.every((error) => error instanceof TooManySubscriptionsError)).toBe(true);
  const [first] = await subscriptionsOf(deps, serverId);
  expect(await deps.subscriptions.countDocuments({ serverId })).toBe(10);
  // Another takes the place of a removed one.
  await removeSubscription(deps, { serverId, subscriptionId: first?._id ?? new ObjectId() }, 'test');
  await addSubscription(deps, serverId, HTTP, 'test');
  await expect(addSubscription(deps, serverId, HTTP, 'test')).rejects.toThrow(TooManySubscriptionsError);
});

test('a form that is sent twice adds one, and its secret is shown once', async () => {
  const { deps, serverId } = await sendingBench();
  const _id = new ObjectId();
  const added = await Promise.all([1, 2].map(() => addSubscription(deps, serverId, HTTP, 'test', _id)));
  expect(added.filter(({ secret }) => secret?.startsWith('whsec_'))).toHaveLength(1);
  expect(await deps.subscriptions.countDocuments()).toBe(1);
  expect(await deps.auditLog.countDocuments({ action: 'subscription.add' })).toBe(1);
});

test.each([
  ['url', { ...HTTP, url: 'ftp://example.org' }],
  ['url', { ...HTTP, url: 'https://name:password@example.org/' }],
  ['url', { ...HTTP, url: 'https://example.org:22/' }],
  ['name', { ...HTTP, name: ' ' }],
  ['kinds', { ...HTTP, kinds: [] }],
  ['kinds', { ...HTTP, kinds: ['everything'] as never }],
  ['webhook', { type: 'discord' as const, name: 'A', kinds: HTTP.kinds, webhook: 'https://example.org/x' }],
])('settings with a wrong %s are refused', async (field, settings) => {
  const { deps, serverId } = await sendingBench();
  const refused = await addSubscription(deps, serverId, settings, 'test').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(InvalidDocumentError);
  expect(Object.keys((refused as InvalidDocumentError).errors)).toEqual([field]);
});

test('nobody who reads the database or the page sees a secret', async () => {
  const { deps, serverId } = await sendingBench();
  const { secret } = await addSubscription(deps, serverId, HTTP, 'test');
  const token = 'a'.repeat(60);
  const webhook = `https://discord.com/api/webhooks/123456789012345678/${token}`;
  await addSubscription(deps, serverId, { type: 'discord', name: 'D', kinds: HTTP.kinds, webhook }, 'test');
  const stored = JSON.stringify([
    await deps.subscriptions.find().toArray(),
    await deps.auditLog.find().toArray(),
  ]);
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain(token);
  const shown = await subscriptionsOf(deps, serverId);
  expect(shown).toMatchObject([
    { name: 'Raid bot', type: 'http', waiting: 0 },
    { name: 'D', type: 'discord', ending: '5678' },
  ]);
  expect(JSON.stringify(shown)).not.toContain('sealed');
});

test('after a rotation both secrets sign for 24 hours, and every message verifies with one of them', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { secret, subscription, of, pass } = await subscribe(site);
  const rotated = await rotateSubscriptionSecret(deps, of, 'test', subscription.revision);
  // The same form again.
  expect(await rotateSubscriptionSecret(deps, of, 'test', subscription.revision)).toBeNull();
  await happen();
  await pass();
  clock.move(25 * HOUR);
  await happen();
  await pass();
  const [during, after] = site.received;
  if (!during || !after) throw new Error('two messages');
  const verifies = (one: string | null | undefined) =>
    [during, after].map((message) => signatureOf(message, one ?? ''));
  expect(verifies(secret)).toEqual([true, false]);
  expect(verifies(rotated?.secret)).toEqual([true, true]);

  function signatureOf(message: typeof during & object, one: string): boolean {
    // `verify` refuses the timestamp of the moved clock.
    const { body, headers } = message;
    const at = new Date(Number(headers['webhook-timestamp']) * SECOND);
    return String(headers['webhook-signature']).includes(
      new Webhook(one).sign(String(headers['webhook-id']), at, body),
    );
  }
});

test('a new address must repeat a challenge, gets what waits at once, and keeps the secret', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const [dead, site] = [await startFakeHttpListener(), await startFakeHttpListener()];
  dead.answer = (response) => response.writeHead(410).end();
  const { secret, of, pass, read } = await subscribe(dead);
  await happen(3);
  expect(await pass()).toMatchObject({ end: 'paused' });
  await changeSubscription(deps, of, { url: `http://127.0.0.1:${site.port}/new`, name: 'Other' }, 'test');
  expect(await read()).toMatchObject({ name: 'Other', failures: 0, revision: 2 });
  await pass();
  expect(site.challenges).toBe(1);
  expect(site.received).toHaveLength(3);
  expect(site.received.every((message) => isSignedWith(secret ?? '', message))).toBe(true);
});

test('a test sends a made-up event to a paused or failing subscription, and lets a failing one go on', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(500).end();
  const { of, pass, read, secret } = await subscribe(site, ['vote.counted', 'milestone']);
  await happen();
  await pass();
  expect(await testSubscription(deps, of, SOON())).toMatchObject({
    kind: 'tested',
    end: 'retry',
    status: 500,
  });
  expect(await read()).toMatchObject({ failures: 1 });
  site.answer = (response) => response.writeHead(200).end();
  expect(await testSubscription(deps, of, SOON())).toMatchObject({
    kind: 'tested',
    end: 'sent',
    status: 200,
  });
  // Each test asks again whether the address wants events.
  expect(site.challenges).toBe(3);
  expect(messagesOf(site).at(-1)).toMatchObject({
    type: 'vote.counted',
    data: { test: true, username: 'TallyportTest' },
  });
  expect(isSignedWith(secret ?? '', site.received.at(-1) as never)).toBe(true);
  expect(await pass()).toMatchObject({ end: 'idle', attempts: [{ end: 'sent' }] });
  const log = await attemptsOf(deps, of.serverId, of.subscriptionId);
  expect(log.map(({ isTest = false, end }) => [isTest, end])).toEqual([
    [false, 'sent'],
    [true, 'sent'],
    [true, 'retry'],
    [false, 'retry'],
  ]);
});

test('a test needs a proven server, and has the limit of checks', async () => {
  const { deps, subscribe } = await sendingBench();
  const { of } = await subscribe(await startFakeHttpListener());
  const userId = 'someone';
  const ask = (proven: boolean) => requestSubscriptionTest(deps, of, { userId, proven });
  expect(await ask(false)).toEqual({ code: 'ownership-not-proven' });
  const asked = [];
  for (let i = 0; i < 7; i += 1) asked.push(await ask(true));
  expect(asked.slice(0, 6)).toEqual(Array(6).fill(null));
  expect(asked[6]).toMatchObject({ code: 'too-many' });
});

test('an event of the last 30 days is sent again under its id', async () => {
  const { deps, serverId, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { of, pass } = await subscribe(site);
  const [event] = await happen();
  await pass();
  expect(await replayEvent(deps, of, event._id, 'test')).toBe(true);
  expect(await replayEvent(deps, of, event._id, 'test')).toBe(true);
  await pass();
  expect(messagesOf(site).map(({ id }) => id)).toEqual([event._id, event._id]);
  expect(await replayEvent(deps, of, 'evt_unknown', 'test')).toBe(false);
  const ofOther = { serverId, subscriptionId: new ObjectId() };
  expect(await replayEvent(deps, ofOther, event._id, 'test')).toBe(false);
});

test('a removal takes what waits and the log with it', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const [kept, removed] = [await subscribe(site), await subscribe(site)];
  await happen();
  await removed.pass();
  await happen(2);
  expect(await removeSubscription(deps, removed.of, 'test')).toBe(true);
  expect(await removeSubscription(deps, removed.of, 'test')).toBe(false);
  expect(await removed.waiting()).toBe(0);
  expect(await kept.waiting()).toBe(3);
  expect(await deps.attemptLogs.countDocuments()).toBe(0);
  expect(await removed.pass()).toMatchObject({ end: 'removed' });
});

test('a subscription whose secret cannot be read waits for the operator', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { _id, of, pass, read } = await subscribe(site);
  const sealedSecret = createSecretBox('another-key-0123456789-0123456789').seal('x', 'y');
  await deps.subscriptions.updateOne({ _id }, { $set: { sealedSecret } });
  await happen();
  expect(await pass()).toMatchObject({ end: 'waits', attempts: [] });
  expect(await read()).toMatchObject({ failures: 0 });
  expect(await testSubscription(deps, of, SOON())).toEqual({ kind: 'unreadable' });
});

test('a website that repeats the player’s name does not bring it into the log', async () => {
  const { deps, clock, serverId, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { of, pass } = await subscribe(site, ['vote.counted']);
  await happen(1);
  site.answer = (response) => response.writeHead(400).end('No player SteveTheGreat here');
  const vote = storedVote(serverId, 'SteveTheGreat', clock.now());
  await deps.votes.insertOne(vote);
  await happen(1, { type: 'vote.counted', voteId: vote._id, data: {} });
  await pass();
  const [attempt] = await attemptsOf(deps, of.serverId, of.subscriptionId);
  expect(attempt?.reason).toBe('vote-refused: HTTP 400 No player [name] here');
});
