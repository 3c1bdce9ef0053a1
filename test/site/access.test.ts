import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/site/route-access.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { OWN_ORIGIN, openWebApp, type WebApp } from '../support/web-app.ts';

/**
 * The access of each route. A route with another access in the code, or missing in this table, fails the test, so that each
 * change of access is made twice.
 */
const TABLE: Record<string, Access> = {
  'GET /': 'anyone',
  'GET /how-ranking-works': 'anyone',
  'GET /contact': 'anyone',
  'GET /imprint': 'anyone',
  'GET /privacy': 'anyone',
  'GET /terms': 'anyone',
  'GET /robots.txt': 'anyone',
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
  'GET /servers/:slug/badge.svg': 'anyone',
  'GET /servers/:slug/card.png': 'anyone',
  'GET /servers/:slug/widget': 'anyone',
  'GET /servers/:slug/review': 'anyone',
  'POST /servers/:slug/review': 'user',
  'POST /servers/:slug/review/delete': 'user',
  'GET /servers/:slug/report': 'anyone',
  'POST /servers/:slug/report': 'anyone',
  'GET /operator/complaints': 'operator',
  'POST /operator/attention/held': 'operator',
  'POST /operator/attention/held/undo': 'operator',
  'POST /operator/attention/allow-votes': 'operator',
  'POST /operator/attention/held/block': 'operator',
  'POST /operator/attention/leave-votes': 'operator',
  'POST /operator/attention/reviews': 'operator',
  'POST /operator/attention/reports': 'operator',
  'POST /operator/attention/servers': 'operator',
  'POST /operator/attention/hide': 'operator',
  'POST /operator/attention/unhide': 'operator',
  'POST /operator/attention/jobs': 'operator',
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
  'GET /operator/setup': 'operator',
  'POST /operator/setup': 'operator',
  'GET /operator/system': 'operator',
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
  'POST /account/two-factor/begin': 'user',
  'POST /account/two-factor/confirm': 'user',
  'POST /account/two-factor/backup-codes': 'user',
  'POST /account/two-factor/off': 'user',
  'GET /operator/users': 'operator',
  'GET /operator/users/:userId': 'operator',
  'POST /operator/users/:userId/suspend': 'operator',
  'POST /operator/users/:userId/confirm-address': 'operator',
  'POST /operator/users/:userId/lift': 'operator',
  'POST /operator/users/:userId/reset-two-factor': 'operator',
  'POST /operator/users/:userId/make-operator': 'operator',
  'POST /operator/users/:userId/unmake-operator': 'operator',
  'POST /operator/users/:userId/link': 'operator',
  'POST /operator/users/:userId/email': 'operator',
  'GET /dashboard': 'user',
  'GET /dashboard/servers/new': 'user',
  'POST /dashboard/servers/new': 'user',
  'GET /dashboard/drafts/:draftId': 'user',
  'POST /dashboard/drafts/:draftId/check': 'user',
  'POST /dashboard/drafts/:draftId/discard': 'user',
  'GET /dashboard/servers/:serverId': 'owner',
  'GET /dashboard/servers/:serverId/tokens': 'owner',
  'POST /dashboard/servers/:serverId/tokens': 'owner',
  'POST /dashboard/servers/:serverId/tokens/:tokenId/rotate': 'owner',
  'POST /dashboard/servers/:serverId/tokens/:tokenId/revoke': 'owner',
  'GET /dashboard/servers/:serverId/profile': 'owner',
  'POST /dashboard/servers/:serverId/profile': 'owner',
  'POST /dashboard/servers/:serverId/profile/banner': 'owner',
  'POST /dashboard/servers/:serverId/profile/banner/remove': 'owner',
  'GET /dashboard/servers/:serverId/settings': 'owner',
  'POST /dashboard/servers/:serverId/settings': 'owner',
  'POST /dashboard/servers/:serverId/settings/web-votes': 'owner',
  'POST /dashboard/servers/:serverId/settings/bedrock-prefix': 'owner',
  'POST /dashboard/servers/:serverId/settings/proven-id': 'owner',
  'POST /dashboard/servers/:serverId/settings/how-to-vote': 'owner',
  'POST /dashboard/servers/:serverId/settings/discord': 'owner',
  'POST /dashboard/servers/:serverId/settings/discord/kinds': 'owner',
  'POST /dashboard/servers/:serverId/settings/discord/test': 'owner',
  'POST /dashboard/servers/:serverId/settings/discord/remove': 'owner',
  'POST /dashboard/servers/:serverId/settings/place': 'owner',
  'POST /dashboard/servers/:serverId/settings/place/check': 'owner',
  'POST /dashboard/servers/:serverId/settings/place/discard': 'owner',
  'POST /dashboard/servers/:serverId/settings/remove': 'sole-owner',
  'GET /dashboard/servers/:serverId/members': 'owner',
  'POST /dashboard/servers/:serverId/members': 'sole-owner',
  'POST /dashboard/servers/:serverId/members/withdraw': 'sole-owner',
  'POST /dashboard/servers/:serverId/members/:userId/role': 'sole-owner',
  'POST /dashboard/servers/:serverId/members/:userId/remove': 'sole-owner',
  'POST /dashboard/invitations/:serverId/accept': 'user',
  'POST /dashboard/invitations/:serverId/decline': 'user',
  'POST /dashboard/memberships/:serverId/leave': 'user',
  'GET /dashboard/servers/:serverId/statistics': 'owner',
  'GET /dashboard/servers/:serverId/statistics/:table': 'owner',
  'GET /dashboard/servers/:serverId/deliveries': 'owner',
  'GET /dashboard/servers/:serverId/deliveries/:table': 'owner',
  'GET /dashboard/servers/:serverId/reviews': 'owner',
  'POST /dashboard/servers/:serverId/reviews/:reviewId/answer': 'owner',
  'POST /dashboard/servers/:serverId/reviews/:reviewId/remove-answer': 'owner',
  'GET /dashboard/servers/:serverId/listener': 'owner',
  'POST /dashboard/servers/:serverId/listener': 'owner',
  'GET /dashboard/servers/:serverId/connect': 'owner',
  'GET /dashboard/servers/:serverId/connect/key': 'owner',
  'GET /dashboard/servers/:serverId/connect/relay': 'owner',
  'GET /dashboard/servers/:serverId/connect/check': 'owner',
  'POST /dashboard/servers/:serverId/connect/key': 'owner',
  'POST /dashboard/servers/:serverId/connect/relay': 'owner',
  'POST /dashboard/servers/:serverId/connect/check': 'owner',
  'POST /dashboard/servers/:serverId/listener/rewards': 'owner',
  'POST /dashboard/servers/:serverId/listener/send-earlier': 'owner',
  'POST /dashboard/servers/:serverId/listener/pause': 'owner',
  'POST /dashboard/servers/:serverId/listener/resume': 'owner',
  'POST /dashboard/servers/:serverId/listener/remove': 'owner',
  'POST /dashboard/servers/:serverId/listener/rotate': 'owner',
  'GET /dashboard/servers/:serverId/listener/test': 'owner',
  'POST /dashboard/servers/:serverId/listener/test': 'owner',
  'GET /dashboard/servers/:serverId/votes': 'owner',
  'GET /dashboard/servers/:serverId/votes/resend': 'owner',
  'POST /dashboard/servers/:serverId/votes/resend': 'owner',
  'GET /dashboard/servers/:serverId/votes/:voteId': 'owner',
  'POST /dashboard/servers/:serverId/votes/:voteId/resend': 'owner',
  'GET /operator': 'operator',
  'GET /operator/figures': 'operator',
  'GET /operator/figures.csv': 'operator',
  'GET /operator/listeners/:listenerId': 'operator',
  'GET /operator/audit': 'operator',
  'GET /operator/announcement': 'operator',
  'POST /operator/announcement': 'operator',
  'POST /operator/announcement/clear': 'operator',
  'GET /operator/blocks': 'operator',
  'POST /operator/blocks': 'operator',
  'POST /operator/blocks/:blockId/lift': 'operator',
  'GET /operator/settings': 'operator',
  'GET /operator/settings/mail': 'operator',
  'GET /operator/settings/discord': 'operator',
  'GET /operator/settings/openid': 'operator',
  'GET /operator/settings/limits': 'operator',
  'GET /operator/settings/logo': 'operator',
  'GET /operator/settings/undo': 'operator',
  'POST /operator/settings/change/site': 'operator',
  'POST /operator/settings/change/look': 'operator',
  'POST /operator/settings/change/mail': 'operator',
  'POST /operator/settings/change/discord': 'operator',
  'POST /operator/settings/change/openid': 'operator',
  'POST /operator/settings/change/votes': 'operator',
  'POST /operator/settings/change/accounts': 'operator',
  'POST /operator/settings/change/retention': 'operator',
  'POST /operator/settings/preview': 'operator',
  'POST /operator/settings/test/mail': 'operator',
  'POST /operator/settings/test/openid': 'operator',
  'POST /operator/settings/undo': 'operator',
  'POST /operator/settings/logo': 'operator',
  'POST /operator/settings/logo/use': 'operator',
  'GET /operator/settings/pages/contact': 'operator',
  'POST /operator/settings/pages/contact': 'operator',
  'POST /operator/settings/pages/contact/preview': 'operator',
  'GET /operator/settings/pages/imprint': 'operator',
  'POST /operator/settings/pages/imprint': 'operator',
  'POST /operator/settings/pages/imprint/preview': 'operator',
  'GET /operator/settings/pages/privacy': 'operator',
  'POST /operator/settings/pages/privacy': 'operator',
  'POST /operator/settings/pages/privacy/preview': 'operator',
  'GET /operator/settings/pages/terms': 'operator',
  'POST /operator/settings/pages/terms': 'operator',
  'POST /operator/settings/pages/terms/preview': 'operator',
  'GET /operator/tags': 'operator',
  'POST /operator/tags': 'operator',
  'POST /operator/tags/:tag/remove': 'operator',
  'GET /operator/reviews': 'operator',
  'POST /operator/reviews/approve': 'operator',
  'POST /operator/reviews/:reviewId': 'operator',
  'GET /operator/servers': 'operator',
  'GET /operator/servers/:serverId': 'operator',
  'POST /operator/servers/:serverId/allow-votes': 'operator',
  'POST /operator/servers/:serverId/hide': 'operator',
  'POST /operator/servers/:serverId/premium': 'operator',
  'POST /operator/servers/:serverId/profile/remove': 'operator',
  'POST /operator/servers/:serverId/remove': 'operator',
  'POST /operator/servers/:serverId/transfer': 'operator',
  'POST /operator/servers/:serverId/unhide': 'operator',
  'GET /operator/votes': 'operator',
  'GET /operator/votes/exclude': 'operator',
  'POST /operator/votes/exclude': 'operator',
  'GET /operator/votes/exclude-player': 'operator',
  'POST /operator/votes/exclude-player': 'operator',
  'POST /operator/votes/exclusions/players/:groupId/undo': 'operator',
  'GET /operator/votes/:voteId': 'operator',
  'GET /operator/votes/exclusions': 'operator',
  'POST /operator/votes/exclusions/:exclusionId/undo': 'operator',
  'POST /operator/votes/exclusions/:exclusionId/exclude': 'operator',
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
});

test('the table lists every route of the site with its access', () => {
  const found = Object.fromEntries(named().map((route) => [nameOf(route), route.access]));
  expect(found).toEqual(TABLE);
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
  Object.keys(TABLE).filter((name) => TABLE[name] === access && name.startsWith(method));

const KINDS = (['user', 'owner', 'sole-owner', 'operator'] as const).flatMap((access) =>
  (['GET', 'POST'] as const)
    .filter((method) => routesOf(access, method).length > 0)
    .map((method) => ({ access, method })),
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

test('every form is refused when a page of another site sends it', async () => {
  const posts = Object.keys(TABLE).filter((name) => name.startsWith('POST'));
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
