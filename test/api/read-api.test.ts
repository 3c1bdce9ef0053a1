import { type CommandStartedEvent, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { after, DAY } from '../../src/platform/clock.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { SORTS } from '../../src/ranking/sorts.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { pauseListing } from '../../src/workflows/pause-listing.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { type ApiDescription, ask, readDescription } from '../support/api-description.ts';
import { listServers } from '../support/servers.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
let description: ApiDescription;
beforeAll(async () => {
  tallyport = await startApp({ TRUST_PROXY: '1', PAUSED_SERVERS: 'last' });
  description = await readDescription(`${tallyport.url}/openapi.json`);
});
afterAll(() => tallyport.close());

let networks = 0;
/**
 * Calls from a network of its own. `path` is below `/api/v1`; `as` is the path in the OpenAPI document, with which the
 * answer is compared, or `-`.
 */
async function read(path: string, as = path.split('?')[0] ?? '', init: RequestInit = {}) {
  const network = ++networks;
  const from = `203.0.${113 + Math.floor(network / 250)}.${network % 250}`;
  const answer = await ask(`${tallyport.url}/api/v1${path}`, {
    redirect: 'manual',
    ...init,
    headers: { 'x-forwarded-for': from, ...(init.headers as Record<string, string>) },
  });
  if (as !== '-') description.check(init.method ?? 'GET', as, answer);
  return answer;
}
const readServer = (slug: unknown) => read(`/servers/${slug}`, '/servers/{slug}');

type Page = { servers: Record<string, unknown>[]; next_cursor: string | null };
const list = async (query: string) => (await read(`/servers?${query}`)).body as Page;
const slugsOf = ({ servers }: Page) => servers.map(({ slug }) => slug);

/** All pages, by `next_cursor`. */
async function walk(query: string): Promise<unknown[]> {
  const slugs: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await list(`${query}&cursor=${cursor}`);
    slugs.push(...slugsOf(page));
    cursor = page.next_cursor;
  }
  return slugs;
}

