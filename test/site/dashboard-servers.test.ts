import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { HOUR } from '../../src/platform/clock.ts';
import { startAnswering } from '../support/answering.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;

beforeAll(async () => {
  web = await openWebApp({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  startAnswering(web.deps);
});
// Reset the limit of manual checks, which each user has.
beforeEach(async () => {
  olivia = await signIn(web);
});

async function gameServer(): Promise<JavaServer> {
  const game = new JavaServer();
  await game.start();
  onTestFinished(() => game.stop());
  return game;
}

const form = (fields: Record<string, string> = {}) => ({
  name: 'Alpha Craft',
  address: '127.0.0.1',
  port: '25565',
  game: 'Minecraft',
  queryPort: '',
  countryCode: '',
  ...fields,
});
const post = (path: string, fields: Record<string, string> = {}, who = olivia) =>
  sendForm(web, path, fields, who.headers);
const get = (path: string, who = olivia) => getPage(web, path, who.headers);
const locationOf = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers.location).replace(/#.*/, '');

describe('the list of a user’s servers', () => {
  it('says that there are none, but not beside a draft', async () => {
    expect(textOf((await get('/dashboard')).body)).toContain('You have no servers yet.');
    const game = await gameServer();
    await post('/dashboard/servers/new', form({ port: String(game.port) }));
    const body = textOf((await get('/dashboard')).body);
    expect(body).toContain('Not listed yet');
    expect(body).not.toContain('You have no servers yet.');
  });

  it.each([
    ['with mail', { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' }, true],
    ['without mail', {}, false],
  ])('on a listing %s tells a user with an unconfirmed address about invitations: %s', async (_, env, isTold) => {
    const other = await openWebApp(env);
    const user = await signIn(other);
    await other.deps.users.updateOne({ _id: user.userId }, { $set: { emailVerified: false } });
    const body = textOf((await getPage(other, '/dashboard', user.headers)).body);
    expect(body.includes('invitations to servers are not shown')).toBe(isTold);
  });
});

describe('adding a server', () => {
  it('shows the server’s answer, asks for verification, and lists the server when the code is found', async () => {
    const game = await gameServer();
    game.said = { motd: '§aA <b>quiet</b>\n§7place', version: 'Paper', online: 12, max: 64 };
    const added = await post('/dashboard/servers/new', form({ port: String(game.port), countryCode: 'SE' }));
    expect(added.statusCode).toBe(303);
    const path = locationOf(added);
    const draft = (await get(path)).body;
    expect(draft).toMatch(/Server reached: 12 of 64 players, \d+ ms/);
    expect(draft).toContain('A &lt;b&gt;quiet&lt;/b&gt;\nplace</pre>');
    const code = /<code>(tp-\w{10})<\/code>/.exec(draft)?.[1] ?? '';
    expect((await get('/dashboard')).body).toContain('reached, not verified');

    game.said.motd = code;
    const proved = await post(`${path}/check`);
    expect(locationOf(proved)).toMatch(/^\/dashboard\/servers\/[0-9a-f]{24}\?done=listed$/);
    const overview = await get(locationOf(proved));
    expect(overview.body).toContain('Server listed.');
    expect(textOf(overview.body)).toMatch(/Ready for players: 1 of 5 steps .* Set up the vote listener/);
    // The page shows what the check has just found.
    expect(textOf(overview.body)).toMatch(
      /online .* Players 12 of 64 .* Version Paper Last checked just now/,
    );
    // If the form is sent again from the browser's history: it leads to the same server.
    expect(locationOf(await post(`${path}/check`))).toBe(locationOf(proved));
    // The draft's page redirects to the server too. Other users get 404.
    expect(locationOf(await get(path))).toBe(locationOf(proved).replace('?done=listed', ''));
    expect((await get(path, await signIn(web))).statusCode).toBe(404);
  });

  it('accepts a pasted port with spaces around it', async () => {
    const { body } = await get('/dashboard/servers/new');
    const room = [...body.matchAll(/name="(?:port|queryPort)"[^>]*maxlength="(\d+)"/g)].map(([, n]) =>
      Number(n),
    );
    expect(room).toHaveLength(2);
    expect(Math.min(...room)).toBeGreaterThan(' 25565 '.length);
    const game = await gameServer();
    const path = locationOf(await post('/dashboard/servers/new', form({ port: ` ${game.port} ` })));
    expect((await get(path)).body).toContain('Server reached: 3 of 20 players');
  });

  it('shows why the server was not reached, and lets the owner edit or discard the draft', async () => {
    const game = await gameServer();
    await game.stop();
    const path = locationOf(await post('/dashboard/servers/new', form({ port: String(game.port) })));
    expect((await get(path)).body).toContain(`Nothing listens on 127.0.0.1:${game.port}.`);
    const correct = `/dashboard/servers/new?draft=${path.split('/').at(-1)}`;
    expect((await get(correct)).body).toContain(`value="${game.port}"`);

    const other = await gameServer();
    const again = form({ port: String(other.port), draft: path.split('/').at(-1) ?? '' });
    expect(locationOf(await post('/dashboard/servers/new', again))).toBe(path);
    expect((await get(path)).body).toContain('Server reached: 3 of 20 players');
    expect(locationOf(await post(`${path}/discard`))).toBe('/dashboard?done=discarded');
    expect((await get(path)).statusCode).toBe(404);
  });

  it('keeps the entries and shows errors beside their fields', async () => {
    const wrong = form({
      name: '"><script>',
      address: 'play.example.org:25565',
      port: 'x',
      game: 'minecruft',
    });
    const refused = await post('/dashboard/servers/new', wrong);
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain('Enter the host without a port');
    expect(refused.body).toContain('must be a whole number, 1 to 65535');
    expect(refused.body).toContain('There is no game “minecruft” in the list.');
    expect(refused.body).toContain('value="&quot;&gt;&lt;script&gt;"');
    expect(refused.body).not.toContain('<script>');
    for (const name of ['address', 'port', 'game']) expect(refused.body).toContain(`<a href="#${name}">`);
    expect((await post('/dashboard/servers/new', {})).statusCode).toBe(400);
  });

  it('refuses a seventh check in a minute, and other users’ drafts', async () => {
    const path = locationOf(await post('/dashboard/servers/new', form({ port: '9' })));
    const _id = olivia.userId.toHexString();
    const asked = await web.deps.diagnosisAllowances.findOne({ _id });
    const askedAt = Array.from({ length: 5 }, () => new Date());
    expect(asked?.askedAt).toHaveLength(1);
    await web.deps.diagnosisAllowances.updateOne({ _id }, { $set: { askedAt } });
    expect((await post(`${path}/check`)).statusCode).toBe(303);
    const refused = await post(`${path}/check`);
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect(textOf(refused.body)).toMatch(/6 times a minute.* You can try again .* Verify ownership/);
    const saved = await post('/dashboard/servers/new', form({ port: '11' }));
    expect(saved.statusCode).toBe(429);
    expect(textOf(saved.body)).toMatch(/6 times a minute.* Verify ownership/);

    const other = await signIn(web);
    expect((await get(path, other)).statusCode).toBe(404);
    expect((await post(`${path}/check`, {}, other)).statusCode).toBe(404);
    await post(`${path}/discard`, {}, other);
    expect((await get(path)).statusCode).toBe(200);
  });
});

describe('the settings of a server', () => {
  const settings = (id: ObjectId) => `/dashboard/servers/${id.toHexString()}/settings`;
  const server = (id: ObjectId) => web.deps.servers.findOne({ _id: id });

  it('change at once and are recorded in the audit log', async () => {
    const id = await addOwnedServer(web.deps, olivia.userId);
    const {
      address: _,
      port: __,
      ...details
    } = form({ name: 'مرحبا', game: 'bedrock', queryPort: '19132', countryCode: 'DE' });
    expect(locationOf(await post(settings(id), details))).toBe(`${settings(id)}?done=saved`);
    expect(await server(id)).toMatchObject({
      name: 'مرحبا',
      game: 'mbe',
      queryPort: 19_132,
      countryCode: 'DE',
    });
    const entry = await web.deps.auditLog.findOne({ serverId: id, action: 'server.edit' });
    expect(entry).toMatchObject({ by: olivia.email });

    const before = await server(id);
    await post(settings(id), { ...details, name: 'Only the name', game: 'Minecraft: Bedrock Edition' });
    const after = await server(id);
    expect(after?.name).toBe('Only the name');
    expect(after?.probe.revision).toBe(before?.probe.revision);
    const refused = await post(settings(id), { ...details, queryPort: '22' });
    expect(refused.body).toContain('must not be 22, 25, 465 or 587');
  });

  it('need verification for another address', async () => {
    const game = await gameServer();
    const id = await addOwnedServer(web.deps, olivia.userId, { game: 'minecraft' });
    const wished = await post(`${settings(id)}/place`, { address: '127.0.0.1', port: String(game.port) });
    expect(locationOf(wished)).toBe(settings(id));
    const page = (await get(settings(id))).body;
    expect(page).toContain('Server reached');
    expect(await server(id)).toMatchObject({ address: 'play.example.org' });

    game.said.motd = /<code>(tp-\w{10})<\/code>/.exec(page)?.[1] ?? '';
    const moved = await post(`${settings(id)}/place/check`);
    expect(locationOf(moved)).toContain('?done=moved');
    expect(await server(id)).toMatchObject({ address: '127.0.0.1', port: game.port });
  });

  it('need no verification for operators, and a move can be cancelled', async () => {
    const id = await addOwnedServer(web.deps, olivia.userId, { port: 25_571 });
    await post(`${settings(id)}/place`, { address: '127.0.0.1', port: '1' });
    expect(locationOf(await post(`${settings(id)}/place/discard`))).toContain('kept-address');
    expect((await get(settings(id))).body).not.toContain('Cancel move');
    const operator = await signIn(web, { role: 'operator' });
    await post(`${settings(id)}/place`, { address: 'b.example.org', port: '25572' }, operator);
    expect(await server(id)).toMatchObject({ address: 'b.example.org', port: 25_572 });
  });

  it.each([
    ['without a second factor', false, 0],
    ['who signed in long ago', true, 13 * HOUR],
  ])('take no operator’s word for it %s', async (_who, twoFactor, agoMs) => {
    const operator = await signIn(web, { role: 'operator', twoFactor });
    const createdAt = new Date(Date.now() - agoMs);
    await web.deps.sessions.updateOne({ userId: operator.userId }, { $set: { createdAt } });
    const id = await addOwnedServer(web.deps, operator.userId, { port: 25_574 });
    await post(`${settings(id)}/place`, { address: '127.0.0.1', port: '1' }, operator);
    expect(await server(id)).toMatchObject({ address: 'play.example.org', port: 25_574 });
    expect(await web.deps.serverDrafts.findOne({ serverId: id })).toMatchObject({ port: 1 });
  });

  it('have a text about voting with a preview and links', async () => {
    const id = await addOwnedServer(web.deps, olivia.userId, { port: 25_573 });
    const text = 'Vote & win\r\n<img src=x> at https://example.org/a?b=1&c=2. Not javascript:alert(1)';
    const previewed = await post(`${settings(id)}/how-to-vote`, { howToVote: text, do: 'preview' });
    expect(previewed.body).toContain('Preview (not saved)');
    expect(previewed.body).toContain('id="how-to-vote" tabindex="-1" autofocus');
    expect(previewed.body).toContain(
      'Vote &amp; win<br />&lt;img src=x&gt; at <a href="https://example.org/a?b=1&amp;c=2" rel="nofollow ugc noopener noreferrer">https://example.org/a?b=1&amp;c=2</a>. Not javascript:alert(1)',
    );
    expect((await server(id))?.howToVote).toBeUndefined();
    await post(`${settings(id)}/how-to-vote`, { howToVote: text });
    expect((await server(id))?.howToVote).toBe(text.replace('\r\n', '\n'));
    const long = await post(`${settings(id)}/how-to-vote`, { howToVote: 'x'.repeat(2_001) });
    expect(long.statusCode).toBe(400);
    expect(long.body).toContain('must have at most 2,000 characters');
    await post(`${settings(id)}/how-to-vote`, { howToVote: ' ' });
    expect((await server(id))?.howToVote).toBeUndefined();
  });

  it('include the removal of the server', async () => {
    const id = await addOwnedServer(web.deps, olivia.userId, { port: 25_574 });
    const refused = await post(`${settings(id)}/remove`, { name: 'Another' });
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain('<a href="#removal">Name of the server: Type the name');
    expect((await server(id))?.removedAt).toBeNull();
    const { name = '' } = (await server(id)) ?? {};
    expect(locationOf(await post(`${settings(id)}/remove`, { name }))).toBe('/dashboard?done=removed');
    expect((await server(id))?.removedAt).toBeInstanceOf(Date);
    expect((await get(settings(id))).statusCode).toBe(404);
  });
});

it('the overview shows "–" instead of zero for unknown figures', async () => {
  const id = await addOwnedServer(web.deps, olivia.userId, { port: 25_575 });
  const page = (await get(`/dashboard/servers/${id}`)).body;
  expect(page.replace(/<[^>]+>|\s+/g, ' ').replace(/ +/g, ' ')).toContain('Players – not known yet');
  expect(page).toContain(id.toHexString());
});
