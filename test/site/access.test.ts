import fastify from 'fastify';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { guardRoutes } from '../../src/site/guard-routes.ts';
import type { Access } from '../../src/site/route-access.ts';
import { AREAS } from '../../src/site/site.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { OWN_ORIGIN, openWebApp, type WebApp } from '../support/web-app.ts';

/**
 * The access of each route outside of the areas (`AREAS`). A route with another access in the code, or missing in this
 * table, fails the test, so that each change of access is made twice.
 */
const TABLE: Record<string, Access> = {
  'GET /': 'anyone',
  'GET /how-ranking-works': 'anyone',
  'GET /contact': 'anyone',
  'GET /imprint': 'anyone',
  'GET /privacy': 'anyone',
  'GET /terms': 'anyone',
  'GET /reminders': 'anyone',
  'POST /reminders': 'anyone',
  'POST /reminders/stop': 'anyone',
  'GET /reminders/stop-mail/:token': 'anyone',
  'POST /reminders/stop-mail/:token': 'anyone',
  'GET /robots.txt': 'anyone',
  'GET /time': 'anyone',
  'GET /manifest.webmanifest': 'anyone',
  'GET /app-icon.svg': 'anyone',
  'GET /service-worker.js': 'anyone',
  'GET /offline': 'anyone',
  'GET /downloads/tallyport-relay.jar': 'anyone',
  'GET /language/:language': 'anyone',
  'GET /feed.atom': 'anyone',
  'GET /games/:game/feed.atom': 'anyone',
  'GET /sitemap.xml': 'anyone',
  'GET /sitemaps/:file': 'anyone',
  'GET /games': 'anyone',
  'GET /games/:game': 'anyone',
  'GET /tags': 'anyone',
  'GET /tags/:tag': 'anyone',
  'GET /pictures/:file': 'anyone',
  'GET /servers': 'anyone',
  'GET /servers/random': 'anyone',
  'GET /servers/:slug': 'anyone',
  'GET /servers/:slug/banner.svg': 'anyone',
  'GET /servers/:slug/banner.png': 'anyone',
  'GET /servers/:slug/badge.svg': 'anyone',
  'GET /servers/:slug/card.png': 'anyone',
  'GET /servers/:slug/widget': 'anyone',
  'GET /servers/:slug/review': 'anyone',
  'POST /servers/:slug/review': 'user',
  'POST /servers/:slug/review/delete': 'user',
  'GET /servers/:slug/report': 'anyone',
  'POST /servers/:slug/report': 'anyone',
  'GET /servers/:slug/vote': 'anyone',
  'GET /servers/:slug/vote/:voteId': 'anyone',
  'GET /servers/:slug/vote/reminder.ics': 'anyone',
  'POST /servers/:slug/vote': 'anyone',
  'POST /servers/:slug/vote/challenge': 'anyone',
  'POST /servers/:slug/vote/forget-name': 'user',
  'GET /servers/:slug/vote/steam': 'anyone',
  'GET /servers/:slug/vote/steam/return': 'anyone',
  'POST /servers/:slug/vote/steam/drop': 'anyone',
  'GET /favourites': 'user',
  'GET /favourites/:serverId': 'user',
  'POST /favourites/:serverId': 'anyone',
  'GET /styleguide': 'anyone',
  'GET /setup': 'anyone',
  'POST /setup': 'anyone',
  'POST /setup/operator': 'anyone',
  'GET /sign-in': 'anyone',
  'POST /sign-in': 'anyone',
  'GET /sign-in/code': 'anyone',
  'POST /sign-in/code': 'anyone',
  'GET /sign-up': 'anyone',
  'POST /sign-up': 'anyone',
  'POST /sign-out': 'anyone',
  'GET /forgot-password': 'anyone',
  'POST /forgot-password': 'anyone',
  'GET /set-password': 'anyone',
  'POST /set-password': 'anyone',
  'GET /verify-email': 'anyone',
  'POST /verify-email': 'anyone',
  'POST /sign-in/discord': 'anyone',
  'GET /api/auth/callback/discord': 'anyone',
  'POST /sign-in/oidc': 'anyone',
  'GET /api/auth/callback/oidc': 'anyone',
  'GET /account': 'user',
  'POST /account/name': 'user',
  'POST /account/mail': 'user',
  'POST /account/password': 'user',
  'POST /account/export': 'user',
  'GET /account/reviews': 'user',
  'POST /account/reviews/:reviewId/delete': 'user',
  'GET /account/delete': 'user',
  'POST /account/delete': 'user',
  'POST /account/delete/cancel': 'user',
  'GET /keep-account': 'anyone',
  'POST /keep-account': 'anyone',
  'GET /account/email': 'user',
  'POST /account/email': 'user',
  'POST /account/email/cancel': 'user',
  'GET /confirm-address': 'anyone',
  'POST /confirm-address': 'anyone',
  'POST /account/sites/:siteId/unlink': 'user',
  'POST /account/sessions/:sessionId/end': 'user',
  'POST /account/sessions/end-all': 'user',
  'GET /account/two-factor': 'user',
  'POST /account/vote-reminder': 'user',
  'POST /account/two-factor/begin': 'user',
  'POST /account/two-factor/confirm': 'user',
  'POST /account/two-factor/backup-codes': 'user',
  'POST /account/two-factor/off': 'user',
};