/** The servers of a public page, in its order. */
async function onPages(path: string): Promise<string[]> {
  const slugs: string[] = [];
  for (let page = 1; ; page += 1) {
    const { status, text } = await ask(
      `${tallyport.url}${path}${path.includes('?') ? '&' : '?'}page=${page}`,
      {
        headers: { accept: 'text/html', 'x-forwarded-for': '198.51.100.1' },
      },
    );
    if (status !== 200) return slugs;
    const items = text.split('<ol class="servers')[1]?.split('</ol>')[0] ?? '';
    slugs.push(...[...items.matchAll(/<h3><a href="\/servers\/([^"]+)"/g)].map(([, slug = '']) => slug));
  }
}

describe('lists', () => {
  beforeAll(async () => {
    const { deps } = tallyport;
    const many = Array.from({ length: 45 }, (_, i) => ({
      name: `Server ${i}`,
      game: i % 2 ? 'rust' : 'minecraft',
      countryCode: i % 3 ? 'DE' : 'FR',
      votes: (i * 7) % 31,
      online: i % 4 ? (i * 13) % 50 : null,
      uptime: (i * 11) % 100,
      reviews: { count: (i % 5) + 1, ratingSum: 3 * ((i % 5) + 1) },
    }));
    const ids = await listServers(deps, many);
    const tagged = ids.filter((_, i) => i % 5 === 0);
    await deps.servers.updateMany({ _id: { $in: tagged } }, { $set: { 'profile.tags': ['survival'] } });
    await recomputeRanks(deps);
  });

  test.each(
    SORTS,
  )('a walk in the order %s has the servers of the pages in their order, each once', async (sort) => {
    const walked = await walk(`sort=${sort}&limit=7`);
    expect(walked).toHaveLength(45);
    expect(walked).toEqual(await onPages(`/?sort=${sort}`));
    expect(await walk(`sort=${sort}&limit=100`)).toEqual(walked);
  });

  test.each([
    ['game=rust', '/games/rust'],
    ['country=de', '/?country=DE'],
    ['online=true', '/?online=yes'],
    ['tag=survival', '/tags/survival'],
    [
      'game=minecraft&country=FR&online=true&sort=players',
      '/games/minecraft?country=FR&online=yes&sort=players',
    ],
  ])('the filters %s give the list of %s', async (query, page) => {
    const walked = await walk(`${query}&limit=4`);
    expect(walked.length).toBeGreaterThan(2);
    expect(walked).toEqual(await onPages(page));
  });

  test('a tag with a country, for which the pages have no list, has the servers with both', async () => {
    const both = await walk('tag=survival&country=FR&limit=1');
    const [ofTag, ofCountry] = [await walk('tag=survival'), await walk('country=FR&limit=100')];
    expect(both).toEqual(ofTag.filter((slug) => ofCountry.includes(slug)));
    expect(both).toHaveLength(3);
  });

  test('the Link header leads to the next page, and its cursor belongs to one list', async () => {
    const first = await read('/servers?game=rust&limit=10');
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(String(first.headers.get('link'))) ?? [];
    const { pathname, searchParams } = new URL(next);
    expect(pathname).toBe('/api/v1/servers');
    expect(searchParams.get('cursor')).toBe((first.body as Page).next_cursor);
    const second = await list(String(searchParams));
    expect(slugsOf(second)).toEqual((await walk('game=rust')).slice(10, 20));
    for (const other of ['game=minecraft', 'game=rust&sort=players', '']) {
      const { status, body } = await read(`/servers?${other}&cursor=${searchParams.get('cursor')}`);
      expect([status, body]).toMatchObject([400, { code: 'malformed' }]);
    }
    expect((await read('/servers?limit=100')).headers.get('link')).toBeNull();
  });

  test('after a ranking that moves servers, the walk leaves out no server that stayed', async () => {
    const { deps } = tallyport;
    const before = await walk('sort=newest');
    const { servers, next_cursor: cursor } = await list('sort=newest&limit=10');
    await deps.servers.updateOne(
      { slug: String(before.at(-1)) },
      { $set: { listedAt: after(deps.clock.now(), -DAY) } },
    );
    await recomputeRanks(deps);
    const rest = slugsOf(await list(`sort=newest&limit=100&cursor=${cursor}`));
    // That one was moved down by the server that moved to the top, so it comes twice.
    expect(rest).toEqual(before.slice(9, -1));
    expect(servers).toHaveLength(10);
  });

  test('if the last server that was read moves down, the walk goes on at the same place', async () => {
    const { deps } = tallyport;
    // Other limits than above, whose answers are still in the cache.
    const before = await walk('sort=newest&limit=90');
    const { next_cursor: cursor } = await list('sort=newest&limit=11');
    const last = { slug: String(before[10]) };
    await deps.servers.updateOne(last, { $set: { listedAt: after(deps.clock.now(), -9_000 * DAY) } });
    await recomputeRanks(deps);
    const rest = slugsOf(await list(`sort=newest&limit=99&cursor=${cursor}`));
    // The server that moved up to the place of the last one is missed, and no other.
    expect(rest).toEqual([...before.slice(12), last.slug]);
  });

  test.each([
    'game=nothing',
    'game=a%26online',
    'tag=none',
    'country=XX',
    'country=Germany',
    'online=maybe',
  ])('the unknown value %s is an empty list', async (query) => {
    expect(await list(query)).toEqual({ servers: [], next_cursor: null });
  });

  test.each([
    'sort=best',
    'cursor=x',
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1&limit=2',
  ])('%s is 400', async (query) => {
    const { status, body } = await read(`/servers?${query}`);
    expect([status, body]).toMatchObject([400, { code: 'malformed' }]);
  });

  test('a search is that of the pages, also by address, with the filters', async () => {
    const { serverId, slug } = await tallyport.addServer({
      name: 'Harbour Lights',
      address: 'lights.example.org',
    });
    await recomputeRanks(tallyport.deps);
    expect(await list('q=harbor%20lights')).toMatchObject({
      servers: [{ id: String(serverId), slug }],
      next_cursor: null,
    });
    expect(slugsOf(await list('q=lights.example.org'))).toEqual([slug]);
    expect(slugsOf(await list('q=harbour&game=rust'))).toEqual([]);
    expect((await list('q=server&limit=3')).servers).toHaveLength(3);
    const { headers } = await read('/servers?q=harbour', '/servers');
    // A search counts as four calls.
    expect(headers.get('ratelimit')).toMatch(/^"network";r=116;/);
  });

  test('games and stats are the totals of the home page', async () => {
    const { body } = await read('/games');
    expect(body).toEqual({
      games: [
        { game: 'minecraft', name: 'Minecraft', url: 'http://localhost:3000/games/minecraft', servers: 23 },
        { game: 'rust', name: 'Rust', url: 'http://localhost:3000/games/rust', servers: 22 },
      ],
    });
    const summary = await tallyport.deps.listingSummary.findOne({});
    expect((await read('/stats')).body).toEqual({
      servers: summary?.servers,
      online_servers: summary?.online,
      online_players: summary?.playing,
      votes_count: summary?.votes,
    });
    expect(summary?.votes).toBeGreaterThan(100);
  });
});

describe('a server', () => {
  test('has the fields that its page shows, by slug and by id', async () => {
    const { deps } = tallyport;
    const server = await tallyport.addServer({ name: 'Full', game: 'minecraft', countryCode: 'DE' });
    const picture = 'ab'.repeat(32);
    const set = {
      profile: {
        description: '# Hello\n<b>raw</b> *text*',
        tags: ['survival'],
        languages: ['en', 'de'],
        icon: { source: 'x', picture },
        banner: { wide: picture, narrow: picture, width: 10, height: 5 },
      },
      'daily.uptimePercentage': 99.314,
    };
    await deps.servers.updateOne({ _id: server.serverId }, { $set: set });
    await tallyport.report(server, {
      online_players: 5,
      max_players: 9,
      motd: '§aHi',
      server_version: '1.21',
    });
    await tallyport.vote(server, 'Steve');
    await deps.voteCounts.flush();
    const stored = await deps.servers.findOne({ _id: server.serverId });
    const { status, body } = await readServer('full');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: String(server.serverId),
      slug: 'full',
      name: 'Full',
      url: 'http://localhost:3000/servers/full',
      game: 'minecraft',
      address: 'play.example.org',
      connection_port: 25_565,
      addresses: [
        {
          edition: 'java',
          address: 'play.example.org',
          connection_port: 25_565,
          status: 'online',
          online_players: 5,
        },
      ],
      country_code: 'DE',
      languages: ['en', 'de'],
      tags: ['survival'],
      status: 'online',
      online_players: 5,
      max_players: 9,
      monthly_votes: 1,
      votes_count: 1,
      rank_position: stored?.rankPosition,
      average_rating: 0,
      review_count: 0,
      uptime_percentage: 99.31,
      server_version: '1.21',
      icon_url: `http://localhost:3000/pictures/${picture}.webp`,
      banner_url: `http://localhost:3000/pictures/${picture}.webp`,
      date_added: stored?.listedAt.toISOString(),
      description: '# Hello\n<b>raw</b> *text*',
      motd: '§aHi',
    });
    expect((await readServer(server.serverId)).body).toEqual(body);
    const { votes_count, monthly_votes } = (await tallyport.call(server, 'info')).body;
    expect(body).toMatchObject({ votes_count, monthly_votes });
  });

  test('a hidden number of players is null, and a paused listing is unknown', async () => {
    const { deps } = tallyport;
    const server = await tallyport.addServer({ name: 'Shy' });
    await tallyport.report(server, { online_players: 5, max_players: 9 });
    const hidden = { 'current.onlinePlayers': 0, 'current.playersHidden': true };
    await deps.servers.updateOne({ _id: server.serverId }, { $set: hidden });
    expect((await readServer('shy')).body).toMatchObject({
      status: 'online',
      online_players: null,
      addresses: [{ online_players: null }],
    });
    await pauseListing(deps, server.serverId, {}, 'test');
    expect((await readServer(server.serverId)).body).toMatchObject({ status: 'unknown' });
    const busy = await tallyport.addServer({ name: 'Busy' });
    await tallyport.report(busy, { online_players: 5, max_players: 9 });
    await pauseListing(deps, busy.serverId, {}, 'test');
    expect((await readServer('busy')).body).toMatchObject({ status: 'unknown', online_players: null });
  });

  test('nothing that only its owner or an operator sees is in any answer', async () => {
    const { deps } = tallyport;
    const server = await tallyport.addServer({ name: 'Private' });
    const now = deps.clock.now();
    const secret = 'only-for-the-owner';
    const set = {
      queryPort: 54_321,
      ownerId: new ObjectId(),
      ownerEmail: `${secret}@example.org`,
      members: [{ userId: new ObjectId(), role: 'read', at: now }],
      invitations: [{ email: `${secret}@example.org`, role: 'read', by: secret, at: now }],
      hiddenInternalReason: secret,
      voteAllowance: { votes: 77_777, reason: secret, by: secret, at: now },
      unusualVotes: { at: now, votes: 77_777, players: 1 },
      playersDiffer: { at: now, reported: 77_777, probed: 1 },
      'ranked.waiting': 77_777,
      'profile.removals': [{ part: 'icon', at: now, reason: secret }],
    };
    await recomputeRanks(deps);
    await deps.servers.updateOne({ _id: server.serverId }, { $set: set } as never);
    const answers = [
      await readServer('private'),
      await read('/servers?q=private'),
      await read('/servers/private/history', '/servers/{slug}/history'),
      await read('/servers/private/reviews', 'reviews'),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).not.toMatch(new RegExp(`${secret}|54321|77777|${String(set.ownerId)}`));
    }
  });

  test('a former slug redirects with its query; unknown, hidden and removed servers are the same 404', async () => {
    const { deps } = tallyport;
    const renamed = await tallyport.addServer({ name: 'Old name' });
    await editServer(deps, renamed.serverId, { name: 'New name' }, 'test');
    for (const rest of ['', '/history?step=hour', '/reviews?page=2', '/live']) {
      const { status, headers } = await read(`/servers/old-name${rest}`, '-');
      expect([status, headers.get('location')]).toEqual([301, `/api/v1/servers/new-name${rest}`]);
    }
    const hidden = await tallyport.addServer({ name: 'Hidden one' });
    const removed = await tallyport.addServer({ name: 'Removed one' });
    await hideServer(deps, hidden.serverId, { reason: 'Copy' }, 'test');
    await removeServer(deps, removed.serverId, 'test');
    const names = ['hidden-one', 'removed-one', 'never-was', 'a%2Fb', '..%2f', 'x'.repeat(5_000)];
    const ids = [hidden.serverId, removed.serverId, new ObjectId()];
    for (const one of [...names, ...ids]) {
      const { status, body } = await readServer(one);
      expect([one, status, body]).toMatchObject([one, 404, { code: 'not-found' }]);
    }
    for (const rest of ['history', 'live', 'reviews'])
      expect((await read(`/servers/hidden-one/${rest}`, '-')).status).toBe(404);
  });

  test('its reviews are those of the fixed endpoint, by slug; by id they need a token as before', async () => {
    const server = await tallyport.addServer({ name: 'Reviewed' });
    const { status, text, headers } = await read('/servers/reviewed/reviews?limit=3', 'reviews');
    expect([status, text]).toEqual([200, (await tallyport.call(server, 'reviews?limit=3')).text]);
    expect(headers.get('ratelimit')).toMatch(/r=119/);
    expect((await read(`/servers/${server.serverId}/reviews`, 'reviews')).status).toBe(401);
    const authorization = `Bearer ${server.token}`;
    const withToken = await read('/servers/reviewed/reviews', 'reviews', { headers: { authorization } });
    expect(withToken.status).toBe(401);
    for (const fixed of ['info', 'check-vote?username=Steve'])
      expect((await read(`/servers/reviewed/${fixed}`, fixed)).status).toBe(401);
  });
});

