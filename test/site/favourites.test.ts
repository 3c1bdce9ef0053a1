import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { MOST_FAVOURITES } from '../../src/favourites/favourite-list.ts';
import {
  addFavourite,
  favouriteIds,
  forgetUsername,
  listFavourites,
  noteUsername,
} from '../../src/favourites/favourites.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';
import { cookiesOf } from './account-pages.ts';

let web: WebApp;
let alpha: ObjectId;
let beta: ObjectId;

beforeAll(async () => {
  web = await openWebApp();
  const add = (name: string, address: string) =>
    addOwnedServer(web.deps, new ObjectId(), { name, address, game: 'minecraft' });
  alpha = await add('Alpha Craft', 'alpha.example.org');
  beta = await add('Beta <Craft>', 'beta.example.org');
  await recomputeRanks(web.deps);
});

const mark = ({ headers }: SignedInUser, serverId: ObjectId | string, favourite = 'yes', next = '') =>
  sendForm(web, `/favourites/${serverId}`, { favourite, next }, headers);
const idsOf = async ({ userId }: SignedInUser) => [...(await favouriteIds(web.deps, userId))];
const pathOf = async (_id: ObjectId) => `/servers/${(await web.deps.servers.findOne({ _id }))?.slug}`;

test('a star in the ranking, the search and on a server’s page adds and removes a favourite', async () => {
  const user = await signIn(web);
  const pages = ['/', '/?q=alpha', await pathOf(alpha)];
  for (const path of pages) {
    const { body } = await getPage(web, path, user.headers);
    expect(body, path).toContain(
      `formaction="/favourites/${alpha.toHexString()}" name="favourite" value="yes"`,
    );
  }
  expect((await mark(user, alpha, 'yes', '/?q=alpha')).headers.location).toBe('/?q=alpha#star-alpha-craft');
  for (const path of pages) {
    const { body } = await getPage(web, path, user.headers);
    expect(body, path).toContain(
      `formaction="/favourites/${alpha.toHexString()}" name="favourite" value="no"`,
    );
  }
  await mark(user, beta);
  const list = await getPage(web, '/favourites', user.headers);
  expect(textOf(list.body)).toMatch(/Beta &lt;Craft&gt;.*Alpha Craft/);
  expect((await mark(user, alpha, 'no', '/favourites')).headers.location).toBe('/favourites');
  expect(await idsOf(user)).toEqual([beta.toHexString()]);
  expect(await idsOf(await signIn(web))).toEqual([]);
});

