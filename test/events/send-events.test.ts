import { expect, test, vi } from 'vitest';
import { attemptsOf } from '../../src/events/attempt-log.ts';
import { dueSubscriptions } from '../../src/events/send-events.ts';
import {
  changeSubscription,
  pauseSubscription,
  resumeSubscription,
  subscriptionsOf,
} from '../../src/events/subscriptions.ts';
import { mailContext } from '../../src/mail/outbox.ts';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { storedVote } from '../support/votes.ts';
import { isSignedWith, messagesOf, sendingBench } from './sending-bench.ts';

test('a website gets each event once, signed, after it repeated a challenge', async () => {
  const { deps, serverId, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { secret, of, pass, waiting, read } = await subscribe(site);
  const events = await happen(30);
  expect(await pass()).toMatchObject({ end: 'idle' });
  expect(site.challenges).toBe(1);
  expect(new Set(messagesOf(site).map(({ id }) => id))).toEqual(new Set(events.map(({ _id }) => _id)));
  expect(site.received).toHaveLength(30);
  expect(site.received.every((message) => isSignedWith(secret ?? '', message))).toBe(true);
  const server = await deps.servers.findOne({ _id: serverId });
  expect(messagesOf(site)[0]).toMatchObject({
    type: 'milestone',
    timestamp: events[0].at.toISOString(),
    data: {
      server_id: serverId.toHexString(),
      server_name: 'Alpha Craft',
      server_url: `${deps.config.PUBLIC_URL}/servers/${server?.slug}`,
    },
  });
  expect(await waiting()).toBe(0);
  expect(await read()).not.toHaveProperty('nextPassAt');
  expect(await pass()).toMatchObject({ end: 'idle', attempts: [] });
  const log = await attemptsOf(deps, of.serverId, of.subscriptionId);
  expect(log).toHaveLength(30);
  expect(log[0]).toMatchObject({ type: 'milestone', end: 'sent', status: 204 });
});

test('a message has the name of its vote when it is sent, and none when it was erased', async () => {
  const { deps, clock, serverId, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { pass } = await subscribe(site, ['vote.counted']);
  const [vote, erased] = [storedVote(serverId, 'Alex', clock.now()), storedVote(serverId, 'Bo', clock.now())];
  await deps.votes.insertMany([vote, { ...erased, username: '(erased)', usernameKey: ' erased 1' }]);
  const voted_at = clock.now().toISOString();
  const ofVote = (voteId: typeof vote._id) => ({
    type: 'vote.counted' as const,
    voteId,
    data: { monthly_votes: 7, voted_at },
  });
  await happen(1, ofVote(vote._id));
  await happen(1, ofVote(erased._id));
  await pass();
  expect(messagesOf(site).map(({ data }) => data)).toMatchObject([
    { vote_id: vote._id.toString(), username: 'Alex', monthly_votes: 7, voted_at },
    { vote_id: erased._id.toString(), username: null },
  ]);
});

test('nothing is sent to a website that does not repeat the challenge', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  site.answerChallenge = (response) => response.end('hello');
  const { of, pass, read } = await subscribe(site);
  await happen(3);
  expect(await pass()).toMatchObject({ end: 'waits' });
  expect(site.received).toEqual([]);
  expect(site.challenges).toBe(1);
  expect(await read()).toMatchObject({ failures: 1, lastReason: 'http-unverified: HTTP 200' });
  expect(await attemptsOf(deps, of.serverId, of.subscriptionId)).toMatchObject([
    { end: 'retry', reason: 'http-unverified: HTTP 200' },
  ]);
});

test.each([300, 400, 401, 404, 408, 429, 500, 503])('HTTP %i is tried again', async (status) => {
  const { deps, clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { _id, pass, read } = await subscribe(site);
  const [event] = await happen();
  await pass();
  site.answer = (response) => response.writeHead(status).end('no');
  const [failing] = await happen();
  expect(await pass()).toMatchObject({ end: 'waits' });
  expect(await read()).toMatchObject({ failures: 1, failingSince: clock.now() });
  const stored = await deps.events.findOne({ _id: failing._id });
  const wait = (stored?.sends[0]?.nextAt.getTime() ?? 0) - clock.now().getTime();
  expect(wait).toBeGreaterThanOrEqual(4 * SECOND);
  expect(wait).toBeLessThanOrEqual(6 * SECOND);
  expect(stored?.sends).toMatchObject([{ to: _id, attempts: 1 }]);
  site.answer = (response) => response.writeHead(200).end();
  clock.move(6 * SECOND);
  expect(await pass()).toMatchObject({ end: 'idle' });
  expect(messagesOf(site).map(({ id }) => id)).toEqual([event._id, failing._id, failing._id]);
  const recovered = await read();
  expect(recovered.failures).toBe(0);
  expect(recovered).not.toHaveProperty('failingSince');
  expect(recovered).not.toHaveProperty('notBefore');
});

test('an event is given up after seven attempts, and the log says so', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  site.answer = (response, { body }) => response.writeHead(body.includes('"votes":1}') ? 500 : 200).end();
  const { of, pass, read } = await subscribe(site);
  const [event] = await happen();
  /** By attempt, how long the next one is away. */
  const waits: number[] = [];
  for (;;) {
    // Another one arrives, so the destination itself does not fail for a day.
    await happen();
    await pass();
    const [send] = (await deps.events.findOne({ _id: event._id }))?.sends ?? [];
    if (!send) break;
    waits[send.attempts - 1] ??= send.nextAt.getTime() - clock.now().getTime();
    const { notBefore = send.nextAt } = await read();
    clock.set(new Date(Math.max(clock.now().getTime(), send.nextAt.getTime(), notBefore.getTime())));
  }
  for (const [index, ms] of [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR].entries())
    expect(Math.abs((waits[index] ?? 0) - ms)).toBeLessThanOrEqual(ms / 5);
  expect(waits).toHaveLength(6);
  expect(messagesOf(site).filter(({ id }) => id === event._id)).toHaveLength(7);
  const log = await attemptsOf(deps, of.serverId, of.subscriptionId);
  expect(log.filter(({ eventId }) => eventId === event._id).map(({ end }) => end)).toEqual([
    'given-up',
    ...Array(6).fill('retry'),
  ]);
});

test('a dead destination costs one attempt in each step, however many events wait', async () => {
  const { clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(500).end();
  const { pass, read, waiting } = await subscribe(site);
  await happen(200);
  for (const [attempts, step] of [
    [1, 5 * SECOND],
    [2, 10 * SECOND],
    [3, 15 * SECOND],
    [4, 30 * SECOND],
  ] as const) {
    await pass();
    expect(site.received).toHaveLength(attempts);
    const wait = ((await read()).notBefore?.getTime() ?? 0) - clock.now().getTime();
    expect(Math.abs(wait - step)).toBeLessThanOrEqual(step / 5);
    // A new event does not hasten it.
    await happen();
    expect(await pass()).toMatchObject({ end: 'waits', attempts: [] });
    expect(site.received).toHaveLength(attempts);
    clock.move(step * 1.2);
  }
  // Another event each time: one that is refused alone does not stop the others.
  expect(new Set(messagesOf(site).map(({ id }) => id)).size).toBe(4);
  expect(await waiting()).toBe(204);
  site.answer = (response) => response.writeHead(200).end();
  clock.move(10 * MINUTE);
  await pass();
  clock.move(10 * MINUTE);
  await pass();
  expect(await waiting()).toBe(0);
});

test('Retry-After is obeyed, and counts as no attempt', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(429, { 'retry-after': '90' }).end();
  const { pass, read } = await subscribe(site);
  const [event] = await happen();
  expect(await pass()).toMatchObject({ end: 'waits', again: after(clock.now(), 90 * SECOND) });
  expect((await deps.events.findOne({ _id: event._id }))?.sends).toMatchObject([{ attempts: 0 }]);
  clock.move(89 * SECOND);
  await pass();
  expect(site.received).toHaveLength(1);
  site.answer = (response) => response.writeHead(200).end();
  clock.move(SECOND);
  await pass();
  expect(site.received).toHaveLength(2);
  expect((await read()).failures).toBe(0);
});

test('Retry-After of no time shortens no delay, and its attempts count', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(500, { 'retry-after': '0' }).end();
  const { pass, read } = await subscribe(site);
  const [event] = await happen();
  for (const [attempts, least] of [
    [1, 4 * SECOND],
    [2, 8 * SECOND],
    [3, 12 * SECOND],
  ] as const) {
    await pass();
    expect((await deps.events.findOne({ _id: event._id }))?.sends).toMatchObject([{ attempts }]);
    const { notBefore } = await read();
    expect(notBefore?.getTime()).toBeGreaterThanOrEqual(after(clock.now(), least).getTime());
    clock.move(HOUR);
  }
});

