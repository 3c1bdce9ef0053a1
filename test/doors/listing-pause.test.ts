import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { pauseListing, resumeListing } from '../../src/workflows/pause-listing.ts';
import { type Answer, ask } from '../support/api-description.ts';
import { addFetchingServer } from '../support/fetching.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';
import { textOf } from '../support/web-app.ts';

// Of each door that docs/listing-pause.md names, and that a web process answers.

let tallyport: TestDeps;
let server: TestServer;
let claimKey: string;
const TEXT = 'The <b>fifth</b> season begins then.';

beforeAll(async () => {
  tallyport = await startApp();
  const { deps } = tallyport;
  server = await tallyport.addServer({ name: 'Paused Craft', game: 'minecraft' });
  const other = await tallyport.addServer({ name: 'Open Craft', game: 'minecraft' });
  await tallyport.vote(server, 'Steve');
  await tallyport.vote(server, 'Alex');
  await tallyport.report(server, { online_players: 5, max_players: 20 });
  const seen = { 'probe.status': 'online', 'probe.checkedAt': new Date(), 'probe.succeededAt': new Date() };
  await deps.servers.updateMany(
    { _id: { $in: [server.serverId, other.serverId] } },
    { $set: { ...seen, 'daily.uptimePercentage': 99.5 } as never },
  );
  ({ token: claimKey } = await issueToken(deps, {
    serverId: server.serverId,
    name: 'plugin',
    kind: 'claim',
  }));
  const until = after(new Date(Math.ceil(Date.now() / DAY) * DAY), 9 * DAY);
  await pauseListing(deps, server.serverId, { until, text: TEXT }, 'owner@example.org');
  await deps.voteCounts.flush();
  await recomputeRanks(deps);
  tallyport.clock.move(MINUTE);
});
afterAll(() => tallyport.close());

