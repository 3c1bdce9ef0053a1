import { ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, expect, test } from 'vitest';
import { removeListener } from '../../src/delivery/change-listener.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { type OwnerApp, type OwnerFixture, openOwnerApp, ownerFixture } from './owner-fixture.ts';

let web: OwnerApp;

beforeAll(async () => {
  web = await openOwnerApp();
});

const HINT = / cast before this listener was set, and never sent/;

/** A server whose votes were cast before its listener was set. */
async function withEarlierVotes(...names: string[]): Promise<OwnerFixture> {
  const fixture = await ownerFixture(web);
  await removeListener(fixture.deps, fixture.serverId, 'test');
  for (const name of names) await fixture.cast(name);
  fixture.clock.move(HOUR);
  await fixture.set({});
  return fixture;
}

test('votes that were cast before the listener was set are offered and sent by one press', async () => {
  const { serverId, listener, deps, read, post, drain, cast } = await withEarlierVotes('Steve');
  expect(await read('/listener')).toContain(
    '1 vote was cast before this listener was set, and never sent. Votes can be sent for 30 days after they were cast. Send it',
  );
  await cast('Alex');
  const sent = await post('/listener/send-earlier');
  expect(sent.headers.location).toMatch(/\/listener\?done=sent-earlier$/);
  await drain();
  expect(listener.votes.map(({ username }) => username).toSorted()).toEqual(['Alex', 'Steve']);
  expect(await read('/listener')).not.toMatch(HINT);
  expect(await deps.auditLog.countDocuments({ serverId, action: 'vote.resend-range' })).toBe(1);
  expect((await post('/listener/send-earlier')).headers.location).toMatch(/done=none-earlier$/);
});

test('claimed, held, imported and old votes, and those that were sent once, are not offered', async () => {
  const fixture = await withEarlierVotes('Claimed', 'Held', 'Imported', 'Sent', 'Steve', 'Alex');
  const { deps, serverId, read, clock, listener, post, drain } = fixture;
  const change = (username: string, $set: object) => deps.votes.updateOne({ serverId, username }, { $set });
  const now = clock.now();
  await change('Claimed', { claim: { at: now, tokenId: new ObjectId() } });
  await change('Held', { quarantinedAt: now, excludedAt: now });
  await change('Imported', { seq: -1 });
  await change('Sent', { 'delivery.attemptCount': 1 });
  expect(await read('/listener')).toContain('2 votes were cast before this listener was set');
  // Only plugins reward players: the listener would get none of these votes.
  await setRewards(deps, serverId, 'claims', 'test');
  expect(await read('/listener')).not.toMatch(HINT);
  await setRewards(deps, serverId, 'push', 'test');
  await post('/listener/send-earlier');
  await drain();
  expect(listener.votes.map(({ username }) => username)).toEqual(['Steve', 'Alex']);
});

test('many earlier votes are counted up to a hundred, and all are sent', async () => {
  const { deps, serverId, read, post } = await withEarlierVotes('Steve');
  const { _id, ...vote } = (await deps.votes.findOne({ serverId })) ?? {};
  const more = Array.from({ length: 120 }, (_, n) => ({ ...vote, _id: new UUID(uuidv7()), seq: n + 2 }));
  await deps.votes.insertMany(more as never);
  expect(await read('/listener')).toContain('100 votes or more were cast before this listener was set');
  await post('/listener/send-earlier');
  expect(await deps.votes.countDocuments({ serverId, 'delivery.state': 'waiting' })).toBe(121);
});

test('votes that are too old to be sent are not offered', async () => {
  const { read, deps, serverId, clock } = await withEarlierVotes('Steve');
  await deps.votes.updateMany({ serverId }, { $set: { votedAt: after(clock.now(), -31 * DAY) } });
  expect(await read('/listener')).not.toMatch(HINT);
});

test('the steps of the last test stay on the page until the listener changes', async () => {
  const { post, read, set, listener, deps, serverId } = await ownerFixture(web);
  listener.tokens = { default: 'another' };
  await post('/listener/test');
  const shown = await read('/listener');
  expect(shown).toMatch(/Last test, (just now|\d+ seconds? ago)/);
  expect(shown).toMatch(/Greeting passed .* Key or token failed .* Acknowledgement not reached/);
  expect(shown).toContain('its token for our service name “Tallyport” is different');
  expect(shown).toMatch(/Error code bad-signature/);
  // An operator's test of the same listener stores what the owner may see.
  expect((await deps.listeners.findOne({ serverId }))?.tested?.result).toMatchObject({
    fault: 'bad-signature',
    step: 'key-or-token',
  });
  await set({ serviceName: 'Other' });
  expect(await read('/listener')).not.toContain('Last test,');
});