describe('history', () => {
  test('has hours and days from `from` to before `to`, as the chart of the page', async () => {
    const { deps } = tallyport;
    const server = await tallyport.addServer({ name: 'Historic' });
    const sample = (at: string, onlinePlayers: number) => ({
      _id: new ObjectId(),
      serverId: server.serverId,
      at: new Date(at),
      source: 'probe' as const,
      status: 'online' as const,
      seconds: 1_800,
      onlinePlayers,
      latencyMs: 5,
    });
    await deps.statusSamples.insertMany([
      sample('2026-01-05T07:00:00Z', 4),
      sample('2026-01-05T08:00:00Z', 10),
      sample('2026-01-05T08:30:00Z', 20),
      sample('2026-01-05T09:00:00Z', 30),
      sample('2026-01-05T10:00:00Z', 40),
    ] as never);
    const history = (query: string) => read(`/servers/historic/history?${query}`, '/servers/{slug}/history');
    const { body } = await history('step=hour&from=2026-01-05T07:30:00Z&to=2026-01-05T10:00:00.000Z');
    expect(body).toEqual({
      step: 'hour',
      points: [
        { at: '2026-01-05T08:00:00.000Z', average_players: 15, peak_players: 20, uptime_percentage: 100 },
        { at: '2026-01-05T09:00:00.000Z', average_players: 30, peak_players: 30, uptime_percentage: 100 },
      ],
    });
    const sums = {
      onlineSeconds: 900,
      offlineSeconds: 300,
      unconfirmedSeconds: 0,
      canarySeconds: 0,
      playerSeconds: 9_000,
      latencySum: 0,
      latencySeconds: 0,
      peakPlayers: 12,
    };
    for (const day of ['2026-01-04', '2026-01-05', '2026-01-06'])
      await deps.dailyStats.insertOne({
        _id: new ObjectId(),
        serverId: server.serverId,
        day,
        probes: sums,
      } as never);
    expect((await history('from=2026-01-05&to=2026-01-06')).body).toEqual({
      step: 'day',
      points: [
        { at: '2026-01-05T00:00:00.000Z', average_players: 10, peak_players: 12, uptime_percentage: 75 },
      ],
    });
    for (const query of ['step=week', 'from=x', 'from=2026-02-30T99:00Z', 'from=2026-01-05&to=2026-01-05']) {
      expect([query, (await history(query)).status]).toEqual([query, 400]);
    }
    // 800 steps are allowed, more are not.
    expect((await history('step=hour&from=2026-01-01&to=2026-02-03T08:00:00Z')).status).toBe(200);
    expect((await history('step=hour&from=2026-01-01&to=2026-02-03T08:00:01Z')).status).toBe(400);
  });
});