const read = async (path: string) => {
  const answer = await fetch(`${tallyport.url}${path}`, { redirect: 'manual' });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
};
const page = () => `/servers/${server.slug}`;
const post = (endpoint: string, body: object) => (on: TestServer) =>
  tallyport.call(on, endpoint, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
const get = (endpoint: string) => (on: TestServer) => tallyport.call(on, endpoint);

describe('the API of a paused listing', () => {
  it.each<[string, (on: TestServer) => Promise<Answer>, number, object]>([
    ['vote', post('vote', { username: 'Ann' }), 403, { code: 'listing-paused' }],
    ['check-vote', get('check-vote?username=Steve'), 200, { has_voted: true }],
    ['status', post('status', { online_players: 7, max_players: 20 }), 429, { code: 'too-early' }],
    ['info', get('info'), 200, { status: 'unknown', online_players: 5, latency_ms: null, monthly_votes: 2 }],
    ['reviews', get('reviews'), 200, { review_count: 0 }],
    ['votes', get('votes'), 200, {}],
    ['top-voters', get('top-voters'), 200, {}],
    ['player-names', get('player-names'), 200, {}],
    ['goal', get('goal'), 404, { code: 'no-goal' }],
    ['addresses', get('addresses'), 200, { addresses: [{ status: 'unknown' }] }],
    ['votes/claim', post('votes/claim', { username: 'Alex' }), 200, { claimed: true }],
  ])('%s', async (_name, call, status, body) => {
    const answer = await call(server);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject(body);
  });

  it('status takes a report when one is due, which does not make the server online', async () => {
    tallyport.clock.move(6 * MINUTE);
    expect((await tallyport.report(server, { online_players: 8, max_players: 20 })).status).toBe(200);
    expect((await tallyport.call(server, 'info')).body).toMatchObject({
      status: 'unknown',
      online_players: 8,
    });
  });

  it('vote says the reason after a wrong token and a missing scope, and before a wrong body', async () => {
    const { deps } = tallyport;
    const wrong = { ...server, token: `${server.token.slice(0, -1)}x` };
    expect((await tallyport.vote(wrong, 'Ann')).status).toBe(401);
    const { token } = await issueToken(deps, { serverId: server.serverId, name: 'r', scopes: ['read'] });
    expect((await tallyport.vote({ ...server, token }, 'Ann')).body).toMatchObject({ code: 'scope-missing' });
    expect((await tallyport.vote(server, '')).body).toMatchObject({ code: 'listing-paused' });
    expect((await tallyport.vote(server, 'Ann')).body).toMatchObject({
      error: expect.stringMatching(/^The owner has paused the listing of this server until \S+Z\./),
      doc_url: expect.stringContaining('#listing-paused'),
    });
  });

  it('a claim contract answers as before', async () => {
    const { text } = await read(`/api/?action=status&username=Steve&key=${claimKey}`);
    expect(text).toBe('1');
  });
});

test('a waiting vote is fetched and settled in a pause, and a vote goal and its votes stay', async () => {
  const { deps } = tallyport;
  const fetching = await addFetchingServer(tallyport);
  await setGoal(deps, fetching.serverId, { target: '5', period: 'week' }, 'test');
  await fetching.cast('Steve');
  await pauseListing(deps, fetching.serverId, {}, 'test');
  const taken = await fetching.take();
  expect(taken).toMatchObject([{ username: 'Steve' }]);
  await fetching.settle(taken, 'delivered');
  expect((await fetching.vote(taken[0]?.vote_id ?? '')).delivery.state).toBe('delivered');
  const goal = await fetch(`${tallyport.url}/api/v1/servers/${fetching.serverId}/goal`);
  expect(await goal.json()).toMatchObject({ votes: 1, target: 5 });
});

describe('the public pages of a paused listing', () => {
  it('the page shows since when, until when and why, and has no form', async () => {
    const { status, text } = await read(page());
    expect(status).toBe(200);
    expect(textOf(text)).toMatch(/This server has been paused since .+ and returns on .+ \. “/);
    expect(text).toContain('&lt;b&gt;fifth&lt;/b&gt;');
    expect(textOf(text)).toContain('The owner has paused this server, so it takes no votes now.');
    expect(text).not.toContain('data-challenge');
    expect(text).not.toContain('href="#vote"');
    // Its figures stay.
    expect(textOf(text)).toContain('99.5');
    expect(text).not.toContain('"serverStatus"');
  });

  it('in German', async () => {
    expect(textOf((await read(`${page()}?lang=de`)).text)).toContain('Dieser Server pausiert seit');
  });

  it('the vote form and its challenge are refused', async () => {
    const form = await read(`${page()}/vote`);
    expect(form.status).toBe(200);
    expect(form.text).not.toContain('name="username"');
    for (const part of ['/vote', '/vote/challenge']) {
      const answer = await fetch(`${tallyport.url}${page()}${part}`, {
        method: 'POST',
        body: new URLSearchParams({ username: 'Ann', proof: '', session: '', again: '' }),
        headers: { origin: new URL(tallyport.deps.config.PUBLIC_URL).origin, accept: 'application/json' },
      });
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
        403,
        'listing-paused',
      ]);
    }
  });

  it.each([
    ['badge.svg', 'paused'],
    ['banner.svg', 'Listed on'],
    ['widget', 'paused'],
  ])('%s', async (file, shown) => {
    const { status, text } = await read(`${page()}/${file}`);
    expect(status).toBe(200);
    expect(text).toContain(shown);
    expect(text).not.toMatch(/Vote on|\/vote"/);
  });

  it('a calendar has no reminder for a time in the pause', async () => {
    const at = after(tallyport.clock.now(), HOUR).toISOString();
    expect((await read(`${page()}/vote/reminder.ics?at=${at}`)).status).toBe(404);
  });

  it('lists, the feed and the sitemap have it, and lists show it last, without a button to vote', async () => {
    const { text } = await read('/');
    const rows = [...text.matchAll(/href="\/servers\/([a-z-]+)"><bdi>/g)].map(([, slug]) => slug);
    expect(rows.indexOf('open-craft')).toBeLessThan(rows.indexOf(server.slug));
    expect(text).toContain('/servers/open-craft/vote');
    expect(text).not.toContain(`${page()}/vote`);
    expect((await read('/feed.atom')).text).toContain(server.slug);
    expect((await read('/sitemap-minecraft-1.xml')).text + (await read('/sitemap.xml')).text).toContain(
      'minecraft',
    );
  });

  it('the search finds it', async () => {
    expect((await read('/?q=paused+craft')).text).toContain(page());
  });
});

test('a vote that is refused costs no command of MongoDB, and the pause needs none for other votes', async () => {
  const { deps } = tallyport;
  const client = deps.mongo.connection.getClient();
  const commands: string[] = [];
  await tallyport.vote(server, 'Ann');
  const note = ({ databaseName, commandName, command }: CommandStartedEvent) => {
    const collection = command[commandName];
    if (databaseName === deps.mongo.db.databaseName && ['servers', 'votes'].includes(String(collection)))
      commands.push(`${commandName} ${collection}`);
  };
  client.on('commandStarted', note);
  expect((await tallyport.vote(server, 'Ann')).status).toBe(403);
  client.off('commandStarted', note);
  expect(commands).toEqual([]);
});

test('votes are taken again at once when the pause ends', async () => {
  const { deps } = tallyport;
  await resumeListing(deps, server.serverId, 'owner@example.org');
  expect((await tallyport.vote(server, 'Ann')).status).toBe(200);
  expect((await tallyport.call(server, 'info')).body).toMatchObject({ status: 'unknown' });
  expect((await read(`${page()}/vote`)).text).toContain('name="username"');
});

test('by its date votes are taken again although no worker runs', async () => {
  const { deps } = tallyport;
  const dated = await tallyport.addServer({ name: 'Dated' });
  await pauseListing(deps, dated.serverId, { until: after(tallyport.clock.now(), HOUR) }, 'test');
  expect((await tallyport.vote(dated, 'Ann')).status).toBe(403);
  tallyport.clock.move(HOUR);
  expect((await tallyport.vote(dated, 'Ann')).status).toBe(200);
  expect((await ask(`${tallyport.url}/servers/${dated.slug}/badge.svg`)).body).not.toContain('paused');
});
