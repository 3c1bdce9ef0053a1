import type { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { editServer } from '../../src/servers/listed-servers.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { postVoteForm, voteOnPage } from '../support/vote-form.ts';
import { getPage, OWN_ORIGIN, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let serverId: ObjectId;
let headers: Record<string, string>;
/** Other addresses of one server, by kind. */
let addresses: Record<'id' | 'capitals' | 'earlier slug', string>;

beforeAll(async () => {
  web = await openWebApp();
  const owner = await signIn(web);
  ({ headers } = owner);
  serverId = await addOwnedServer(web.deps, owner.userId, { name: 'Before' });
  await editServer(web.deps, serverId, { name: 'After' }, 'test');
  addresses = { id: serverId.toHexString(), capitals: 'AFTER', 'earlier slug': 'before' };
});

const KINDS = ['id', 'capitals', 'earlier slug'] as const;

it.each(KINDS)('a vote form that was opened at the server’s %s still casts a vote', async (kind) => {
  const username = `Player of the ${kind}`;
  const address = `203.0.${KINDS.indexOf(kind)}.7`;
  const answer = await voteOnPage(web, addresses[kind], username, { address });
  expect(answer.statusCode).toBe(303);
  const vote = await web.deps.votes.findOne({ serverId, username });
  expect(answer.headers.location).toBe(`/servers/after/vote/${vote?._id.toString()}`);
  const refused = await postVoteForm(web, `${addresses[kind]}/vote`, { username: '' }, { address });
  expect(refused.statusCode).toBe(400);
});

it.each(KINDS)('a report that was begun at the server’s %s is stored', async (kind) => {
  const fields = { kind: 'scam', text: `At the ${kind}` };
  const answer = await sendForm(web, `/servers/${addresses[kind]}/report`, fields);
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/servers/after/report?done=sent']);
  expect(await web.deps.complaints.countDocuments({ serverId, text: fields.text })).toBe(1);
});

it.each(KINDS)('no page or form of a server fails at its %s', async (kind) => {
  const routes = web.app.site.routes.filter(({ url }) => url.includes(':slug'));
  expect(routes.length).toBeGreaterThan(12);
  for (const { method, url } of routes) {
    const path = url.replace(':slug', addresses[kind]).replace(':voteId', 'none');
    const answer = await web.app.inject({
      method: method as 'GET' | 'POST',
      url: path,
      headers: {
        accept: 'text/html',
        ...OWN_ORIGIN,
        ...headers,
        ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
    });
    expect(answer.statusCode, `${method} ${path}`).toBeLessThan(500);
  }
});

it('a page at another address leads to the current one', async () => {
  for (const address of Object.values(addresses)) {
    const answer = await getPage(web, `/servers/${address}/vote?username=Steve`);
    expect([answer.statusCode, answer.headers.location]).toEqual([301, '/servers/after/vote?username=Steve']);
  }
});

it('HEAD finishes no sign-in at another site', async () => {
  const { app } = await openWebApp({ DISCORD_CLIENT_ID: 'id', DISCORD_CLIENT_SECRET: 'secret' });
  const answer = await app.inject({ method: 'HEAD', url: '/api/auth/callback/discord?code=a&state=b' });
  expect(answer.statusCode).toBe(405);
});