/** The forms of the dashboard that are not for every member with the role `full`. */
const OTHER_FORMS: Record<string, Access> = {
  'POST /dashboard/servers/new': 'user',
  'POST /dashboard/drafts/:draftId/check': 'user',
  'POST /dashboard/drafts/:draftId/discard': 'user',
  'POST /dashboard/invitations/:serverId/accept': 'user',
  'POST /dashboard/invitations/:serverId/decline': 'user',
  'POST /dashboard/memberships/:serverId/leave': 'user',
  'POST /dashboard/servers/:serverId/settings/remove': 'sole-owner',
  'POST /dashboard/servers/:serverId/members': 'sole-owner',
  'POST /dashboard/servers/:serverId/members/withdraw': 'sole-owner',
  'POST /dashboard/servers/:serverId/members/:userId/role': 'sole-owner',
  'POST /dashboard/servers/:serverId/members/:userId/remove': 'sole-owner',
};

/** A signed-in user, or a stranger. Of the server in the routes: its owner, a member with each role, and no member. */
type Reader = 'stranger' | 'owner' | 'full' | 'reader' | 'other' | 'operator' | 'weakOperator';

/** Who may use the routes of an access. Members with the role `read` may only GET. */
const LET: Record<Exclude<Access, 'anyone'>, Record<'GET' | 'POST', Reader[]>> = {
  user: {
    GET: ['owner', 'full', 'reader', 'other', 'operator', 'weakOperator'],
    POST: ['owner', 'full', 'reader', 'other', 'operator', 'weakOperator'],
  },
  owner: { GET: ['owner', 'full', 'reader', 'operator'], POST: ['owner', 'full', 'operator'] },
  'sole-owner': { GET: ['owner', 'operator'], POST: ['owner', 'operator'] },
  operator: { GET: ['operator'], POST: ['operator'] },
};

const READERS: Reader[] = ['stranger', 'owner', 'full', 'reader', 'other', 'operator', 'weakOperator'];

let web: WebApp;
let users: Record<Exclude<Reader, 'stranger'>, SignedInUser>;
let serverId: ObjectId;
/** The access that each route must have. */
const ACCESS: Record<string, Access> = { ...TABLE, ...OTHER_FORMS };
const named = () => web.app.site.routes.filter(({ url, method }) => method !== 'HEAD' && isListed(url));
const isListed = (url: string) => !url.startsWith('/assets/') && !url.startsWith('/operator/queues');
const nameOf = ({ method, url }: { method: string; url: string }) =>
  `${method} ${url.replace(/(.)\/$/, '$1')}`;

