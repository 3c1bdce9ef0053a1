import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SignInSession } from '../../src/accounts/user.ts';
import type { Access } from '../../src/site/route-access.ts';
import { askerWith } from '../support/answering.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { CHEAP_PASSWORDS, OWN_ORIGIN, openWebAppOn, type WebApp } from '../support/web-app.ts';

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
  'POST /operator/attention/held/block': 'operator',
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

let web: WebApp;
let users: Record<'owner' | 'full' | 'reader' | 'other' | 'operator' | 'weakOperator', SignedInUser>;
let serverId: ObjectId;
let sessions: SignInSession[];
const named = () => web.app.site.routes.filter(({ url, method }) => method !== 'HEAD' && isListed(url));
const isListed = (url: string) => !url.startsWith('/assets/') && !url.startsWith('/operator/queues');
const nameOf = ({ method, url }: { method: string; url: string }) =>
  `${method} ${url.replace(/(.)\/$/, '$1')}`;

beforeAll(async () => {
  const deps = await testDeps({
    DISCORD_CLIENT_ID: 'tallyport',
    DISCORD_CLIENT_SECRET: 'a secret of Discord',
    STEAM_SIGN_IN: 'on',
    OIDC_ISSUER: 'https://login.example.org',
    OIDC_CLIENT_ID: 'tallyport',
    OIDC_CLIENT_SECRET: 'a secret of the provider',
  });
  // There is no worker, so requests for one must give up soon.
  const answers = askerWith(deps, { beginMs: 100 });
  web = await openWebAppOn({ ...deps, answers, passwords: CHEAP_PASSWORDS });
  users = {
    owner: await signIn(web),
    full: await signIn(web),
    reader: await signIn(web),
    other: await signIn(web),
    operator: await signIn(web, { role: 'operator' }),
    weakOperator: await signIn(web, { role: 'operator', twoFactor: false }),
  };
  serverId = await addOwnedServer(web.deps, users.owner.userId);
  await listWithMembers();
  sessions = await web.deps.sessions.find().toArray();
});

/** Whether a form was posted since sessions and server were last reset. */
let isChanged = false;

// Some forms end sessions, so the sessions are restored after each test.
afterEach(async () => {
  if (!isChanged) return;
  await web.deps.sessions.bulkWrite(
    sessions.map(({ _id, ...rest }) => ({
      replaceOne: { filter: { _id }, replacement: rest, upsert: true },
    })),
  );
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

/** With a second factor, this form redirects before it checks anything. */
const ONLY_WITHOUT_FACTOR = 'POST /account/two-factor/confirm';

/** Resets the server and its two members, because some forms remove them. */
async function listWithMembers(): Promise<void> {
  const members = [
    { userId: users.full.userId, role: 'full', at: new Date() } as const,
    { userId: users.reader.userId, role: 'read', at: new Date() } as const,
  ];
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { removedAt: null, members } });
}

/** Whether a request reached the route, or was refused before it. */
async function isLet(method: string, url: string, who: SignedInUser | null, id = serverId): Promise<boolean> {
  if (isChanged) await listWithMembers();
  isChanged = method === 'POST';
  const path = url
    .replace(':serverId', id.toHexString())
    .replace(':siteId', 'oidc')
    .replaceAll(/:\w+/g, 'f'.repeat(24));
  const answer = await web.app.inject({
    method: method as 'GET',
    url: path,
    headers: { accept: 'text/html', ...OWN_ORIGIN, ...who?.headers },
  });
  const location = String(answer.headers.location ?? '');
  return !(
    /^\/sign-in(\?(done=not-sent&?)?(next=|$)|$)/.test(location) ||
    location === '/account/two-factor' ||
    answer.body.includes('You have no server with this id.') ||
    answer.body.includes('Only the owner of this server may do this.') ||
    answer.body.includes('You may see this server, but not change it. Its owner') ||
    answer.body.includes('This page does not exist.')
  );
}

describe.each(Object.entries(TABLE).filter(([, access]) => access !== 'anyone'))('%s', (name, access) => {
  const [method = '', url = ''] = name.split(' ');

  test(`is accessible for ${access} only`, async () => {
    const { owner, other, operator, weakOperator, full, reader } = users;
    const by = {
      stranger: await isLet(method, url, null),
      owner: await isLet(method, url, owner),
      other: await isLet(method, url, other),
      operator: await isLet(method, url, operator),
      weakOperator: await isLet(method, url, weakOperator),
    };
    const expected = {
      user: { stranger: false, owner: true, other: true, operator: true, weakOperator: true },
      owner: { stranger: false, owner: true, other: false, operator: true, weakOperator: false },
      'sole-owner': { stranger: false, owner: true, other: false, operator: true, weakOperator: false },
      operator: { stranger: false, owner: false, other: false, operator: true, weakOperator: false },
      anyone: {},
    }[access];
    expect(by).toEqual(name === ONLY_WITHOUT_FACTOR ? { ...expected, operator: false } : expected);
    if (access !== 'owner' && access !== 'sole-owner') return;
    expect(await isLet(method, url, operator, new ObjectId())).toBe(false);
    expect(await isLet(method, url, full)).toBe(access === 'owner');
    expect(await isLet(method, url, reader)).toBe(access === 'owner' && method === 'GET');
  });
});

test.each(
  Object.keys(TABLE).filter((name) => name.startsWith('POST')),
)('%s is refused when a page of another site sends it', async (name) => {
  const url = name.slice(5).replaceAll(/:\w+/g, serverId.toHexString());
  for (const headers of [
    { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    {},
  ]) {
    const answer = await web.app.inject({
      method: 'POST',
      url,
      headers: { ...headers, ...users.owner.headers } as Record<string, string>,
    });
    expect(answer.statusCode, JSON.stringify(headers)).toBe(403);
  }
});

test('an ended session, a forged session and no session have no access', async () => {
  const { headers } = await signIn(web);
  expect(await isLet('GET', '/dashboard', { headers } as SignedInUser)).toBe(true);
  const forged = { cookie: headers.cookie.replace(/.{6}$/, 'AAAAAA') };
  expect(await isLet('GET', '/dashboard', { headers: forged } as SignedInUser)).toBe(false);
  const out = await web.app.inject({
    method: 'POST',
    url: '/sign-out',
    headers: { ...OWN_ORIGIN, ...headers },
  });
  expect(out.statusCode).toBe(303);
  expect(await isLet('GET', '/dashboard', { headers } as SignedInUser)).toBe(false);
});
