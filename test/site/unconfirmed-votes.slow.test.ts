import { UUID } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { after } from '../../src/platform/clock.ts';
import {
  keyLine,
  OTHER,
  RIGHT,
  start,
  TOKEN,
  votifier19,
  votifierPlus,
} from '../delivery/known-listeners.ts';
import { putInState } from '../support/votes.ts';
import { textOf } from '../support/web-app.ts';
import { type OwnerApp, type OwnerFixture, openOwnerApp, ownerFixture } from './owner-fixture.ts';

let shared: OwnerApp;

beforeAll(async () => {
  shared = await openOwnerApp();
});
// All listeners have the same address, so reset the limit of test votes per address.
beforeEach(() => shared.deps.rateLimits.deleteMany({}));

/** Creates an owner with an unconfirmed vote, which a wrong token has caused. */
async function usedUp(): Promise<OwnerFixture & { port: string }> {
  const fixture = await ownerFixture(shared);
  const port = await start(votifierPlus());
  await fixture.set({ port, secret: 'an0ther-t0ken-0123456789', maxSendings: 1 });
  await fixture.cast('Steve');
  await fixture.drain();
  return { ...fixture, port: String(port) };
}

const V2 = { protocol: 'votifier-v2', host: '127.0.0.1', serviceName: 'Tallyport' };

test('the listener’s page shows unconfirmed votes, the reason of the pause, and a link to send them again', async () => {
  const fixture = await usedUp();
  const page = await fixture.read('/listener');
  expect(page).toContain('Paused because of an error');
  expect(page).toContain('The listener has taken no vote with its current settings');
  expect(page).toContain('Unconfirmed 1: not acknowledged after the last attempt. They may have arrived.');
  expect((await fixture.get('/listener')).body).toContain('/votes/resend?state=unconfirmed"');
  expect(await fixture.read('/votes/resend?state=unconfirmed')).toContain('1 vote will be queued again');
  expect(page).toContain('a vote is sent at most 1 time');
});

test('a corrected token sends unconfirmed votes again', async () => {
  const fixture = await usedUp();
  const saved = await fixture.post('/listener', {
    ...V2,
    port: fixture.port,
    secret: TOKEN,
    maxSendings: '2',
  });
  expect(textOf(saved.body)).toContain('including unconfirmed votes');
  await fixture.drain();
  expect(
    await fixture.deps.votes.countDocuments({
      serverId: fixture.serverId,
      'delivery.state': 'delivered',
    }),
  ).toBe(1);
  expect(await fixture.deps.listeners.findOne({ serverId: fixture.serverId })).toMatchObject({
    maxSendings: 2,
  });
});

test('unconfirmed votes are not sent again if the owner opts out', async () => {
  const fixture = await usedUp();
  expect(await fixture.read('/listener?protocol=votifier-v2')).toContain(
    'Do not send unconfirmed votes again',
  );
  const form = { ...V2, port: fixture.port, secret: TOKEN, keepUnconfirmed: 'yes' };
  expect(textOf((await fixture.post('/listener', form)).body)).toContain(
    'The test vote below shows whether votes arrive. Test vote',
  );
  expect(
    await fixture.deps.votes.countDocuments({
      serverId: fixture.serverId,
      'delivery.state': 'unconfirmed',
    }),
  ).toBe(1);
  // If the form does not contain a field, the stored value stays.
  expect(await fixture.deps.listeners.findOne({ serverId: fixture.serverId })).toMatchObject({
    maxSendings: 1,
  });
});

test('a listener that is removed and set up again sends unconfirmed votes again, unless the owner opts out', async () => {
  const fixture = await usedUp();
  await fixture.post('/listener/remove');
  expect(await fixture.read('/listener')).toContain('Do not send unconfirmed votes again');
  const form = { ...V2, port: fixture.port, secret: TOKEN };
  const saved = await fixture.post('/listener', form);
  expect(textOf(saved.body)).toContain('including unconfirmed votes');
});

test('an invalid number of sendings is refused beside its field', async () => {
  const fixture = await usedUp();
  const refused = await fixture.post('/listener', {
    ...V2,
    port: fixture.port,
    secret: TOKEN,
    maxSendings: '4',
  });
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('1 to 3 times');
});