test('a slow attempt keeps it among the slow ones for minutes, whatever its owner changes meanwhile', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench({ LISTENER_TIMEOUT_MS: '3000' });
  const site = await startFakeHttpListener();
  const { of, pass, read } = await subscribe(site);
  await happen();
  await pass();
  site.answer = async (response) => {
    await changeSubscription(deps, of, { name: 'Renamed', kinds: ['milestone'] }, 'test');
    setTimeout(() => response.writeHead(204).end(), 1_100);
  };
  await happen();
  await pass();
  site.answer = (response) => response.writeHead(204).end();
  await happen();
  await pass();
  expect(await read()).toMatchObject({ name: 'Renamed', slowUntil: after(clock.now(), 10 * MINUTE) });
});

test('a resume whose process dies is found by the scheduler', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const { _id, of, pass } = await subscribe(await startFakeHttpListener());
  await pauseSubscription(deps, of, 'test');
  await happen(2);
  await pass();
  expect(await dueSubscriptions(deps)).toEqual([]);
  vi.spyOn(deps.events, 'updateMany').mockRejectedValueOnce(new Error('the process died'));
  await expect(resumeSubscription(deps, of, 'test')).rejects.toThrow('the process died');
  expect(await dueSubscriptions(deps)).toEqual([_id]);
});

