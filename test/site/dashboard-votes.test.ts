import { UUID } from 'mongodb';
import { expect, test } from 'vitest';
import { after, DAY, HOUR } from '../../src/clock.ts';
import { removeListener } from '../../src/delivery/listeners.ts';
import type { DeliveryState, Vote } from '../../src/votes/vote.ts';
import { addOwnedServer } from './owned-server.ts';
import { type OwnerBench, ownerBench, textOf } from './owner-bench.ts';
import { signedInAs } from './web-app.ts';

/** The players that a page of votes shows, in order. */
const playersOn = (page: string) =>
  [...page.matchAll(/<th scope="row"[^>]*>(?:<div>)?<a [^>]*><bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name);

const put = ({ platform, serverId }: OwnerBench, { _id }: Vote, state: DeliveryState, more = {}) =>
  platform.votes.updateOne(
    { serverId, _id },
    {
      $set: { 'delivery.state': state, ...more },
      $unset: { 'delivery.queuedAt': '', 'delivery.nextAt': '' },
    },
  );

const stateOf = async (bench: OwnerBench, vote: Vote) => (await bench.vote(vote)).delivery.state;

/** The address of a link that is called so. */
const linkOf = (page: string, text: RegExp): string => {
  const [, href = ''] =
    [...page.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)</g)].find(([, , words = '']) =>
      text.test(words),
    ) ?? [];
  return href.replaceAll('&amp;', '&').replace(/^.*?\/servers\/[0-9a-f]{24}/, '');
};

test('every vote stands there, newest first, with its state and what it waits for', async () => {
  const bench = await ownerBench();
  await bench.cast('Steve');
  await bench.drain();
  await bench.listener.stop();
  for (const name of ['Alex', 'Kai', 'Zoe']) await bench.cast(name);
  await bench.drain();
  const { body } = await bench.get('/votes');
  expect(playersOn(body)).toEqual(['Zoe', 'Kai', 'Alex', 'Steve']);
  const text = textOf(body);
  expect(text).toContain('Votes waiting 3');
  expect(text).toMatch(/unreachable The machine answers, but nothing listens on this port\. It is tested in/);
  expect(text).toMatch(/Zoe just now waiting for the listener, tested in/);
  expect(text).toMatch(/Steve (just now|\d+ seconds ago) delivered confirmed after/);
});

test('a server without votes says where they come from, one without a listener that votes are kept', async () => {
  const bench = await ownerBench();
  expect(await bench.read('/votes')).toContain('No vote was cast yet.');
  await removeListener(bench.platform, bench.serverId, 'test');
  await bench.cast('Steve');
  const text = await bench.read('/votes');
  expect(text).toContain('not forwarded there was no vote listener');
  expect(text).toContain('Set up the vote listener');
});

test('a filter shows the votes of a state, of a player in any spelling, and of days', async () => {
  const bench = await ownerBench();
  bench.clock.stop(new Date('2026-11-18T12:00:00Z'));
  const old = await bench.cast('Steve');
  await put(bench, old, 'failed');
  bench.clock.move(2 * DAY);
  await bench.cast('STEVE');
  await bench.cast('Alex');
  const players = async (query: string) => playersOn((await bench.get(`/votes?${query}`)).body);
  expect(await players('')).toEqual(['Alex', 'STEVE', 'Steve']);
  expect(await players('state=failed')).toEqual(['Steve']);
  expect(await players('state=&player=steve&since=&until=')).toEqual(['STEVE', 'Steve']);
  expect(await players('player=steve&state=failed')).toEqual(['Steve']);
  expect(await players('until=2026-11-18')).toEqual(['Steve']);
  expect(await players('since=2026-11-20&until=2026-11-20')).toEqual(['Alex', 'STEVE']);
  expect(await players('player=steve&since=2026-11-19')).toEqual(['STEVE']);
  expect(await players('state=nonsense&since=2026-02-31&from=x')).toEqual(['Alex', 'STEVE', 'Steve']);
  expect(await bench.read('/votes?state=sending')).toContain('There is no such vote.');
});

