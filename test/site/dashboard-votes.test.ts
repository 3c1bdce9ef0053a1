import { ObjectId, UUID } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { removeListener } from '../../src/delivery/change-listener.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import type { DeliveryState, Vote } from '../../src/votes/vote.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { textOf } from '../support/web-app.ts';
import { type OwnerApp, type OwnerFixture, openOwnerApp, ownerFixture } from './owner-fixture.ts';

let shared: OwnerApp;

beforeAll(async () => {
  shared = await openOwnerApp();
});
// All listeners have the same address, so reset the limit of test votes per address.
beforeEach(() => shared.deps.rateLimits.deleteMany({}));

/** The players on a page of votes, in their order. */
const playersOn = (page: string) =>
  [...page.matchAll(/<th scope="row"[^>]*>(?:<div>)?<a [^>]*><bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name);

const put = ({ deps, serverId }: OwnerFixture, { _id }: Vote, state: DeliveryState, more = {}) =>
  deps.votes.updateOne(
    { serverId, _id },
    {
      $set: { 'delivery.state': state, ...more },
      $unset: { 'delivery.queuedAt': '', 'delivery.nextAt': '' },
    },
  );

const stateOf = async (fixture: OwnerFixture, vote: Vote) => (await fixture.vote(vote)).delivery.state;

/** The address of the link with this text. */
const linkOf = (page: string, text: RegExp): string => {
  const [, href = ''] =
    [...page.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)</g)].find(([, , words = '']) =>
      text.test(words),
    ) ?? [];
  return href.replaceAll('&amp;', '&').replace(/^.*?\/servers\/[0-9a-f]{24}/, '');
};

test('every vote is listed, newest first, with its state and what it waits for', async () => {
  const fixture = await ownerFixture(shared);
  await fixture.cast('Steve');
  await fixture.drain();
  await fixture.listener.stop();
  for (const name of ['Alex', 'Kai', 'Zoe']) await fixture.cast(name);
  await fixture.drain();
  const { body } = await fixture.get('/votes');
  expect(playersOn(body)).toEqual(['Zoe', 'Kai', 'Alex', 'Steve']);
  const text = textOf(body);
  expect(text).toContain('3 waiting');
  expect(text).toMatch(
    /unreachable The machine answers, but nothing listens any more on the port that has taken votes before, or a firewall rejects the connection\. (Next test in|It is being tested)/,
  );
  expect(text).toMatch(/Zoe just now waiting Waiting for the listener, which is unreachable\. Next test in/);
  expect(text).toMatch(/Steve (just now|\d+ seconds ago) delivered confirmed after/);
});

test('a server without votes shows where they come from; one without a listener shows that votes are kept', async () => {
  const fixture = await ownerFixture(shared);
  expect(await fixture.read('/votes')).toContain('No votes yet.');
  await removeListener(fixture.deps, fixture.serverId, 'test');
  await fixture.cast('Steve');
  const text = await fixture.read('/votes');
  expect(text).toContain(
    'not forwarded The server had no vote listener when this vote was cast, or its plugins claim the votes.',
  );
  expect(text).toContain('Set up the vote listener');
});

test('votes are filtered by state, player and days', async () => {
  const fixture = await ownerFixture(await openOwnerApp());
  fixture.clock.stop(new Date('2026-11-18T12:00:00Z'));
  const old = await fixture.cast('Steve');
  await put(fixture, old, 'failed');
  fixture.clock.move(2 * DAY);
  await fixture.cast('STEVE');
  await fixture.cast('Alex');
  const players = async (query: string) => playersOn((await fixture.get(`/votes?${query}`)).body);
  expect(await players('')).toEqual(['Alex', 'STEVE', 'Steve']);
  expect(await players('state=failed')).toEqual(['Steve']);
  expect(await players('state=&player=steve&since=&until=')).toEqual(['STEVE', 'Steve']);
  expect(await players('player=steve&state=failed')).toEqual(['Steve']);
  expect(await players('until=2026-11-18')).toEqual(['Steve']);
  expect(await players('since=2026-11-20&until=2026-11-20')).toEqual(['Alex', 'STEVE']);
  expect(await players('player=steve&since=2026-11-19')).toEqual(['STEVE']);
  expect(await players('state=nonsense&since=2026-02-31&from=x')).toEqual(['Alex', 'STEVE', 'Steve']);
  expect(await fixture.read('/votes?state=sending')).toContain('No matching votes.');
});

