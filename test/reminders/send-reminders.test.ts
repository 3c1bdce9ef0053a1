import { expect, test } from 'vitest';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { REMINDER_TTL_MS, reminderId } from '../../src/reminders/reminder.ts';
import { connectionsOf } from '../../src/reminders/send-push.ts';
import { createReminders } from '../../src/reminders/send-reminders.ts';
import { namelessKey } from '../../src/votes/nameless.ts';
import { PUSH_HOST, startFakePushService, toThisMachine } from '../support/fake-push-service.ts';
import { messagesTo, NOON, reminderBench } from './reminded.ts';

test('one reminder for all servers, in the browser’s language, without a name, when the cooldowns are over', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const votes = [await bench.vote(0, 'Steve'), await bench.vote(1, 'Steve', after(NOON, 20 * MINUTE))];
  const subscription = service.subscribe();
  expect(await bench.keep(subscription, votes)).toEqual({
    kind: 'kept',
    dueAt: after(NOON, DAY + 20 * MINUTE),
  });
  bench.clock.set(after(NOON, DAY + 19 * MINUTE));
  expect(await bench.send()).toEqual([]);
  bench.clock.move(MINUTE);
  expect(await bench.send()).toEqual(['sent']);
  expect(await bench.send()).toEqual([]);
  const [message, ...others] = messagesTo(service, subscription);
  expect(others).toEqual([]);
  expect(message?.headers).toMatchObject({
    ttl: '14400',
    urgency: 'normal',
    topic: 'vote-again',
    'content-encoding': 'aes128gcm',
  });
  const said = message && subscription.read(message);
  expect(said).toMatchObject({
    lang: 'de',
    title: 'Du kannst wieder abstimmen',
    stop: 'Erinnerungen abstellen',
  });
  expect(JSON.stringify([said, message?.headers])).not.toMatch(/Steve|Alpha|Beta/i);
});

test('who has voted meanwhile, in any way, gets none, but one when that cooldown is over', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  await bench.vote(0, 'Steve');
  expect(await bench.send()).toEqual(['voted']);
  bench.nextDay();
  expect(await bench.send()).toEqual(['sent']);
});

test('a reminder that no vote follows is the last one, and the next vote brings the next one', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const subscription = service.subscribe();
  await bench.keep(subscription, [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  await bench.send();
  bench.nextDay();
  expect(await bench.send()).toEqual([]);
  await bench.keep(subscription, [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  expect(await bench.send()).toEqual(['sent']);
});

test('in the silent hours of the browser nothing is sent, also if the worker comes late', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  bench.clock.set(new Date('2026-12-01T23:30:00Z'));
  expect(await bench.send()).toEqual(['silent']);
  bench.clock.set(new Date('2026-12-02T07:00:00Z'));
  expect(await bench.send()).toEqual(['sent']);
});

test('a message does not wait at the push service into the silent hours', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  bench.clock.set(new Date('2026-11-30T20:00:00Z'));
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  await bench.send();
  expect(service.received[0]?.headers.ttl).toBe('3600');
});

test.each([
  404, 410,
])('a browser that the push service does not know any more (%i) is forgotten', async (status) => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  service.answer = (response) => void response.writeHead(status).end();
  bench.nextDay();
  expect(await bench.send()).toEqual(['gone']);
  expect(await bench.deps.reminders.countDocuments()).toBe(0);
});

test('a browser that does not vote for 60 days is deleted by MongoDB', async () => {
  const { deps } = await reminderBench();
  const indexes = await deps.reminders.indexes();
  expect(indexes.find(({ key }) => key.usedAt)?.expireAfterSeconds).toBe(REMINDER_TTL_MS / 1_000);
  expect(REMINDER_TTL_MS).toBe(60 * DAY);
});

test('a busy push service gets the message again when it says so, at last an hour later; and is given up in the end', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const subscription = service.subscribe();
  await bench.keep(subscription, [await bench.vote(0, 'Steve')]);
  service.answer = (response) => void response.writeHead(429, { 'retry-after': '1800' }).end();
  bench.clock.set(after(NOON, DAY - 6 * HOUR));
  await bench.deps.votes.updateMany({}, { $set: { votedAt: after(NOON, -6 * HOUR) } });
  await bench.deps.reminders.updateMany(
    {},
    { $set: { dueAt: bench.clock.now(), usedAt: after(NOON, -6 * HOUR) } },
  );
  expect(await bench.send()).toEqual(['retry']);
  const dueAt = async () =>
    (await bench.deps.reminders.findOne({ _id: reminderId(subscription.endpoint) }))?.dueAt;
  expect(await dueAt()).toEqual(after(bench.clock.now(), 30 * MINUTE));
  const ends = [];
  for (let at = await dueAt(); at; at = await dueAt()) {
    bench.clock.set(at);
    ends.push(...(await bench.send()));
  }
  expect(ends).toEqual(['retry', 'retry', 'retry', 'given-up']);
  expect(service.received).toHaveLength(5);
});