test('HTTP 410 pauses the subscription, with one mail to the owner', async () => {
  const { deps, subscribe, happen } = await sendingBench({
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
  });
  const site = await startFakeHttpListener();
  const { of, pass, read, waiting } = await subscribe(site, ['milestone'], 'Raid bot');
  await happen();
  await pass();
  site.answer = (response) => response.writeHead(410).end();
  await happen(3);
  expect(await pass()).toMatchObject({ end: 'paused' });
  expect((await read()).pause).toMatchObject({ by: 'gone', reason: 'http-not-found: HTTP 410' });
  expect(await pass()).toMatchObject({ end: 'paused', attempts: [] });
  // What happens meanwhile is not stored for it; what waited is kept for a resume.
  await happen(2);
  expect(await waiting()).toBe(3);
  const mails = await deps.mails.find().toArray();
  expect(mails).toMatchObject([
    { to: 'olivia@example.org', subject: 'Alpha Craft: events to “Raid bot” are paused' },
  ]);
  const [mail] = mails;
  expect(deps.secrets.open(mail?.sealedText ?? '', mailContext(mail?._id ?? ''))).toContain('HTTP 410');
  site.answer = (response) => response.writeHead(204).end();
  await resumeSubscription(deps, of, 'test');
  await pass();
  expect(await waiting()).toBe(0);
});

test('a day of failures pauses it, with one mail even if the worker dies before it stores the pause', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench({
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'votes@example.org',
  });
  const site = await startFakeHttpListener();
  site.answer = (response) => response.writeHead(500).end('Database down');
  const { of, pass, read, waiting } = await subscribe(site);
  await happen(5);
  // Two failures a day apart are none of a whole day.
  await pass();
  for (let hours = 0; hours < 25; hours += 5) {
    clock.move(5 * HOUR);
    await pass();
    expect(await read()).not.toHaveProperty('pause');
  }
  clock.move(HOUR);
  vi.spyOn(deps.subscriptions, 'updateOne').mockRejectedValueOnce(new Error('the process died'));
  await expect(pass()).rejects.toThrow('the process died');
  expect(await read()).not.toHaveProperty('pause');
  await deps.subscriptions.updateOne({ _id: of.subscriptionId }, { $unset: { lease: '' } });
  clock.move(HOUR);
  expect(await pass()).toMatchObject({ end: 'paused' });
  expect((await read()).pause).toMatchObject({
    by: 'failures',
    reason: 'http-unavailable: HTTP 500 Database down',
  });
  expect(await deps.mails.countDocuments()).toBe(1);
  // It goes on collecting.
  await happen();
  expect(await waiting()).toBe(6);
  site.answer = (response) => response.writeHead(200).end();
  await resumeSubscription(deps, of, 'test');
  await pass();
  expect(await waiting()).toBe(0);
});