describe('all of them', () => {
  test('scripts of any page may call them, and read errors; a token is never asked for', async () => {
    const { slug, serverId } = await tallyport.addServer({ name: 'Open' });
    const paths = [
      '/servers',
      `/servers/${slug}`,
      `/servers/${slug}/history`,
      `/servers/${slug}/reviews`,
      '/games',
      '/stats',
    ];
    for (const path of [
      ...paths,
      '/servers/none',
      `/servers/${serverId}/addresses`,
      `/servers/${serverId}/goal`,
    ]) {
      const { status, headers } = await read(path, '-');
      expect([path, headers.get('access-control-allow-origin')]).toEqual([path, '*']);
      expect(status).not.toBe(401);
      const head = await read(path, '-', { method: 'HEAD' });
      expect([head.status, head.text]).toEqual([status, '']);
      const preflight = await read(path, '-', {
        method: 'OPTIONS',
        headers: { origin: 'https://bot.example', 'access-control-request-method': 'GET' },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
      expect(preflight.headers.get('access-control-allow-headers')).not.toMatch(/authorization/i);
    }
    const info = await read(`/servers/${serverId}/info`, 'info');
    expect(info.headers.get('access-control-allow-origin')).toBeNull();
    const { status, headers } = await read('/stats', '-', { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('they may be cached as pages, and are 304 for their ETag', async () => {
    const { slug } = await tallyport.addServer({ name: 'Cached' });
    for (const path of ['/servers', `/servers/${slug}`, `/servers/${slug}/history`, '/games', '/stats']) {
      const first = await read(path, '-');
      expect(first.headers.get('cache-control')).toBe('public, max-age=10, stale-while-revalidate=60');
      const again = await read(path, '-', {
        headers: { 'if-none-match': String(first.headers.get('etag')) },
      });
      expect([path, again.status, again.text]).toEqual([path, 304, '']);
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(again.headers.get('ratelimit')).not.toBeNull();
    }
  });

  test('a network has 120 calls a minute over all of them, also those that are answered from the cache', async () => {
    const from = { headers: { 'x-forwarded-for': '192.0.2.9' } };
    const client = tallyport.deps.mongo.connection.getClient();
    let writes = 0;
    const note = ({ command }: CommandStartedEvent) => {
      if (command.findAndModify === 'rate_limits') writes += 1;
    };
    client.on('commandStarted', note);
    const statuses: number[] = [];
    for (let call = 0; call < 125; call += 1) {
      statuses.push((await read(call % 2 ? '/stats' : '/games', undefined, from)).status);
    }
    expect(statuses).toEqual([...Array(120).fill(200), ...Array(5).fill(429)]);
    const { body, headers } = await read('/servers', undefined, from);
    expect(body).toMatchObject({ code: 'too-many-requests', next_allowed_at: expect.any(String) });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('ratelimit-policy')).toBe('"network";q=120;w=60');
    client.off('commandStarted', note);
    expect(writes).toBeLessThan(30);
    // The count in the database is that of all processes.
    expect(await tallyport.deps.rateLimits.findOne({ _id: 'read-api:192.0.2.9' })).toMatchObject({
      count: 120,
    });
    tallyport.clock.move(61_000);
    expect((await read('/servers', undefined, from)).status).toBe(200);
  });

  test('operators switch them off, and what needs a token goes on', async () => {
    const server = await tallyport.addServer({ name: 'Still there' });
    const { config } = tallyport.deps;
    config.READ_API = 'off';
    try {
      const own = ['addresses', 'goal'].map((endpoint) => `/servers/${server.serverId}/${endpoint}`);
      const ofSlug = ['', '/history', '/reviews', '/live'].map((rest) => `/servers/${server.slug}${rest}`);
      for (const path of ['/servers', '/games', '/stats', ...ofSlug, ...own]) {
        const { status, body } = await read(path, '-');
        expect([path, status, body]).toMatchObject([path, 404, { code: 'disabled' }]);
      }
      for (const endpoint of ['info', 'reviews', 'addresses'])
        expect((await tallyport.call(server, endpoint)).status).toBe(200);
    } finally {
      config.READ_API = 'on';
    }
  });
});
