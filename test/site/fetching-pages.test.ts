import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { fetchingListener } from '../../src/delivery/fetch/fetching-listener.ts';
import { settleDeliveries, TAKER_OUTCOMES } from '../../src/delivery/fetch/settle-deliveries.ts';
import { takeDeliveries } from '../../src/delivery/fetch/take-deliveries.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { authenticate } from '../../src/servers/authenticate-token.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  olivia = await signIn(web);
});

async function server(game = 'minecraft') {
  const names = { name: `Server of ${game}`, address: `${new ObjectId()}.example.org` };
  const serverId = await addOwnedServer(web.deps, olivia.userId, { ...names, game });
  const path = `/dashboard/servers/${serverId.toHexString()}`;
  return {
    serverId,
    path,
    get: (part: string, headers: Record<string, string> = {}) =>
      getPage(web, `${path}${part}`, { ...olivia.headers, ...headers }),
    post: (part: string, fields: Record<string, string> = {}) =>
      sendForm(web, `${path}${part}`, fields, olivia.headers),
    read: async (part: string) => textOf((await getPage(web, `${path}${part}`, olivia.headers)).body),
  };
}

const SETTINGS = { protocol: 'fetch', serviceName: 'My Votes', maxSendings: '2' };

it('an owner chooses that the server fetches, without an address and a secret, and goes on to the relay', async () => {
  const { serverId, path, get, post } = await server();
  const form = (await get('/listener?protocol=fetch')).body;
  expect(form).toContain('My server fetches its votes');
  expect(form).toContain('name="serviceName"');
  for (const field of ['host', 'port', 'secret', 'url']) expect(form).not.toContain(`name="${field}"`);
  const saved = await post('/listener', SETTINGS);
  expect([saved.statusCode, saved.headers.location]).toEqual([303, `${path}/connect?done=fetching#relay`]);
  expect(await web.deps.listeners.findOne({ serverId })).toMatchObject({
    protocol: 'fetch',
    serviceName: 'My Votes',
    maxSendings: 2,
  });
  const empty = await post('/listener', { ...SETTINGS, serviceName: ' ' });
  expect([empty.statusCode, textOf(empty.body)]).toEqual([400, expect.stringContaining('must not be empty')]);
});

it('the listener’s page says whether anybody fetches, by which program, and that votes are neglected', async () => {
  const { serverId, read } = await server();
  await setFetchListener(web.deps, serverId, { serviceName: 'Tallyport' }, 'test');
  expect(await read('/listener')).toMatch(
    /not fetched yet .*has not done so yet\. .*Nobody has fetched votes yet/,
  );
  const now = web.deps.clock.now();
  const agent = 'tallyport-relay/1.0 (Java 21; Bukkit)';
  await web.deps.listeners.updateOne({ serverId }, { $set: { fetched: { at: after(now, -12_000), agent } } });
  expect(await read('/listener')).toMatch(
    /active .*No port needs to be open.*Fetched 1[2-9] seconds ago by tallyport-relay 1\.0 \(Java 21; Bukkit\)/,
  );
  await castVote(web.deps, { serverId, username: 'Steve', tokenId: new ObjectId() });
  const long = after(now, -11 * MINUTE);
  await web.deps.listeners.updateOne({ serverId }, { $set: { updatedAt: long, 'fetched.at': long } });
  expect(await read('/listener')).not.toMatch(/not fetched|nobody has fetched them/);
  await web.deps.votes.updateOne({ serverId }, { $set: { 'delivery.queuedAt': long } });
  const neglected = await read('/listener');
  expect(neglected).toMatch(/not fetched .*nobody has fetched them for over 10 minutes.*Start the relay/);
  expect(neglected).toMatch(/Votes waiting 1/);
  expect(await read('/votes')).toContain('Waiting until the server fetches it.');
  await sendForm(web, `/dashboard/servers/${serverId.toHexString()}/listener/pause`, {}, olivia.headers);
  expect(await read('/listener')).toContain('Paused by its owner');
});

it('“Connect” makes a delivery token in one press, fills in the two lines once, and says who fetched', async () => {
  const { serverId, get, post, read } = await server();
  const before = await read('/connect');
  expect(before).toContain('server=http://localhost:3000/api/v1/servers/');
  expect(before).toContain('key=YOUR-KEY');
  expect(before).toContain('Until then it gets none.');
  const fields = { newId: new ObjectId().toHexString() };
  const made = await post('/connect/relay', fields);
  const [, key = ''] = /key=(tpd_\w{36})/.exec(made.body) ?? [];
  expect((await authenticate(web.deps, serverId.toHexString(), key))?.token.kind).toBe('deliver');
  expect(made.headers['cache-control']).toBe('no-store');
  expect((await post('/connect/relay', fields)).statusCode).toBe(409);
  await setFetchListener(web.deps, serverId, { serviceName: 'Tallyport' }, 'test');
  const later = await get('/connect?done=fetching');
  expect(later.body).not.toContain(key);
  expect(textOf(later.body)).toContain('Saved: your server fetches its votes.');
  expect(textOf(later.body)).toContain('Nobody has fetched votes yet.');
});