test('an unconfirmed v1 vote is not called delivered on any page', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.set({ protocol: 'votifier-v1', port: await start(votifier19()), secret: keyLine(RIGHT) });
  const vote = await fixture.cast('Steve');
  await fixture.drain();
  expect(await fixture.read('/votes')).toMatch(/Steve just now sent, not confirmed/);
  expect(await fixture.read(`/votes/${vote._id.toString()}`)).toMatch(/Sent on .*, not confirmed/);
  expect(await fixture.read('/listener')).toMatch(/Last delivered .*, not confirmed/);
  const tested = (await fixture.post('/listener/test')).body;
  expect(tested).toContain('The test vote was sent, but not confirmed');
});

test('a corrected v1 key offers to send again votes that the earlier key may have lost', async () => {
  const fixture = await ownerFixture(shared);
  const port = await start(votifierPlus());
  await fixture.set({ protocol: 'votifier-v1', port, secret: keyLine(OTHER) });
  await fixture.cast('Steve');
  await fixture.drain();
  const form = { ...V2, protocol: 'votifier-v1', port: String(port), secret: keyLine(RIGHT) };
  const saved = await fixture.post('/listener', form);
  expect(textOf(saved.body)).toContain(
    'If votes marked “sent, not confirmed” did not reach your game, send them again',
  );
  const page = await fixture.read('/listener');
  expect(page).toContain('Last delivered none with these settings');
  expect(await fixture.read('/votes')).not.toContain('Last vote');
  expect(page).toContain(
    'Sent, not confirmed 1: nothing confirmed them, as with most Votifier v1 listeners. They count as delivered.',
  );
  expect((await fixture.get('/listener')).body).toContain('/votes/resend?state=sent-not-confirmed"');

  await fixture.cast('Confirmed');
  await fixture.drain();
  const list = await fixture.read('/votes?state=sent-not-confirmed');
  expect(list).toContain('Steve');
  expect(list).not.toContain('Confirmed');
  expect(await fixture.read('/votes?state=sent-not-confirmed&player=confirmed')).toContain(
    'No matching votes',
  );
  const question = await fixture.read('/votes/resend?state=sent-not-confirmed');
  expect(question).toContain('1 vote will be queued again');
  expect(question).toContain('Send only votes that did not reach your game');
  const shown = new Date().toISOString();
  await fixture.post('/votes/resend', { state: 'sent-not-confirmed', shown });
  await fixture.drain();
  expect(await fixture.read('/listener')).not.toContain('Sent, not confirmed');
  expect(await fixture.read('/votes')).toMatch(/Steve just now delivered confirmed/);
  const attempts = await fixture.deps.votes.distinct('delivery.attemptCount', {
    serverId: fixture.serverId,
  });
  expect(attempts.toSorted()).toEqual([1, 2]);
});

test('the choice of a protocol says that some v1 listeners confirm votes', async () => {
  const fixture = await ownerFixture(shared);
  const page = await fixture.read('/listener?protocol=votifier-v1');
  expect(page).toContain('Some confirm votes; most close without an answer.');
  expect(page).not.toContain('cannot say whether a vote arrived');
});

test('a confirmed v1 vote is called delivered', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.set({ protocol: 'votifier-v1', port: await start(votifierPlus()), secret: keyLine(RIGHT) });
  await fixture.cast('Steve');
  await fixture.drain();
  expect(await fixture.read('/votes')).toMatch(/Steve just now delivered confirmed/);
  expect((await fixture.post('/listener/test')).body).toContain('The test vote arrived');
});

test('one request sends a limited number, then asks about the rest', async () => {
  const fixture = await ownerFixture(shared);
  const model = await fixture.cast('Player 0');
  await putInState(fixture.deps, model, 'failed');
  const failed = await fixture.vote(model);
  await fixture.deps.votes.insertMany(
    Array.from({ length: 5_009 }, (_, n) => ({
      ...failed,
      _id: new UUID(),
      usernameKey: `p${n}`,
      votedAt: after(failed.votedAt, -n),
    })),
  );
  expect(await fixture.read('/votes/resend?state=failed')).toContain(
    '5,000 votes or more will be queued again.',
  );
  const shown = after(failed.votedAt, 1_000).toISOString();
  const first = await fixture.post('/votes/resend', { state: 'failed', shown });
  expect(textOf(first.body)).toContain('5,000 votes queued again. There are more.');
  expect(textOf(first.body)).toContain('Send 10 votes again');
  expect((await fixture.post('/votes/resend', { state: 'failed', shown })).statusCode).toBe(303);
  const { serverId, deps } = fixture;
  expect(await deps.votes.countDocuments({ serverId, 'delivery.state': 'waiting' })).toBe(5_010);
});