beforeAll(async () => {
  web = await openWebApp({
    DISCORD_CLIENT_ID: 'tallyport',
    DISCORD_CLIENT_SECRET: 'a secret of Discord',
    STEAM_SIGN_IN: 'on',
    OIDC_ISSUER: 'https://login.example.org',
    OIDC_CLIENT_ID: 'tallyport',
    OIDC_CLIENT_SECRET: 'a secret of the provider',
  });
  users = {
    owner: await signIn(web),
    full: await signIn(web),
    reader: await signIn(web),
    other: await signIn(web),
    operator: await signIn(web, { role: 'operator' }),
    weakOperator: await signIn(web, { role: 'operator', twoFactor: false }),
  };
  serverId = await addOwnedServer(web.deps, users.owner.userId);
  const member = (role: 'full' | 'read', { userId }: SignedInUser) => ({ userId, role, at: new Date() });
  const members = [member('full', users.full), member('read', users.reader)];
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { members } });
  for (const { path, access, pages } of AREAS)
    for (const page of pages) if (isListed(path + page.path)) ACCESS[`GET ${path}${page.path}`] = access;
  for (const { method, url } of named()) {
    if (method !== 'POST' || OTHER_FORMS[`POST ${url}`]) continue;
    if (url.startsWith('/operator/')) ACCESS[`POST ${url}`] = 'operator';
    if (url.startsWith('/dashboard/servers/:serverId/')) ACCESS[`POST ${url}`] = 'owner';
  }
});

test('the tables list every route of the site with its access', () => {
  const found = Object.fromEntries(named().map((route) => [nameOf(route), route.access]));
  expect(found).toEqual(ACCESS);
});

test('a route with another access than its area says is refused', async () => {
  const app = fastify();
  app.decorate('site', { base: '/listing', routes: [] } as never);
  guardRoutes(app, web.deps, {} as never, AREAS);
  const add = (method: 'get' | 'post', path: string, access: Access) => () =>
    app[method](`/listing${path}`, { config: { access } }, async () => 'x');
  expect(add('get', '/operator/new', 'user')).toThrow('has the access user; its area says operator');
  expect(add('post', '/operator/new', 'anyone')).toThrow('its area says operator');
  expect(add('get', '/dashboard/servers/:serverId/new', 'user')).toThrow('its area says owner');
  expect(add('post', '/dashboard/servers/:serverId/members/new', 'owner')).toThrow('says sole-owner');
  expect(add('post', '/dashboard/servers/:serverId/new', 'owner')).not.toThrow();
  expect(add('get', '/operators', 'anyone')).not.toThrow();
});

test('Bull Board is for operators, and files are for anyone', () => {
  for (const { url, access } of web.app.site.routes) {
    if (url.startsWith('/operator')) expect(access, url).toBe('operator');
    if (url.startsWith('/assets/')) expect(access, url).toBe('anyone');
  }
});

const REFUSALS = [
  /^Sign in at \/sign-in first\.$/,
  /^Set up a second factor at \/account first\.$/,
  /^You have no server with this id\.$/,
  /^Only the owner of this server may do this\.$/,
  /^You may see this server, but not change it\. Its owner/,
  /^There is nothing at this address\.$/,
];

/**
 * Whether a request reached the route, or was refused before it. The body of a form has a type that nothing reads: so
 * no form changes anything.
 */
