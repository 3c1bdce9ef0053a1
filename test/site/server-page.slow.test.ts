import { gunzipSync } from 'node:zlib';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { suspendUser } from '../../src/accounts/users.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { answerReview } from '../../src/reviews/answer-review.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { setHowToVote } from '../../src/servers/vote-options.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { insert, probe } from '../history/samples.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { storedVote } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;
let port = 30_000;

beforeAll(async () => {
  web = await openWebApp();
  olivia = await signIn(web);
});

/** Lists a server of Olivia's. Returns its id and the path of its page. */
async function list(name: string): Promise<{ id: ObjectId; path: string }> {
  const id = await addOwnedServer(web.deps, olivia.userId, { name, port: port++ });
  return { id, path: `/servers/${(await web.deps.servers.findOne({ _id: id }))?.slug}` };
}

const get = (path: string, who?: SignedInUser) => getPage(web, path, who?.headers);
const read = async (path: string, who?: SignedInUser) => textOf((await get(path, who)).body);

/** A sample of a well-known server. */
const FULL_SAMPLE = { onlinePlayers: 12_345, maxPlayers: 20_000, latencyMs: 123.45 };

const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=y>&amp;`;

describe('a server’s page', () => {
  it('redirects a trailing slash, and /servers redirects to the ranking', async () => {
    const { path } = await list('Slashed');
    expect((await get(`${path}/`)).headers.location).toBe(path);
    expect((await get('/servers/%2F..%2F%0A/')).statusCode).toBe(404);
    expect((await get('/servers')).headers.location).toBe('/');
  });

  it('shows the server’s state, and its canonical address to search engines', async () => {
    const { id, path } = await list('Open Sea');
    await web.deps.servers.updateOne(
      { _id: id },
      {
        $set: {
          countryCode: 'SE',
          game: 'minecraft',
          rankPosition: 7,
          'current.motd': '§aWelcome §laboard§r, all',
          'current.onlinePlayers': 12,
          'current.maxPlayers': 64,
          'current.version': '1.21.4',
          'current.checkedAt': new Date(),
          'probe.status': 'online',
          'probe.checkedAt': new Date(),
        },
      },
    );
    await setHowToVote(web.deps, id, 'Type /vote.\nSee https://vote.example', 'test');
    const { body, statusCode, headers } = await get(path);
    expect(statusCode).toBe(200);
    const text = textOf(body);
    for (const shown of ['Open Sea', '12 of 64 playing', 'Sweden', 'Minecraft', '1.21.4', 'Type /vote.'])
      expect(text).toContain(shown);
    expect(body).toContain('<span class="mc-a">Welcome </span><span class="mc-a mc-bold">aboard</span>, all');
    expect(body).toContain('href="https://vote.example/" rel="nofollow ugc');
    expect(body).toContain('<link rel="canonical" href="http://localhost:3000/servers/open-sea" />');
    expect(body).toContain(
      'content="Open Sea (Minecraft): 12 of 64 players, rank 7, 0 votes in 30 days. Welcome aboard, all"',
    );
    expect(body).toContain('property="og:image" content="http://localhost:3000/servers/open-sea/card.png"');
    expect(body).not.toContain('noindex');
    expect(headers).toMatchObject({
      'cache-control': expect.stringMatching(/^public, .*stale-while-revalidate/),
      etag: expect.stringMatching(/^W\//),
      vary: expect.stringContaining('cookie'),
    });
    const again = await getPage(web, path, { 'if-none-match': String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('is smaller than 100 KB with a long description, many links and a history in every chart', async () => {
    const { id, path } = await list('Full');
    const now = web.deps.clock.now();
    const days = Array.from({ length: 60 }, (_, i) => dayOf(after(now, -(i + 1) * DAY)));
    const sums = {
      onlineSeconds: 79_999,
      offlineSeconds: 1_234,
      unconfirmedSeconds: 999,
      canarySeconds: 777,
    };
    const figures = { playerSeconds: 9e8, latencySum: 9e6, latencySeconds: 79_999, peakPlayers: 12_345 };
    const both = { probes: { ...sums, ...figures }, reports: { ...sums, ...figures } };
    const stats = days.slice(0, 30).map((day) => ({ _id: new ObjectId(), serverId: id, day, ...both }));
    await web.deps.dailyStats.insertMany(stats);
    const byMonth = Object.entries(Object.groupBy(days, (day) => day.slice(0, 7)));
    const numbers = (of: string[] = [], number = 0) =>
      Object.fromEntries(of.map((day) => [day.slice(8), number]));
    await web.deps.rankSnapshots.insertMany(
      byMonth.map(([month, of]) => ({ _id: new ObjectId(), serverId: id, month, days: numbers(of, 12_345) })),
    );
    const votes = byMonth.map(([month, of]) => ({ serverId: id, month, days: numbers(of, 1_234) }));
    await web.deps.voteCounters.insertMany(votes.map((one) => ({ _id: new ObjectId(), ...one })));
    const samples = Array.from({ length: 96 }, (_, i) =>
      probe(id, after(now, -i * 30 * MINUTE), FULL_SAMPLE),
    );
    await insert(web.deps, samples);
    const link = (_: unknown, i: number) => `[Rule ${i}](https://example.org/${i}/rules-of-our-islands)`;
    const links = Array.from({ length: 160 }, link).join(' ');
    await web.deps.servers.updateOne({ _id: id }, { $set: { 'profile.description': links } });
    const { body } = await get(path);
    expect(body.match(/<figure class="chart-figure/g)).toHaveLength(5);
    expect(body.match(/rules-of-our-islands/g)).toHaveLength(160);
    expect(Buffer.byteLength(body)).toBeLessThan(100_000);
  });

  it('says that players are hidden, and where the chart has a gap', async () => {
    const { id, path } = await list('Discreet');
    const now = web.deps.clock.now();
    await insert(web.deps, [probe(id, after(now, -MINUTE), { onlinePlayers: null })]);
    const answer = { 'probe.status': 'online' as const, 'probe.checkedAt': now, 'probe.succeededAt': now };
    await web.deps.servers.updateOne(
      { _id: id },
      {
        $set: {
          ...answer,
          'current.playersHidden': true,
          'current.maxPlayers': 40,
          'current.checkedAt': now,
        },
      },
    );
    const { body } = await get(path);
    expect(textOf(body)).toContain('Online, players hidden');
    expect(textOf(body)).toContain('The server hides its number of players.');
    expect(body).toContain('content="Discreet: online, players hidden, rank');
    expect(await read(`/dashboard/servers/${id.toHexString()}`, olivia)).toMatch(/–\s+players hidden/);
    expect(await read(`${path}?lang=de`)).toMatch(/Spielerzahl verborgen/);
  });

  it('marks players as reported until the next successful probe', async () => {
    const { id, path } = await list('Boasting');
    const now = web.deps.clock.now();
    const probed = { 'probe.status': 'online', 'probe.checkedAt': now, 'probe.succeededAt': now } as const;
    await web.deps.servers.updateOne({ _id: id }, { $set: probed });
    await reportStatus(web.deps, id, { onlinePlayers: 1_000_000, maxPlayers: 100 });
    const dashboard = `/dashboard/servers/${id.toHexString()}`;
    const { body } = await get(path);
    expect(textOf(body)).toMatch(/1,000,000 of 100 playing\s+reported/);
    expect(body).toContain('content="Boasting: 1,000,000 of 100 players (self-reported), rank');
    expect(await read(dashboard, olivia)).toMatch(/of 100\s+reported/);
    await web.deps.servers.updateOne(
      { _id: id },
      { $set: { 'current.onlinePlayers': 3, 'current.playersSource': 'probes' } },
    );
    expect(await read(dashboard, olivia)).toMatch(/Players\s+3\s+of 100\s+Votes today/);
  });

  it('lists the top voters of this and last month to everybody, without excluded votes', async () => {
    const { id } = await list('Voted For');
    const { id: busy, path: busyPath } = await list('Much Voted For');
    const now = web.deps.clock.now();
    const lastMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0));
    const excluded = { excludedAt: now, excludedBy: [new ObjectId()] };
    await web.deps.votes.insertMany([
      storedVote(busy, '<b>Newest</b>', now),
      storedVote(busy, 'Cheat', now, excluded),
      storedVote(busy, 'Faithful', after(lastMonth, -2 * DAY)),
      storedVote(busy, 'Faithful', after(lastMonth, -DAY), { seq: 2 }),
      storedVote(busy, 'Once', lastMonth),
      storedVote(busy, 'Cheat', lastMonth, { seq: 2, ...excluded }),
      storedVote(id, 'Elsewhere', now),
    ]);
    const { body } = await get(busyPath);
    expect(body).toContain('<bdi>&lt;b&gt;Newest&lt;/b&gt;</bdi>');
    expect(body).not.toContain('Cheat');
    expect(body).not.toContain('Elsewhere');
    expect(textOf(body.slice(body.indexOf('Top voters')))).toMatch(
      /This month[\s\S]*Newest[\s\S]*\s1 vote\s[\s\S]*Last month[\s\S]*Faithful\s+2 votes[\s\S]*Once\s+1 vote\s/,
    );
  });

  it('says since when a server is offline, when it was last online, and that its ownership is proven', async () => {
    const { id, path } = await list('Sunken Quay');
    const shown = async (set: object) => {
      await web.deps.servers.updateOne({ _id: id }, { $set: set });
      const { body } = await getPage(web, path, olivia.headers);
      return textOf(body.slice(body.indexOf('class="ident"'), body.indexOf('class="addr"'))).replace(
        /\s+/g,
        ' ',
      );
    };
    const now = web.deps.clock.now().getTime();
    const probe = { 'probe.checkedAt': new Date(now), 'probe.intervalSeconds': 300 };
    const online = await shown({ ...probe, 'probe.status': 'online', 'probe.succeededAt': new Date(now) });
    expect(online).not.toMatch(/Last seen|Offline since|Ownership proven/);
    const offline = { 'probe.status': 'offline', 'probe.offlineSince': new Date('2026-03-04T05:00:00Z') };
    const seen = { 'probe.succeededAt': new Date('2026-03-04T04:45:00Z') };
    expect(await shown({ ...offline, ...seen })).toMatch(
      /Offline since 4 Mar 2026, 05:00 UTC \(\d+ days ago\)\. Last seen online 4 Mar 2026, 04:45 UTC ?\./,
    );
    expect(await shown({ 'probe.succeededAt': null })).toContain('Not seen online yet.');
    const proof = { method: 'dns', at: new Date(now) };
    expect(await shown({ proof })).toContain('Ownership proven');
    expect(await shown({ 'proof.method': 'operator' })).toContain('Owner confirmed');
  });

  it('is compressed for visitors, and for signed-in users only if no other site can have asked; these get no cached page', async () => {
    const { path } = await list('Small Parcel');
    const accepting = { 'accept-encoding': 'gzip' };
    const stranger = await getPage(web, path, accepting);
    expect(stranger.headers['content-encoding']).toBe('gzip');
    expect(stranger.rawPayload.length).toBeLessThan(15_000);
    const encodingFor = async (headers: Record<string, string>) => {
      const own = await getPage(web, path, { ...accepting, ...olivia.headers, ...headers });
      expect(own.headers['cache-control']).toBe('no-store');
      const body = own.headers['content-encoding'] ? gunzipSync(own.rawPayload).toString() : own.body;
      expect(body).toContain('Sign out');
      return own.headers['content-encoding'];
    };
    const page = { 'sec-fetch-dest': 'document' };
    for (const site of ['same-origin', 'none']) {
      expect(await encodingFor({ ...page, 'sec-fetch-site': site }), site).toBe('gzip');
    }
    for (const site of ['same-site', 'cross-site']) {
      expect(await encodingFor({ ...page, 'sec-fetch-site': site }), site).toBeUndefined();
    }
    // Two cases: a refresh by the script; and a browser that does not say from which site the request comes.
    expect(await encodingFor({ 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' })).toBeUndefined();
    expect(await encodingFor({})).toBeUndefined();
  });

  it('escapes text of users and game servers', async () => {
    const { id, path } = await list(`Hostile ${HOSTILE}`.slice(0, 90));
    await web.deps.servers.updateOne(
      { _id: id },
      { $set: { 'current.motd': `§a${HOSTILE}\n§k§x§f§f§0§0§0§0${HOSTILE}`, 'current.version': HOSTILE } },
    );
    await setHowToVote(web.deps, id, HOSTILE, 'test');
    const review = { serverId: id, username: HOSTILE.slice(0, 50), rating: 1, content: HOSTILE };
    const reviewId = new ObjectId((await writeReview(web.deps, review)).reviewId);
    await moderateReview(web.deps, reviewId, 'approved', 'test');
    await answerReview(web.deps, { serverId: id, reviewId, answer: HOSTILE }, 'test');
    for (const { body } of [await get(path), await get(path, olivia)]) {
      expect(body).not.toMatch(/<script>|<img src=x|onerror=y>(?!&)/);
      // The scripts are theme.js, page.js, vote.js, charts.js, and the data for search engines.
      expect(body.match(/<script/g)?.length).toBe(5);
      expect(body.split('&lt;script&gt;alert(1)&lt;/script&gt;').length).toBeGreaterThan(6);
    }
    for (const image of ['banner', 'badge']) {
      const { body } = await get(`${path}/${image}.svg`);
      expect(body).toContain('&lt;script&gt;');
      expect(body).not.toContain('<script');
    }
  });

  it('shows players over 48 hours, 30 days or all time, with gaps and their reasons', async () => {
    const { id, path } = await list('Drawn');
    const now = web.deps.clock.now().getTime();
    const at = (hoursAgo: number) => new Date(now - hoursAgo * 3_600_000);
    await insert(web.deps, [
      probe(id, at(9), { onlinePlayers: 40 }),
      probe(id, at(6), { status: 'unknown', reason: 'canary', seconds: 3_600 }),
      probe(id, at(3), { status: 'offline', seconds: 3_600 }),
      probe(id, at(0.1), { onlinePlayers: 20 }),
    ]);
    const { body } = await get(path);
    for (const value of [
      '40',
      'offline',
      'unknown: our own network was down',
      'unknown: no checks were made',
    ])
      expect(body).toMatch(new RegExp(`: ${value}$`, 'm'));
    expect(body).toContain('<path class="line lone"');
    expect(body).toContain('<caption class="for-readers">Players: 48 hours</caption>');
    expect((await get(`${path}?players=30d`)).body).toContain('aria-label="Players: 30 days"');
    expect((await get(`${path}?players=all`)).body).toContain(
      'No data yet. The first full day appears tomorrow.',
    );
    // Invalid values are ignored.
    const odd = await get(`${path}?players=__proto__&reviews=-1&x=<b>`);
    expect(odd.statusCode).toBe(200);
    expect(odd.body).toContain('<link rel="canonical" href="http://localhost:3000/servers/drawn" />');
  });

  it('redirects from an earlier slug, capital letters and the id, with images and query', async () => {
    const { id } = await list('Once Called');
    await editServer(web.deps, id, { name: 'Now Called' }, 'test');
    for (const from of ['once-called', 'NOW-CALLED', id.toHexString()]) {
      for (const rest of ['', '?players=30d', '/banner.svg', '/badge.svg']) {
        const { statusCode, headers } = await get(`/servers/${from}${rest}`);
        expect([statusCode, headers.location]).toEqual([301, `/servers/now-called${rest}`]);
        expect(headers['cache-control']).toBe('public, max-age=60');
      }
    }
    await editServer(web.deps, id, { name: 'Once Called' }, 'test');
    expect((await get('/servers/once-called')).statusCode).toBe(200);
  });

  it('is gone for removed servers; of hidden ones only the owner and operators see it', async () => {
    const [hidden, removed] = [await list('Hidden Cove'), await list('Removed Cove')];
    await removeServer(web.deps, removed.id, 'test');
    await hideServer(web.deps, hidden.id, { reason: 'A copy.' }, 'test');
    const operator = await signIn(web, { role: 'operator' });
    for (const rest of ['', '/banner.svg', '/badge.svg']) {
      expect((await get(`${removed.path}${rest}`, olivia)).statusCode).toBe(404);
      expect((await get(`${hidden.path}${rest}`)).statusCode).toBe(404);
    }
    const other = await signIn(web);
    expect((await get(hidden.path, other)).statusCode).toBe(404);
    const sent = await sendForm(
      web,
      `${hidden.path}/review`,
      { rating: '1', username: 'Ada' },
      other.headers,
    );
    expect(sent.statusCode).toBe(404);
    for (const who of [olivia, operator])
      expect(await read(hidden.path, who)).toContain('has hidden this server');
    // Other users do not get the page from the cache.
    expect((await get(hidden.path)).statusCode).toBe(404);
    expect((await get('/servers/..%2f..%2fetc')).statusCode).toBe(404);
    expect((await get('/servers/$where')).statusCode).toBe(404);
  });

  it('says how to join, with a link that opens a Steam game, and shows the owner’s links as they are', async () => {
    const { id, path } = await list('Joined');
    const profile = { website: 'https://joined.example/', video: 'https://video.example/watch?v=1' };
    await web.deps.servers.updateOne(
      { _id: id },
      { $set: { game: 'rust', address: 'play.joined.example', port: 28_015, profile } },
    );
    const { body } = await get(path, olivia);
    expect(body).toContain('href="steam://connect/play.joined.example:28015"');
    expect(textOf(body)).toContain('Enter: client.connect play.joined.example:28015');
    expect(body).toContain('href="https://video.example/watch?v=1" rel="nofollow ugc noopener noreferrer"');
    expect(body).not.toMatch(/<(iframe|video|embed)/);
    await web.deps.servers.updateOne({ _id: id }, { $set: { address: 'a"b' } });
    expect((await get(path, olivia)).body).not.toContain('steam://');
  });

  it('shows similar servers, never the server itself, and reviews before charts', async () => {
    const listed = [await list('Alike One'), await list('Alike Two')];
    await web.deps.servers.updateMany(
      { _id: { $in: listed.map(({ id }) => id) } },
      {
        $set: {
          game: 'openttd',
          'probe.status': 'online',
          'probe.checkedAt': web.deps.clock.now(),
          'probe.succeededAt': web.deps.clock.now(),
        },
      },
    );
    await recomputeRanks(web.deps);
    const { body } = await get('/servers/alike-one', olivia);
    const similar = body.slice(body.indexOf('id="similar"'));
    expect(similar).toContain('href="/servers/alike-two"');
    expect(similar).not.toContain('href="/servers/alike-one"');
    const order = ['key-figures', 'id="reviews"', 'id="your-review"', 'id="players"', 'id="similar"'];
    const places = order.map((part) => body.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(Math.min(...places)).toBeGreaterThan(0);
  });

  it('cuts a long description, with a link to the rest that needs no script', async () => {
    const { id, path } = await list('Wordy');
    const writeDescription = (description: string) =>
      web.deps.servers.updateOne({ _id: id }, { $set: { profile: { description } } });
    await writeDescription('Short.');
    expect((await get(path, olivia)).body).not.toContain('whole-text');
    await writeDescription('Long words. '.repeat(700));
    expect((await get(path, olivia)).body).toContain('href="#whole-text"');
  });

  it('links to the dashboard for its owner and operators only', async () => {
    const { id, path } = await list('With Dashboard');
    const link = `href="/dashboard/servers/${id.toHexString()}"`;
    expect((await get(path, olivia)).body).toContain(link);
    expect((await get(path, await signIn(web, { role: 'operator' }))).body).toContain(link);
    expect((await get(path, await signIn(web))).body).not.toContain(link);
    expect((await get(path)).body).not.toContain(link);
    const overview = await get(`/dashboard/servers/${id.toHexString()}`, olivia);
    expect(overview.body).toContain(`href="${path}"`);
    expect(overview.body).toContain(`[img]http://localhost:3000${path}/banner.svg[/img]`);
  });
});

describe('a review on a server’s page', () => {
  it('leads back to the form after sign-up or sign-in', async () => {
    const { path } = await list('Way Back');
    const form = `${path}/review`;
    const next = encodeURIComponent(form);
    expect((await get(path)).body).toContain(`/sign-up?next=${next}`);
    expect((await get(`/sign-in?next=${next}`)).body).toContain(`/sign-up?next=${next}`);
    const sent = await sendForm(web, form, WORDS);
    expect(sent.headers.location).toBe(`/sign-in?done=not-sent&next=${next}`);
    expect(await read(String(sent.headers.location))).toContain('nothing was saved');
    const joined = { name: 'Ada', email: 'ada-back@example.org', password: 'a long password', next: form };
    expect((await sendForm(web, '/sign-up', joined)).headers.location).toBe(form);
    expect((await get(form)).headers.location).toBe(`${path}?form=open#your-review`);
    const elsewhere = { ...joined, email: 'bob-back@example.org', next: '//elsewhere.example/' };
    expect((await sendForm(web, '/sign-up', elsewhere)).headers.location).toBe('/dashboard');
  });

  it('is written in a form that is open after its address, and no two controls have one name', async () => {
    const { path } = await list('Opened');
    const ada = await signIn(web);
    const formOf = (body: string) =>
      /<details class="confirm" (open)?\s*><summary[^>]*>(Review form)</.exec(body);
    const closed = (await getPage(web, path, ada.headers)).body;
    expect(formOf(closed)?.slice(1)).toEqual([undefined, 'Review form']);
    expect(closed.match(/>Write a review</g)).toHaveLength(1);
    expect(closed).toContain(`href="${path}/review">Write a review<`);
    const open = (await getPage(web, `${path}/review`, ada.headers)).headers.location ?? '';
    expect(formOf((await getPage(web, open, ada.headers)).body)?.slice(1)).toEqual(['open', 'Review form']);
    // Visitors share one cached page, and are led to sign in.
    expect((await get(open)).body).toContain('href="#your-review">Write a review<');
    await send(path, ada, WORDS);
    expect((await getPage(web, path, ada.headers)).body).toContain(`href="${path}/review">Your review<`);
  });

  const send = (path: string, who: SignedInUser, fields: Record<string, string>) =>
    sendForm(web, `${path}/review`, fields, who.headers);
  const WORDS = { rating: '4', username: 'Ada', content: 'Quiet water.' };
  const approve = async (id: ObjectId) => {
    const review = await web.deps.reviews.findOne({ serverId: id, state: 'pending' });
    await moderateReview(web.deps, review?._id ?? new ObjectId(), 'approved', 'test');
  };

  it('is visible only to its author until it is approved, waits again after an edit, and can be deleted', async () => {
    const { id, path } = await list('Reviewed');
    const ada = await signIn(web);
    expect(await read(path)).toContain('Sign in or sign up to write a review.');
    const sent = await send(path, ada, WORDS);
    expect(sent.headers.location).toBe(`${path}?done=review-saved#your-review`);
    const after = await read(`${path}?done=review-saved`, ada);
    expect(after).toContain('Review saved.');
    expect(after).toContain('waiting for approval');
    expect(await read(path, olivia)).not.toContain('Quiet water.');

    await approve(id);
    expect(await read(path, olivia)).toContain('Quiet water.');
    await expect.poll(() => read(path), { timeout: 6_000 }).toContain('Quiet water.');
    expect(await read(path, ada)).toContain('Everyone can see it.');

    await send(path, ada, { ...WORDS, content: 'Rough water.' });
    expect(await read(path, olivia)).not.toMatch(/Quiet|Rough/);
    await approve(id);
    expect(await read(path, olivia)).toMatch(/Rough water/);
    await sendForm(web, `${path}/review/delete`, {}, ada.headers);
    expect(await read(path, olivia)).toContain('No reviews yet.');
    expect(await web.deps.reviews.countDocuments({ serverId: id })).toBe(0);
  });

  it('with errors keeps the entries and stores nothing', async () => {
    const { id, path } = await list('Mistyped');
    const ada = await signIn(web);
    const wrong = await send(path, ada, { rating: '', username: 'Ada <b>', content: 'Typed <i>words</i>' });
    expect(wrong.statusCode).toBe(400);
    expect(wrong.body).toContain('Typed &lt;i&gt;words&lt;/i&gt;</textarea>');
    expect(wrong.body).toContain('value="Ada &lt;b&gt;"');
    expect(textOf(wrong.body)).toContain('a whole number, 1 to 5');
    for (const fields of [
      { rating: '6' },
      { rating: '4.5' },
      { username: ' ' },
      { content: 'x'.repeat(2_001) },
    ])
      expect((await send(path, ada, { ...WORDS, ...fields })).statusCode).toBe(400);
    expect((await send(path, ada, {})).statusCode).toBe(400);
    expect(await web.deps.reviews.countDocuments({ serverId: id })).toBe(0);
  });

  it('is refused for the server’s owner and for suspended users', async () => {
    const { id, path } = await list('Own Praise');
    expect((await send(path, olivia, WORDS)).statusCode).toBe(403);
    expect(await read(path, olivia)).toContain('You cannot review your own server.');
    const ada = await signIn(web);
    await suspendUser(web.deps, ada.userId, { reason: 'Insults.' }, { userId: null, by: 'test' });
    expect((await send(path, ada, WORDS)).headers.location).toMatch(/^\/sign-in/);
    expect(await web.deps.reviews.countDocuments({ serverId: id })).toBe(0);
  });

  it('needs a confirmed address if the listing sends mail', async () => {
    const mailing = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.org' });
    const ada = await signIn(mailing);
    await addOwnedServer(mailing.deps, olivia.userId, { name: 'Mailed' });
    await mailing.deps.users.updateOne({ _id: ada.userId }, { $set: { emailVerified: false } });
    const answer = await sendForm(mailing, '/servers/mailed/review', WORDS, ada.headers);
    expect([answer.statusCode, textOf(answer.body)]).toEqual([
      403,
      expect.stringContaining('Confirm your e-mail address to write a review'),
    ]);
  });

  it('has a rate limit, which shows when the next one is allowed', async () => {
    const { path } = await list('Often');
    const ada = await signIn(web);
    for (let i = 0; i < 10; i++) await send(path, ada, { ...WORDS, content: `${i}` });
    const refused = await send(path, ada, { ...WORDS, content: 'more' });
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
  });

  it('that was rejected says so to its author, without the reason', async () => {
    const { id, path } = await list('Rejected');
    const ada = await signIn(web);
    await send(path, ada, WORDS);
    const review = await web.deps.reviews.findOne({ serverId: id });
    const reason = { reason: 'It names a user.' };
    await moderateReview(web.deps, review?._id ?? new ObjectId(), 'rejected', 'test', reason);
    const page = await read(path, ada);
    expect(page).toContain('not approved');
    expect(page).not.toContain('It names a user.');
  });

  it('can be decided only in the version that the operator saw', async () => {
    const { id, path } = await list('AdminArea');
    const [ada, operator] = [await signIn(web), await signIn(web, { role: 'operator' })];
    await send(path, ada, WORDS);
    const { _id = new ObjectId() } = (await web.deps.reviews.findOne({ serverId: id })) ?? {};
    await send(path, ada, { ...WORDS, content: 'Join mine instead!' });
    const seen = { state: 'approved', seenAs: 'pending', revision: '0' };
    const decided = await sendForm(web, `/operator/reviews/${_id}`, seen, operator.headers);
    expect(decided.headers.location).toContain('done=meanwhile');
    expect(await read(String(decided.headers.location), operator)).toContain(
      'The review has changed since you opened it.',
    );
    expect(await web.deps.reviews.findOne({ _id })).toMatchObject({ state: 'pending' });
  });

  it('three are on the page; all are shown ten to a page, with links to the neighbouring pages', async () => {
    const { id, path } = await list('Paged');
    for (let i = 0; i < 12; i++) {
      const { reviewId } = await writeReview(web.deps, { serverId: id, username: `p${i}`, rating: 3 });
      await moderateReview(web.deps, new ObjectId(reviewId), 'approved', 'test');
    }
    const newest = (await get(path, olivia)).body;
    expect(newest.split('<li id="review-')).toHaveLength(4);
    expect(newest).toContain(`<a href="${path}?reviews=1#reviews">All 12 reviews</a>`);
    const first = (await get(`${path}?reviews=1`, olivia)).body;
    expect(first.split('<li id="review-')).toHaveLength(11);
    expect(first).toContain(`<link rel="canonical" href="http://localhost:3000${path}" />`);
    expect(first).toContain(`href="${path}?reviews=2#reviews" rel="next"`);
    const second = (await get(`${path}?reviews=2`)).body;
    expect(second.split('<li id="review-')).toHaveLength(3);
    expect(second).toContain(`<link rel="canonical" href="http://localhost:3000${path}?reviews=2" />`);
    expect(second).toContain(`<link rel="prev" href="http://localhost:3000${path}" />`);
    const past = (await get(`${path}?reviews=900000`)).body;
    expect(past).toContain('There are no reviews on this page.');
    expect(past).toContain('<meta name="robots" content="noindex" />');
    expect(past).toContain(`href="${path}?reviews=2#reviews"`);
  });
});