test('a message that the push service refuses is not sent again', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  service.answer = (response) => void response.writeHead(301, { location: 'https://127.0.0.1/' }).end();
  bench.nextDay();
  expect(await bench.send()).toEqual(['refused']);
  expect(await bench.send()).toEqual([]);
});

test('if the worker dies before or after the message was sent, another one sends it ten minutes later', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  // Of a dead process, nothing is written after the message has gone out.
  const { reminders } = bench.deps;
  let writes = 0;
  const dying = new Proxy(reminders, {
    get(target, name) {
      if (name === 'updateOne' && ++writes > 1) return () => Promise.reject(new Error('killed'));
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const killed = createReminders({ ...bench.deps, reminders: dying });
  const run = { signal: new AbortController().signal, lookup: toThisMachine };
  await expect(killed(run)).rejects.toThrow('killed');
  expect(service.received).toHaveLength(1);
  expect(await bench.send()).toEqual([]);
  bench.clock.move(10 * MINUTE);
  expect(await bench.send()).toEqual(['sent']);
});

test('of two workers at once, one sends each reminder, over a few connections that stay open', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const vote = await bench.vote(0, 'Steve');
  for (let n = 0; n < 40; n += 1) await bench.keep(service.subscribe(), [vote]);
  bench.nextDay();
  const ends = await Promise.all([bench.send(), bench.send()]);
  expect(ends.flat()).toEqual(Array.from({ length: 40 }, () => 'sent'));
  expect(service.received).toHaveLength(40);
  expect(service.mostAtOnce).toBeLessThanOrEqual(2 * connectionsOf(PUSH_HOST));
  expect(service.connections).toBeLessThanOrEqual(2 * connectionsOf(PUSH_HOST));
});

test('a browser that votes while its message is under way keeps its new time', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const subscription = service.subscribe();
  await bench.keep(subscription, [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  const kept = Promise.withResolvers<unknown>();
  service.answer = async (response) => {
    kept.resolve(await bench.keep(subscription, [await bench.vote(0, 'Steve')]));
    response.writeHead(201).end();
  };
  await bench.send();
  await kept.promise;
  const reminder = await bench.deps.reminders.findOne({});
  expect(reminder?.dueAt).toEqual(after(bench.clock.now(), DAY));
});

test('after the key was deleted, a browser that subscribed with it is refused, and forgotten when it is due', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const subscription = service.subscribe();
  const vote = await bench.vote(0, 'Steve');
  await bench.keep(subscription, [vote]);
  const publicKey = (await bench.deps.reminders.findOne({}))?.publicKey ?? '';
  await bench.deps.pushKeys.deleteMany({});
  expect(await bench.keep(subscription, [vote], { publicKey })).toEqual({ kind: 'other-key' });
  bench.nextDay();
  expect(await bench.send()).toEqual(['gone']);
  expect(service.received).toEqual([]);
});

test('a vote whose player was erased, or whose server is not listed any more, reminds nobody', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench();
  const { votes, servers, reminders } = bench.deps;
  const [erased, removed] = [await bench.vote(0, 'Steve'), await bench.vote(1, 'Steve')];
  await bench.keep(service.subscribe(), [erased]);
  await bench.keep(service.subscribe(), [removed]);
  await votes.updateOne({ _id: erased }, { $set: { usernameKey: namelessKey('1') } });
  await servers.updateOne({ name: 'Beta' }, { $set: { removedAt: NOON } });
  bench.nextDay();
  expect(await bench.send()).toEqual(['voted', 'voted']);
  expect(await reminders.countDocuments({ dueAt: null })).toBe(2);
  expect(service.received).toEqual([]);
});

test('no message goes to a private address', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench({ ALLOWED_PRIVATE_RANGES: '' });
  await bench.keep(service.subscribe(), [await bench.vote(0, 'Steve')]);
  bench.nextDay();
  expect(await bench.send()).toEqual(['retry']);
  expect(service.connections).toBe(0);
});

test('connections to a host that is no known push service are limited', async () => {
  const service = await startFakePushService();
  const bench = await reminderBench({ DESTINATION_LIMIT: '1', ACCOUNT_LIMIT: '1' });
  const vote = await bench.vote(0, 'Steve');
  for (let n = 0; n < 4; n += 1) await bench.keep(service.subscribe(), [vote]);
  bench.nextDay();
  expect(await bench.send()).toContain('retry');
  expect(service.connections).toBeLessThanOrEqual(1);
});