test('a paused subscription gets nothing, and everything after it goes on', async () => {
  const { deps, serverId, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { of, pass } = await subscribe(site);
  await pauseSubscription(deps, of, 'test');
  await happen(2);
  expect(await pass()).toMatchObject({ end: 'paused' });
  expect(site.received).toEqual([]);
  expect(await subscriptionsOf(deps, serverId)).toMatchObject([{ waiting: 2, pause: { by: 'owner' } }]);
  await resumeSubscription(deps, of, 'test');
  await pass();
  expect(site.received).toHaveLength(2);
});

test('two passes at once send each event once', async () => {
  const { subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { pass } = await subscribe(site);
  await happen(40);
  const ends = await Promise.all([pass(), pass(), pass()]);
  expect(ends.map(({ end }) => end).toSorted()).toEqual(['busy', 'busy', 'idle']);
  expect(site.received).toHaveLength(40);
});

test('a pass that dies between sending and recording: its events are sent again with the same ids', async () => {
  const { deps, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { of, pass, waiting } = await subscribe(site);
  const events = await happen(3);
  vi.spyOn(deps.events, 'bulkWrite').mockRejectedValueOnce(new Error('the process died'));
  await expect(pass()).rejects.toThrow('the process died');
  expect(site.received).toHaveLength(3);
  // Until its lease ends, nobody else sends.
  expect(await pass()).toMatchObject({ end: 'busy' });
  await deps.subscriptions.updateOne(
    { _id: of.subscriptionId },
    { $set: { 'lease.until': new Date(Date.now() - SECOND) } },
  );
  await pass();
  const ids = messagesOf(site).map(({ id }) => id);
  expect(ids).toHaveLength(6);
  expect(new Set(ids)).toEqual(new Set(events.map(({ _id }) => _id)));
  expect(await waiting()).toBe(0);
});

test('an event that is stored while a pass runs is not forgotten', async () => {
  const { subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { pass, read } = await subscribe(site);
  let isLate = false;
  await happen();
  site.answer = async (response) => {
    if (!isLate) {
      isLate = true;
      await happen();
    }
    response.writeHead(200).end();
  };
  await pass();
  expect(await read()).toHaveProperty('nextPassAt');
  await pass();
  expect(site.received).toHaveLength(2);
  expect(await read()).not.toHaveProperty('nextPassAt');
});

test('a stopping worker begins no attempt, and leaves what it did not send due', async () => {
  const { subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { pass, waiting, read } = await subscribe(site);
  await happen(50);
  const stop = new AbortController();
  site.answer = (response) => {
    stop.abort();
    response.writeHead(200).end();
  };
  expect(await pass(stop.signal)).toMatchObject({ end: 'more' });
  const sent = site.received.length;
  expect(sent).toBeLessThan(10);
  expect(await waiting()).toBe(50 - sent);
  expect(await read()).not.toHaveProperty('lease');
  expect(await read()).toMatchObject({ failures: 0 });
  await pass();
  expect(new Set(messagesOf(site).map(({ id }) => id)).size).toBe(50);
});

test('an attempt that a shutdown ends counts neither as an attempt nor as a failure', async () => {
  const { subscribe, happen } = await sendingBench({ LISTENER_TIMEOUT_MS: '5000' });
  const site = await startFakeHttpListener();
  const { pass, waiting, read } = await subscribe(site);
  await happen();
  const stop = new AbortController();
  site.answer = () => stop.abort();
  expect(await pass(stop.signal, stop.signal)).toMatchObject({ end: 'more', attempts: [] });
  expect(await waiting()).toBe(1);
  expect(await read()).toMatchObject({ failures: 0 });
});

test('of more than 10,000 waiting events the oldest are dropped, and counted', async () => {
  const { deps, clock, subscribe, happen } = await sendingBench();
  const site = await startFakeHttpListener();
  const { of, pass, read, waiting } = await subscribe(site);
  await pauseSubscription(deps, of, 'test');
  const [oldest] = await happen(1_500);
  clock.move(MINUTE);
  await happen(10_000);
  expect(await pass()).toMatchObject({ end: 'paused', dropped: 1_500 });
  expect(await waiting()).toBe(10_000);
  expect((await read()).dropped).toEqual({ count: 1_500, at: clock.now() });
  expect((await deps.events.findOne({ _id: oldest._id }))?.sends).toEqual([]);
});

test('a limit of ours counts neither as an attempt nor as a failure', async () => {
  const { clock, subscribe, happen } = await sendingBench({ DESTINATION_LIMIT: '2', ACCOUNT_LIMIT: '4' });
  const site = await startFakeHttpListener();
  site.answerChallenge = (response) => response.writeHead(500).end();
  const { pass, read } = await subscribe(site);
  await happen();
  await pass();
  clock.move(6 * SECOND);
  expect(await pass()).toMatchObject({
    end: 'waits',
    attempts: [{ end: 'waits', reason: 'outgoing-limited' }],
  });
  expect(await read()).toMatchObject({ failures: 1 });
});