test('what an unproven service answers is not stored with the test', async () => {
  const { post, deps, serverId, listener, read } = await ownerFixture(web);
  await listener.stop();
  await post('/listener/test');
  expect((await deps.listeners.findOne({ serverId }))?.tested?.result).toEqual({
    fault: 'connection-refused',
    step: 'connecting',
  });
  expect(await read('/listener')).toMatch(/Connection failed .* Greeting not reached/);
});

test('a listener with the port of the game itself is told so when it is saved, tested and opened', async () => {
  const { post, read, deps, serverId, listener } = await ownerFixture(web);
  await listener.stop();
  const { port } = listener;
  await deps.servers.updateOne({ _id: serverId }, { $set: { address: '127.0.0.1', port } });
  const named = 'The listener has the port of the game itself, as it is listed here';
  const fields = { protocol: 'votifier-v2', host: '127.0.0.1', port: String(port), secret: '' };
  const saved = await post('/listener', { ...fields, serviceName: 'Tallyport' });
  // Once as a warning, and once as the cause of the failed test.
  expect(saved.body.split(named)).toHaveLength(3);
  expect((await deps.listeners.findOne({ serverId }))?.tested?.result?.hasGamePort).toBe(true);
  const page = await read('/listener');
  expect(page.split(named)).toHaveLength(3);
  expect(page).toContain('usually 8192');
  // Another port of the same machine.
  await deps.servers.updateOne({ _id: serverId }, { $set: { port: port === 65_535 ? 1_024 : port + 1 } });
  await post('/listener/test');
  expect(await read('/listener')).not.toContain(named);
});

test('a listener on the game’s port that takes votes is not warned: a UDP game leaves the TCP port free', async () => {
  const { post, read, deps, serverId, listener } = await ownerFixture(web);
  await deps.servers.updateOne({ _id: serverId }, { $set: { address: '127.0.0.1', port: listener.port } });
  await post('/listener/test');
  expect(await read('/listener')).not.toContain('the port of the game itself');
});

const votifier = ({ listener }: OwnerFixture) => ({
  protocol: 'votifier-v2',
  host: '127.0.0.1',
  port: String(listener.port),
  secret: listener.token,
  serviceName: 'Tallyport',
});

test('a new listener stores how players are rewarded; with claim keys the owner must choose', async () => {
  const first = await ownerFixture(web);
  await removeListener(first.deps, first.serverId, 'test');
  const form = (await first.get('/listener')).body;
  expect(form).toMatch(/value="push"[^>]*\s+checked/);
  expect(form).toContain('If both do, each vote is rewarded twice.');
  await first.post('/listener', votifier(first));
  const stored = () => first.deps.listeners.findOne({ serverId: first.serverId });
  expect((await stored())?.rewards).toBe('push');
  await first.post('/listener/rewards', { rewards: 'both' });
  await first.post('/listener', { ...votifier(first), serviceName: 'Other' });
  expect((await stored())?.rewards).toBe('both');

  const second = await ownerFixture(web);
  const { deps, serverId, get, post } = second;
  await removeListener(deps, serverId, 'test');
  await issueToken(deps, { serverId, name: 'plugin', kind: 'claim' });
  expect((await get('/listener')).body).not.toMatch(/type="radio"[^>]*\schecked/);
  const refused = await post('/listener', votifier(second));
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toMatch(/href="#rewards">How players are rewarded: Choose how players are rewarded\./);
  expect(await deps.listeners.findOne({ serverId })).toBeNull();
  await post('/listener', { ...votifier(second), rewards: 'claims' });
  expect((await deps.listeners.findOne({ serverId }))?.rewards).toBe('claims');
});

test('a listener of before keeps both, and its page asks for a choice', async () => {
  const { read, get, post, deps, serverId } = await ownerFixture(web);
  expect((await deps.listeners.findOne({ serverId }))?.rewards).toBeUndefined();
  expect(await read('/listener')).toContain('You have not chosen yet. Until you do, both apply.');
  expect((await get('/listener')).body).not.toMatch(/type="radio"[^>]*\schecked/);
  const refused = await post('/listener/rewards');
  expect([refused.statusCode, refused.body]).toEqual([
    400,
    expect.stringContaining('Choose how players are rewarded.'),
  ]);
  expect((await post('/listener/rewards', { rewards: 'push' })).statusCode).toBe(303);
  expect(await read('/listener')).not.toContain('You have not chosen yet.');
});