test('pages lose and repeat no vote, of all players and of one, and keep their filter', async () => {
  const bench = await ownerBench();
  const model = await bench.cast('Player 0');
  const copies = (count: number, make: (n: number) => Partial<Vote>) =>
    Array.from({ length: count }, (_, n) => ({ ...model, _id: new UUID(), ...make(n + 1) }));
  await bench.platform.votes.insertMany([
    ...copies(119, (n) => ({
      username: `Player ${n}`,
      usernameKey: `player ${n}`,
      // 70 of one moment, across the end of a page.
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
    const { body } = await bench.get(part);
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

test('the timeline tells every attempt, how far it got, what the listener said and how long it took', async () => {
  const bench = await ownerBench();
  bench.listener.behaviour = { answer: '{"status":"error","error":"Wait a <bit>"}' };
  const vote = await bench.cast('Steve');
  await bench.drain();
  const page = await bench.get(`/votes/${vote._id}`);
  const text = textOf(page.body);
  expect(text).toMatch(/It waits for its next attempt, in (\d+ seconds|a moment)/);
  expect(text).toContain('Attempt 1 unknown error');
  expect(text).toContain('The listener answered with an error of its own.');
  expect(page.body).toContain('Wait a &lt;bit&gt;');
  expect(text).toMatch(/Started by the vote\. It sent the vote( and was answered)?\. It took \d+ ms\./);
  expect(text).toContain(vote._id.toString());
  // Nothing is on offer that would send it twice.
  expect(page.body).not.toContain('/resend"');
});

test('a vote that may have arrived is sent again only after a warning, and its timeline says by whom', async () => {
  const bench = await ownerBench();
  const vote = await bench.cast('Steve');
  await put(bench, vote, 'unconfirmed', { 'delivery.ends': { ambiguous: 3 } });
  expect(await bench.read(`/votes/${vote._id}`)).toContain('Sent again, it may arrive twice.');
  const answer = await bench.post(`/votes/${vote._id}/resend`);
  expect(answer.headers.location).toMatch(/\?done=resent$/);
  expect(await stateOf(bench, vote)).toBe('waiting');
  expect(await bench.read(`/votes/${vote._id}`)).toContain(
    `Resent by ${bench.owner.email}; it may arrive twice`,
  );
  const again = await bench.post(`/votes/${vote._id}/resend`);
  expect(again.headers.location).toMatch(/\?done=under-way$/);
  const entry = await bench.platform.auditLog.findOne({ action: 'vote.resend' });
  expect(entry).toMatchObject({ by: bench.owner.email });
  // How long that took says nothing of the listener.
  await bench.drain();
  expect(await bench.read('/votes')).toContain('confirmed, sent again by hand');
});

test.each([
  [
    'without a listener',
    409,
    'set one first',
    ({ platform, serverId }: OwnerBench): Promise<unknown> => removeListener(platform, serverId, 'test'),
  ],
  ['after 30 days', 409, 'this one is older', async ({ clock }: OwnerBench) => clock.move(31 * DAY)],
] as const)('a vote is not sent again %s, and the page says why', async (_, status, reason, change) => {
  const bench = await ownerBench();
  const vote = await bench.cast('Steve');
  await put(bench, vote, 'failed');
  await change(bench);
  // The session is of the real present; the features' clock has moved.
  const answer = await bench.post(`/votes/${vote._id}/resend`);
  expect([answer.statusCode, textOf(answer.body)]).toEqual([status, expect.stringContaining(reason)]);
  expect(await stateOf(bench, vote)).toBe('failed');
});

test('a vote of another server is not there, for reading or for sending', async () => {
  const bench = await ownerBench();
  const vote = await bench.cast('Steve');
  await put(bench, vote, 'failed');
  const other = await signedInAs(bench.web, 'owner');
  const foreign = await addOwnedServer(bench.platform, other.personId, { name: 'Other' });
  for (const [method, part] of [
    ['GET', ''],
    ['POST', '/resend'],
  ] as const) {
    const url = `/dashboard/servers/${foreign.toHexString()}/votes/${vote._id}${part}`;
    const headers = { ...other.headers, accept: 'text/html', 'sec-fetch-site': 'same-origin' };
    const answer = await bench.web.app.inject({ method, url, headers });
    expect(answer.statusCode).toBe(404);
  }
  expect((await bench.get('/votes/nonsense')).statusCode).toBe(404);
  expect(await stateOf(bench, vote)).toBe('failed');
});

test('all votes of a filter are counted first, then sent, and no others', async () => {
  const bench = await ownerBench();
  const failed = await bench.cast('Steve');
  const unconfirmed = await bench.cast('Alex');
  const delivered = await bench.cast('Kai');
  await put(bench, failed, 'failed');
  await put(bench, unconfirmed, 'unconfirmed', { 'delivery.ends': { ambiguous: 3 } });
  await put(bench, delivered, 'delivered', { 'delivery.ends': { delivered: 1 } });
  const { body } = await bench.get('/votes?state=unconfirmed');
  const asked = await bench.get(linkOf(body, /^Send again/));
  expect(textOf(asked.body)).toContain('1 vote is put in the line again.');
  expect(textOf(asked.body)).toContain('some may arrive twice');
  const fields = Object.fromEntries(
    [...asked.body.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  // Cast and failed after the question: it was not among those that were counted.
  const later = await bench.cast('Zoe');
  await put(bench, later, 'unconfirmed');
  const sent = await bench.post('/votes/resend', fields);
  expect(sent.headers.location).toMatch(/\/votes\?done=resent$/);
  const states = await Promise.all(
    [failed, unconfirmed, delivered, later].map((vote) => stateOf(bench, vote)),
  );
  expect(states).toEqual(['failed', 'waiting', 'delivered', 'unconfirmed']);
  const entry = await bench.platform.auditLog.findOne({ action: 'vote.resend-range' });
  expect(entry).toMatchObject({ by: bench.owner.email, details: { votes: 1 } });
  // Without a state: what surely did not arrive. Sent twice, it finds nothing.
  const all = await bench.read('/votes/resend');
  expect(all).toContain('In the state not forwarded or failed');
  const shown = new Date(Date.now() + HOUR).toISOString();
  const both = await Promise.all([1, 2].map(() => bench.post('/votes/resend', { shown, player: 'steve' })));
  expect(both.map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  expect((await bench.vote(failed)).delivery.events).toHaveLength(1);
});

test('one press sends a bounded number, then asks about the rest', async () => {
  const bench = await ownerBench();
  const model = await bench.cast('Player 0');
  await put(bench, model, 'failed');
  const failed = await bench.vote(model);
  await bench.platform.votes.insertMany(
    Array.from({ length: 5_009 }, (_, n) => ({
      ...failed,
      _id: new UUID(),
      usernameKey: `p${n}`,
      votedAt: after(failed.votedAt, -n),
    })),
  );
  expect(await bench.read('/votes/resend?state=failed')).toContain(
    '5,000 votes or more are put in the line again.',
  );
  const shown = after(failed.votedAt, 1_000).toISOString();
  const first = await bench.post('/votes/resend', { state: 'failed', shown });
  expect(textOf(first.body)).toContain('5,000 votes are in the line again. There are more.');
  expect(textOf(first.body)).toContain('Send 10 votes again');
  expect((await bench.post('/votes/resend', { state: 'failed', shown })).statusCode).toBe(303);
  const { serverId, platform } = bench;
  expect(await platform.votes.countDocuments({ serverId, 'delivery.state': 'waiting' })).toBe(5_010);
});

test.each([
  [{ state: 'waiting' }, 400],
  [{ state: 'failed' }, 400],
  [{ state: 'failed', shown: 'yesterday' }, 400],
])('a form of %j is not obeyed', async (fields, status) => {
  const bench = await ownerBench();
  expect((await bench.post('/votes/resend', fields as Record<string, string>)).statusCode).toBe(status);
});

test('names are escaped, and set apart from the words around them', async () => {
  const bench = await ownerBench();
  const vote = await bench.cast('<img src=x> שלום');
  for (const part of [
    '/votes',
    `/votes/${vote._id}`,
    '/votes?player=%3Cimg%20src%3Dx%3E%20%D7%A9%D7%9C%D7%95%D7%9D',
  ]) {
    const { body } = await bench.get(part);
    expect(body).toContain('<bdi>&lt;img src=x&gt; שלום</bdi>');
    expect(body).not.toContain('<img src=x');
  }
});