it('on a game without Votifier the relay is among the other plugins, until the server fetches', async () => {
  const { serverId, get } = await server('rust');
  const place = async () => {
    const { body } = await get('/connect');
    return [body.indexOf('id="relay"'), body.indexOf('Other plugins (')] as const;
  };
  const [card, others] = await place();
  expect(card).toBeGreaterThan(others);
  await setFetchListener(web.deps, serverId, { serviceName: 'Tallyport' }, 'test');
  const [first, rest] = await place();
  expect(first).toBeLessThan(rest);
});

it('a delivery token is made on the token page, and both its card and the list say what it may do', async () => {
  const { post, read } = await server();
  const fields = { name: 'Own plugin', kind: 'deliver', lifetime: '1y', newId: new ObjectId().toHexString() };
  const made = await post('/tokens', fields);
  expect(textOf(made.body)).toMatch(/Your new delivery token .*may only fetch votes of this server/);
  expect(await read('/tokens')).toContain('(delivery token)');
});

it('the relay is downloaded as it is in the repository, and not again while it is unchanged', async () => {
  const path = '/downloads/tallyport-relay.jar';
  const answer = await web.app.inject({ url: path, headers: { 'accept-encoding': 'br, gzip' } });
  const file = await readFile(new URL('../../relay/tallyport-relay.jar', import.meta.url));
  const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  expect(sum(answer.rawPayload)).toBe(sum(file));
  expect(answer.headers).toMatchObject({
    'content-type': 'application/java-archive',
    'content-disposition': 'attachment; filename="tallyport-relay.jar"',
    'x-content-type-options': 'nosniff',
    'content-length': String(file.length),
  });
  const { etag } = answer.headers;
  const again = await web.app.inject({ url: path, headers: { 'if-none-match': `W/${etag}` } });
  expect([again.statusCode, again.rawPayload.length, again.headers.etag]).toEqual([304, 0, etag]);
  const other = await web.app.inject({ url: path, headers: { 'if-none-match': '"another"' } });
  expect(other.statusCode).toBe(200);
});

it('a fetched vote’s page says what its taker reported, until it is resent', async () => {
  const { serverId, read, post } = await server();
  await setFetchListener(web.deps, serverId, { serviceName: 'Tallyport' }, 'test');
  for (const username of ['Open', 'Sent', 'Unknown', 'Retry', 'Failed', 'Delivered'])
    await castVote(web.deps, { serverId, username, tokenId: new ObjectId() });
  const listener = await fetchingListener(web.deps, serverId);
  if (!listener) throw new Error('no listener');
  const taken = await takeDeliveries(web.deps, listener, { most: 20, leaseMs: MINUTE });
  // From now on each vote is handed out once.
  await setFetchListener(web.deps, serverId, { serviceName: 'Tallyport', maxSendings: 1 }, 'test');
  const outcomeOf = (name: string) => TAKER_OUTCOMES.find((outcome) => outcome === name.toLowerCase());
  const results = taken.flatMap(({ vote, attempt }) => {
    const outcome = outcomeOf(vote.username);
    const lease = attempt.id.toString();
    return outcome ? [{ voteId: vote._id, lease, outcome, reason: 'Votifier <is> away' }] : [];
  });
  expect((await settleDeliveries(web.deps, serverId, results)).settled).toHaveLength(5);
  const idOf = (name: string) => taken.find(({ vote }) => vote.username === name)?.vote._id.toString();
  const pageOf = (name: string) => read(`/votes/${idOf(name)}`);
  expect(await pageOf('Open')).toMatch(/has not reported a result yet.*fetched, no result yet/);
  expect(await pageOf('Sent')).toMatch(/Fetched, and handed on .* to a plugin that confirms nothing/);
  expect(await pageOf('Delivered')).toMatch(/Fetched and delivered on .*It was handed over\./);
  expect(await pageOf('Unknown')).toMatch(
    /unconfirmed .*nobody knows whether it reached the game.*It may have been handed over\./,
  );
  expect(await pageOf('Retry')).toMatch(
    /The server can fetch it again in .*Reported reason: Votifier &lt;is&gt; away.*It was not handed over\./,
  );
  const failed = await pageOf('Failed');
  expect(failed).toMatch(/failed The program that fetches the votes refused this one for good\./);
  expect(failed).not.toMatch(/Worker|Listener’s answer/);
  expect((await post(`/votes/${idOf('Failed')}/resend`)).headers.location).toContain('done=resent');
  expect(await pageOf('Failed')).toContain('Waiting until the server fetches it.');
});