test('“Due now” on the home page lists the favourites for which the user’s player may vote, without a query for visitors', async () => {
  const user = await signIn(web);
  const due = async (headers = {}) => {
    const { body } = await getPage(web, '/', headers);
    const list = /<section class="due-now"[\s\S]*?<\/section>/.exec(body)?.[0] ?? '';
    return [...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  };
  for (const id of [beta, alpha]) await addFavourite(web.deps, user.userId, id);
  expect(await due(user.headers)).toEqual([]);
  await noteUsername(web.deps, user.userId, 'Dora');
  await castVote(web.deps, { serverId: beta, username: 'Dora', tokenId: null });
  expect(await due(user.headers)).toEqual([`${await pathOf(alpha)}/vote?username=Dora`]);
  expect(await due()).toEqual([]);
  await web.deps.votes.deleteMany({ serverId: beta });
  await forgetUsername(web.deps, user.userId);
});

test('visitors share pages with stars: each list has one for every server, whatever their cookies', async () => {
  for (const path of ['/', '/games/minecraft', '/?q=alpha', await pathOf(alpha)]) {
    const { body, headers } = await getPage(web, path);
    expect(body, path).toContain(
      `formaction="/favourites/${alpha.toHexString()}" name="favourite" value="yes"`,
    );
    if (!path.includes('?q=')) expect(headers['cache-control'], path).toMatch(/^public/);
    const waiting = { cookie: `tallyport.favourite=${alpha.toHexString()}` };
    expect((await getPage(web, path, waiting)).body, path).toBe(body);
  }
});

test('the star of a visitor is set after signing in, in the browser in which it was pressed', async () => {
  const { email, userId } = await signIn(web);
  const next = `/favourites/${alpha.toHexString()}`;
  const pressed = await sendForm(web, next, { favourite: 'yes', next: '/' });
  expect(pressed.headers.location).toBe(`/sign-up?next=${encodeURIComponent(next)}`);
  expect(pressed.cookies).toMatchObject([
    { name: 'tallyport.favourite', path: '/favourites', httpOnly: true, sameSite: 'Lax', maxAge: 86_400 },
  ]);
  expect((await getPage(web, String(pressed.headers.location))).body).toContain(`/sign-in?next=`);
  const signedIn = await sendForm(web, '/sign-in', { email, password: PASSWORD, next });
  expect(signedIn.headers.location).toBe(next);

  const cookie = [cookiesOf(signedIn), cookiesOf(pressed)].map((one) => one.cookie).join('; ');
  const added = await getPage(web, next, { cookie });
  expect(added).toMatchObject({ statusCode: 303, headers: { location: '/favourites?done=added' } });
  expect(added.cookies).toMatchObject([{ name: 'tallyport.favourite', value: '', maxAge: 0 }]);
  expect(await favouriteIds(web.deps, userId)).toEqual(new Set([alpha.toHexString()]));
  const list = await getPage(web, '/favourites?done=added', cookiesOf(signedIn));
  expect(list.body).toContain('The server is now among your favourites.');
});

test('opening the address of a star changes nothing: a button asks, in another browser and for another server', async () => {
  const user = await signIn(web);
  const pressed = await sendForm(web, `/favourites/${alpha.toHexString()}`, { favourite: 'yes', next: '' });
  const other = { cookie: `${user.headers.cookie}; ${cookiesOf(pressed).cookie}` };
  for (const headers of [user.headers, other]) {
    const page = await getPage(web, `/favourites/${beta.toHexString()}`, headers);
    expect(page.statusCode).toBe(200);
    expect(textOf(page.body)).toContain('Add to your favourites Beta &lt;Craft&gt;');
  }
  expect(await idsOf(user)).toEqual([]);
  const visitor = await getPage(web, `/favourites/${beta.toHexString()}`);
  expect(visitor.headers.location).toBe(`/sign-in?next=%2Ffavourites%2F${beta.toHexString()}`);
  const gone = await sendForm(web, `/favourites/${alpha.toHexString()}`, { favourite: 'no', next: '' });
  expect(gone).toMatchObject({
    cookies: [],
    headers: { location: '/sign-in?done=not-sent&next=%2Ffavourites' },
  });
  for (const id of [new ObjectId().toHexString(), 'x'])
    expect((await getPage(web, `/favourites/${id}`, user.headers)).statusCode).toBe(404);
});

test.each([
  '//elsewhere.example',
  'https://elsewhere.example/',
  'javascript:alert(1)',
])('a star never leads to another site: %s', async (next) => {
  const user = await signIn(web);
  expect((await mark(user, alpha, 'yes', next)).headers.location).toMatch(/^\/servers\/alpha-craft#/);
  expect((await mark(user, alpha, 'no', next)).headers.location).toBe('/favourites');
});

test('a server that is hidden, removed or unknown cannot be added, and can be taken off the list', async () => {
  const user = await signIn(web);
  const gone = await addOwnedServer(web.deps, new ObjectId(), {
    name: 'Gone',
    address: 'gone.example.org',
  });
  await mark(user, gone);
  await web.deps.servers.updateOne({ _id: gone }, { $set: { hiddenAt: new Date() } });
  const page = await getPage(web, '/favourites', user.headers);
  expect(textOf(page.body)).toContain('A server that was removed or hidden');
  expect(page.body).not.toContain('Gone');
  expect((await mark(user, gone, 'no')).statusCode).toBe(303);
  expect(await idsOf(user)).toEqual([]);
  for (const id of [gone, new ObjectId(), 'x', 'f'.repeat(500)]) {
    expect((await mark(user, id)).statusCode).toBe(404);
  }
  expect((await mark(user, alpha, 'perhaps')).statusCode).toBe(400);
});

test('the same star twice at once counts once, and the limit holds in a race', async () => {
  const user = await signIn(web);
  await Promise.all(Array.from({ length: 5 }, () => mark(user, alpha)));
  expect(await idsOf(user)).toEqual([alpha.toHexString()]);
  const entries = Array.from({ length: MOST_FAVOURITES - 3 }, () => ({
    serverId: new ObjectId(),
    at: new Date(),
  }));
  await web.deps.favourites.updateOne({ _id: user.userId }, { $push: { entries: { $each: entries } } });
  const more = Array.from({ length: 6 }, () => addFavourite(web.deps, user.userId, new ObjectId()));
  expect((await Promise.all(more)).filter(Boolean)).toHaveLength(2);
  expect(await idsOf(user)).toHaveLength(MOST_FAVOURITES);
  const full = await mark(user, beta);
  expect(full.statusCode).toBe(409);
  expect(full.body).toContain('200 favourites');
  expect((await mark(user, alpha)).statusCode).toBe(303);
  const page = await getPage(web, '/favourites?page=4', user.headers);
  expect(page.body).toContain('page=3');
  expect(page.body).not.toContain('page=5');
  expect(Buffer.byteLength(page.body)).toBeLessThan(100_000);
});

test('the list shows when the player of the user’s last vote may vote next', async () => {
  const user = await signIn(web, { days: 8 });
  await mark(user, alpha);
  await mark(user, beta);
  const show = async () => textOf((await getPage(web, '/favourites', user.headers)).body);
  expect(await show()).toContain('After your first vote');
  const vote = (username: string) => sendForm(web, '/servers/alpha-craft/vote', { username }, user.headers);
  expect((await vote('Steve')).statusCode).toBe(303);
  const list = (hours: number) => {
    const clock = { now: () => after(new Date(), hours * HOUR) };
    return listFavourites({ ...web.deps, clock }, user.userId, { page: 1, limit: 10 });
  };
  const { rows, username } = await list(0);
  const voted = await web.deps.votes.findOne({ serverId: alpha, username: 'Steve' });
  expect(username).toBe('Steve');
  expect(rows.map(({ nextVoteAt }) => nextVoteAt)).toEqual([null, after(voted?.votedAt ?? new Date(0), DAY)]);
  expect((await list(25)).rows.map(({ nextVoteAt }) => nextVoteAt)).toEqual([null, null]);
  expect(await show()).toContain('The times are for Steve');
  expect((await getPage(web, '/favourites', user.headers)).body).toContain('/vote?username=Steve');
  // The name of a refused vote is stored with the favourites too. Other users' names do not change.
  expect((await vote('STEVE')).statusCode).toBe(429);
  expect((await list(0)).username).toBe('STEVE');
  expect(await web.deps.favourites.countDocuments({ username: { $exists: true } })).toBe(1);
});

test('a name is offered only where the game has such names', async () => {
  const user = await signIn(web, { days: 8 });
  const rust = await addOwnedServer(web.deps, new ObjectId(), {
    name: 'Rusty',
    address: 'rust.example.org',
    game: 'rust',
  });
  for (const id of [alpha, beta, rust]) await mark(user, id);
  const vote = (slug: string, username: string) =>
    sendForm(web, `/servers/${slug}/vote`, { username }, user.headers);
  const linksOf = async (path: string) => {
    const { body } = await getPage(web, path, user.headers);
    return [...body.matchAll(/class="button vote" href="([^"]+)"/g)].map(([, link]) => link);
  };
  expect((await vote('rusty', '76561197960287930')).statusCode).toBe(303);
  expect(await linksOf('/favourites')).toEqual(['/servers/beta-craft/vote', '/servers/alpha-craft/vote']);
  const { body } = await getPage(web, '/servers/beta-craft/vote', user.headers);
  expect(body).not.toContain('76561197960287930');
  const sent = await vote('beta-craft', 'Alex');
  const links = await linksOf(String(sent.headers.location));
  expect(links).toContain('/servers/alpha-craft/vote?username=Alex');
  expect(links).toContain('/servers/rusty/vote');
});

test('“Not Steve?” of a user forgets the name in the account, without a script', async () => {
  const user = await signIn(web, { days: 8 });
  const path = '/servers/beta-craft/vote';
  expect((await sendForm(web, path, { username: 'Wrong_Name' }, user.headers)).statusCode).toBe(303);
  for (const page of ['/servers/alpha-craft', '/servers/alpha-craft/vote']) {
    const { body } = await getPage(web, page, user.headers);
    expect(body, page).toMatch(/<button type="submit" form="forget-name"[^>]*>Not <bdi>Wrong_Name<\/bdi>\?</);
    expect(body, page).toContain('id="forget-name" action="/servers/alpha-craft/vote/forget-name"');
  }
  const forgotten = await sendForm(web, '/servers/alpha-craft/vote/forget-name', {}, user.headers);
  expect(forgotten.headers.location).toBe('/servers/alpha-craft/vote?username=');
  const { body } = await getPage(web, '/servers/alpha-craft/vote', user.headers);
  expect(body).not.toContain('Wrong_Name');
  expect(await web.deps.favourites.findOne({ _id: user.userId })).not.toHaveProperty('username');
  const visitor = await sendForm(web, '/servers/alpha-craft/vote/forget-name', {});
  expect(visitor.headers.location).toMatch(/^\/sign-in/);
});

test('the forms to sign up and in name the server whose star a visitor pressed', async () => {
  const sent = await sendForm(web, `/favourites/${beta}`, { favourite: 'yes', next: '/' });
  const signUp = String(sent.headers.location);
  const sentence = 'With an account, Beta &lt;Craft&gt; is among your favourites';
  for (const path of [signUp, signUp.replace('/sign-up', '/sign-in')])
    expect(textOf((await getPage(web, path)).body), path).toContain(sentence);
  // Without a listed server: what favourites are for.
  for (const id of [new ObjectId().toHexString(), 'x', ''])
    expect(textOf((await getPage(web, `/sign-up?next=/favourites/${id}`)).body)).toContain(
      'With an account, your favourites are on one page',
    );
});