test('pages skip and repeat no vote and keep their filter', async () => {
  const fixture = await ownerFixture(shared);
  const model = await fixture.cast('Player 0');
  const copies = (count: number, make: (n: number) => Partial<Vote>) =>
    Array.from({ length: count }, (_, n) => ({ ...model, _id: new UUID(), ...make(n + 1) }));
  await fixture.deps.votes.insertMany([
    ...copies(119, (n) => ({
      username: `Player ${n}`,
      usernameKey: `player ${n}`,
      // 70 votes have the same time, and the first page ends among them.
      votedAt: after(model.votedAt, n < 70 ? -HOUR : -HOUR - n),
    })),
    ...copies(60, (n) => ({
      username: `Twin ${n}`,
      usernameKey: 'twin',
      seq: n,
      votedAt: after(model.votedAt, (n - 200) * DAY),
    })),
  ]);
  const pages = async (part: string): Promise<string[][]> => {
    const { body } = await fixture.get(part);
    const players = playersOn(body) as string[];
    const older = linkOf(body, /^Older/);
    return older ? [players, ...(await pages(older))] : [players];
  };
  const all = await pages('/votes');
  expect(all.map(({ length }) => length)).toEqual([50, 50, 50, 30]);
  expect(new Set(all.flat()).size).toBe(180);
  const twins = await pages('/votes?player=TWIN');
  expect(twins.map(({ length }) => length)).toEqual([50, 10]);
  expect(twins.flat()[0]).toBe('Twin 60');
});

test('the timeline shows every attempt with its progress, the listener’s answer and its duration', async () => {
  const fixture = await ownerFixture(shared);
  fixture.listener.behaviour = { answer: '{"status":"error","error":"Wait a <bit>"}' };
  const vote = await fixture.cast('Steve');
  await fixture.drain();
  const page = await fixture.get(`/votes/${vote._id}`);
  const text = textOf(page.body);
  expect(text).toMatch(/Waiting for its next attempt, in (\d+ seconds|a moment)/);
  expect(text).toContain('Attempt 1 unknown error');
  expect(text).toContain('The listener answered with an error of its own.');
  expect(page.body).toContain('Wait a &lt;bit&gt;');
  expect(text).toMatch(/Started by the vote\. Sent the vote( and received an answer)?\. Duration: \d+ ms\./);
  expect(text).toContain(vote._id.toString());
  // The vote is still waiting, so there is no button to send it again.
  expect(page.body).not.toContain('/resend"');
});

test('a vote that may have arrived is sent again only after a warning; the timeline shows who did it', async () => {
  const fixture = await ownerFixture(shared);
  const vote = await fixture.cast('Steve');
  await put(fixture, vote, 'unconfirmed', { 'delivery.ends': { ambiguous: 3 } });
  expect(await fixture.read(`/votes/${vote._id}`)).toContain('If you send it again, it may arrive twice.');
  // A button of a page that was open before shows no warning: nothing is sent.
  const unwarned = await fixture.post(`/votes/${vote._id}/resend`);
  expect([unwarned.statusCode, await stateOf(fixture, vote)]).toEqual([409, 'unconfirmed']);
  const answer = await fixture.post(`/votes/${vote._id}/resend`, { twice: 'yes' });
  expect(answer.headers.location).toMatch(/\?done=resent$/);
  expect(await stateOf(fixture, vote)).toBe('waiting');
  expect(await fixture.read(`/votes/${vote._id}`)).toContain(
    `Resent by ${fixture.owner.email}; it may arrive twice`,
  );
  const again = await fixture.post(`/votes/${vote._id}/resend`);
  expect(again.headers.location).toMatch(/\?done=under-way$/);
  const entry = await fixture.deps.auditLog.findOne({
    serverId: fixture.serverId,
    action: 'vote.resend',
  });
  expect(entry).toMatchObject({ by: fixture.owner.email });
  // After a manual resend no duration is shown, because it would say nothing about the listener.
  await fixture.drain();
  expect(await fixture.read('/votes')).toContain('confirmed after a manual resend');
});