async function isLet(name: string, who: SignedInUser | null, id = serverId): Promise<boolean> {
  const [method, url = ''] = name.split(' ') as ['GET' | 'POST', string];
  const { statusCode, body } = await web.app.inject({
    method,
    url: url
      .replace(':serverId', id.toHexString())
      .replace(':siteId', 'oidc')
      .replaceAll(/:\w+/g, 'f'.repeat(24)),
    headers: { accept: 'application/json', 'content-type': 'x/unknown', ...OWN_ORIGIN, ...who?.headers },
    ...(method === 'POST' && { payload: 'x' }),
  });
  if (statusCode === 415) return true;
  const isRefused =
    [401, 403, 404].includes(statusCode) && REFUSALS.some((one) => one.test(JSON.parse(body).error));
  if (method === 'POST') expect(isRefused, `${name}: ${statusCode} ${body}`).toBe(true);
  return !isRefused;
}

/** Of the readers, those that are let to a route. */
async function letTo(name: string, readers: Reader[]): Promise<Reader[]> {
  const found: Reader[] = [];
  for (const reader of readers)
    if (await isLet(name, reader === 'stranger' ? null : users[reader])) found.push(reader);
  return found;
}

/** The routes of an access, with the method. */
const routesOf = (access: Access, method: string) =>
  Object.keys(ACCESS).filter((name) => ACCESS[name] === access && name.startsWith(method));

const KINDS = (['user', 'owner', 'sole-owner', 'operator'] as const).flatMap((access) =>
  (access === 'sole-owner' ? (['POST'] as const) : (['GET', 'POST'] as const)).map((method) => ({
    access,
    method,
  })),
);

describe.each(KINDS)('$method requests with the access $access', ({ access, method }) => {
  const expected = LET[access][method];

  test('are let from the users of this access only', async () => {
    const [route = ''] = routesOf(access, method);
    expect(await letTo(route, READERS)).toEqual(READERS.filter((one) => expected.includes(one)));
    if (!route.includes(':serverId')) return;
    expect(await isLet(route, users.operator, new ObjectId())).toBe(false);
  });

  test('are so on every route', async () => {
    // Of those who are let: the one with the least rights. Of the others: strangers, and one who is signed in.
    const least = {
      user: 'other',
      owner: method === 'GET' ? 'reader' : 'full',
      'sole-owner': 'owner',
      operator: 'operator',
    } as const;
    const most = { user: [], owner: ['other'], 'sole-owner': ['full'], operator: ['owner'] } as const;
    const readers: Reader[] = ['stranger', ...most[access], least[access]];
    const found: Record<string, Reader[]> = {};
    for (const route of routesOf(access, method)) found[route] = await letTo(route, readers);
    expect(found).toEqual(
      Object.fromEntries(routesOf(access, method).map((route) => [route, [least[access]]])),
    );
  });
});

test('every form is refused when a page of another site sends it, but the one that mailboxes send', async () => {
  const oneClick = 'POST /reminders/stop-mail/:token';
  const posts = Object.keys(ACCESS).filter((name) => name.startsWith('POST') && name !== oneClick);
  const statuses: Record<string, number> = {};
  for (const name of posts) {
    const answer = await web.app.inject({
      method: 'POST',
      url: name.slice(5).replaceAll(/:\w+/g, serverId.toHexString()),
      headers: {
        origin: 'https://elsewhere.example',
        'sec-fetch-site': 'cross-site',
        ...users.owner.headers,
      },
    });
    statuses[name] = answer.statusCode;
  }
  expect(statuses).toEqual(Object.fromEntries(posts.map((name) => [name, 403])));
});

test('an ended session, a forged session and no session have no access', async () => {
  const { headers } = await signIn(web);
  expect(await isLet('GET /dashboard', { headers } as SignedInUser)).toBe(true);
  const forged = { cookie: headers.cookie.replace(/.{6}$/, 'AAAAAA') };
  expect(await isLet('GET /dashboard', { headers: forged } as SignedInUser)).toBe(false);
  const out = await web.app.inject({
    method: 'POST',
    url: '/sign-out',
    headers: { ...OWN_ORIGIN, ...headers },
  });
  expect(out.statusCode).toBe(303);
  expect(await isLet('GET /dashboard', { headers } as SignedInUser)).toBe(false);
});