test('a vote that a plugin claimed is sent only after a warning, and not with others', async () => {
  const fixture = await ownerFixture(shared);
  const vote = await fixture.cast('Steve');
  await put(fixture, vote, 'failed', { claim: { at: new Date(), tokenId: new ObjectId() } });
  const page = await fixture.read(`/votes/${vote._id}`);
  expect(page).toContain('A plugin claimed this vote. If you send it, its player may be rewarded twice.');
  expect((await fixture.post(`/votes/${vote._id}/resend`)).statusCode).toBe(409);
  const { body: question } = await fixture.get('/votes/resend?state=failed');
  expect(textOf(question)).toContain(
    'Not sent with these: 1 vote that may have arrived or that plugins claimed',
  );
  const shown = new Date(Date.now() + HOUR).toISOString();
  await fixture.post('/votes/resend', { shown, state: 'failed' });
  expect(await stateOf(fixture, vote)).toBe('failed');
  const claimed = await fixture.read(linkOf(question, /plugins claimed/));
  expect(textOf(claimed)).toContain('Their players may be rewarded twice.');
  await fixture.post('/votes/resend', { shown, state: 'failed', twice: 'only' });
  expect(await stateOf(fixture, vote)).toBe('waiting');
  expect(await fixture.read(`/votes/${vote._id}`)).toContain('it may arrive twice');
});

test('the timeline names who sent a vote again by the present address, after each change of it', async () => {
  const fixture = await ownerFixture(shared);
  const { deps, owner } = fixture;
  const [one, ofRange] = [await fixture.cast('Steve'), await fixture.cast('Alex')];
  for (const vote of [one, ofRange]) await put(fixture, vote, 'failed');
  const changeAddress = (email: string) => deps.users.updateOne({ _id: owner.userId }, { $set: { email } });
  const timeline = (vote: Vote) => fixture.read(`/votes/${vote._id}`);

  expect((await fixture.post(`/votes/${one._id}/resend`)).statusCode).toBe(303);
  const shown = new Date(Date.now() + HOUR).toISOString();
  expect((await fixture.post('/votes/resend', { shown, state: 'failed' })).statusCode).toBe(303);
  for (const email of ['second@example.org', 'third@example.org']) {
    await changeAddress(email);
    for (const vote of [one, ofRange]) expect(await timeline(vote)).toContain(`Resent by ${email}`);
  }
  // Sent again by the same user, who has another address now: both lines show it.
  await put(fixture, one, 'failed');
  expect((await fixture.post(`/votes/${one._id}/resend`)).statusCode).toBe(303);
  const text = await timeline(one);
  expect(text.match(/Resent by third@example\.org/g)).toHaveLength(2);
  expect(text).not.toContain('somebody without access');
});

test.each([
  [
    'without a listener',
    409,
    'Set one up first',
    ({ deps, serverId }: OwnerFixture): Promise<unknown> => removeListener(deps, serverId, 'test'),
  ],
  ['after 30 days', 409, 'This vote is older', async ({ clock }: OwnerFixture) => clock.move(31 * DAY)],
] as const)('a vote is not sent again %s, and the page says why', async (_, status, reason, change) => {
  const fixture = await ownerFixture(await openOwnerApp());
  const vote = await fixture.cast('Steve');
  await put(fixture, vote, 'failed');
  await change(fixture);
  // The session does not expire, because it uses the real time; only the test's clock has moved.
  const answer = await fixture.post(`/votes/${vote._id}/resend`);
  expect([answer.statusCode, textOf(answer.body)]).toEqual([status, expect.stringContaining(reason)]);
  expect(await stateOf(fixture, vote)).toBe('failed');
});

test('a vote of another server cannot be read or sent', async () => {
  const fixture = await ownerFixture(shared);
  const vote = await fixture.cast('Steve');
  await put(fixture, vote, 'failed');
  const other = await signIn(fixture.web);
  const foreign = await addOwnedServer(fixture.deps, other.userId, { name: 'Other' });
  for (const [method, part] of [
    ['GET', ''],
    ['POST', '/resend'],
  ] as const) {
    const url = `/dashboard/servers/${foreign.toHexString()}/votes/${vote._id}${part}`;
    const headers = { ...other.headers, accept: 'text/html', 'sec-fetch-site': 'same-origin' };
    const answer = await fixture.web.app.inject({ method, url, headers });
    expect(answer.statusCode).toBe(404);
  }
  expect((await fixture.get('/votes/nonsense')).statusCode).toBe(404);
  expect(await stateOf(fixture, vote)).toBe('failed');
});

test('exactly the counted votes of a filter are sent again', async () => {
  const fixture = await ownerFixture(shared);
  const failed = await fixture.cast('Steve');
  const unconfirmed = await fixture.cast('Alex');
  const delivered = await fixture.cast('Kai');
  await put(fixture, failed, 'failed');
  await put(fixture, unconfirmed, 'unconfirmed', { 'delivery.ends': { ambiguous: 3 } });
  await put(fixture, delivered, 'delivered', { 'delivery.ends': { delivered: 1 } });
  const { body } = await fixture.get('/votes?state=unconfirmed');
  const question = await fixture.get(linkOf(body, /^Send again/));
  expect(textOf(question.body)).toContain('1 vote will be queued again.');
  expect(textOf(question.body)).toContain('Some may arrive twice');
  const fields = Object.fromEntries(
    [...question.body.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  // This vote was cast and failed after the confirmation page was shown, so it is not sent.
  const later = await fixture.cast('Zoe');
  await put(fixture, later, 'unconfirmed');
  const sent = await fixture.post('/votes/resend', fields);
  expect(sent.headers.location).toMatch(/\/votes\?done=resent$/);
  const states = await Promise.all(
    [failed, unconfirmed, delivered, later].map((vote) => stateOf(fixture, vote)),
  );
  expect(states).toEqual(['failed', 'waiting', 'delivered', 'unconfirmed']);
  const entry = await fixture.deps.auditLog.findOne({
    serverId: fixture.serverId,
    action: 'vote.resend-range',
  });
  expect(entry).toMatchObject({ by: fixture.owner.email, details: { votes: 1 } });
  // Without a state, the filter selects votes that did not arrive. The second request finds none.
  const all = await fixture.read('/votes/resend');
  expect(all).toContain('State not forwarded or failed');
  const shown = new Date(Date.now() + HOUR).toISOString();
  const both = await Promise.all([1, 2].map(() => fixture.post('/votes/resend', { shown, player: 'steve' })));
  expect(both.map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  expect((await fixture.vote(failed)).delivery.events).toHaveLength(1);
});

test.each([
  [{ state: 'waiting' }, 400],
  [{ state: 'failed' }, 400],
  [{ state: 'failed', shown: 'yesterday' }, 400],
])('a form of %j is not obeyed', async (fields, status) => {
  const fixture = await ownerFixture(shared);
  expect((await fixture.post('/votes/resend', fields as Record<string, string>)).statusCode).toBe(status);
});

test('names are escaped and isolated with bdi', async () => {
  const fixture = await ownerFixture(shared);
  const vote = await fixture.cast('<img src=x> שלום');
  for (const part of [
    '/votes',
    `/votes/${vote._id}`,
    '/votes?player=%3Cimg%20src%3Dx%3E%20%D7%A9%D7%9C%D7%95%D7%9D',
  ]) {
    const { body } = await fixture.get(part);
    expect(body).toContain('<bdi>&lt;img src=x&gt; שלום</bdi>');
    expect(body).not.toContain('<img src=x');
  }
});
