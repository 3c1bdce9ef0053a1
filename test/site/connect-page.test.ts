import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { authenticateClaimKey } from '../../src/servers/authenticate-token.ts';
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

/** Creates a server of a game. Returns its id and the path of its page. */
async function serverOf(game: string | null) {
  const names = { name: `Server of ${game}`, address: `${new ObjectId()}.example.org` };
  const serverId = await addOwnedServer(web.deps, olivia.userId, { ...names, ...(game ? { game } : {}) });
  const path = `/dashboard/servers/${serverId.toHexString()}/connect`;
  const slug = (await web.deps.servers.findOne({ _id: serverId }))?.slug ?? '';
  return { serverId, path, slug };
}

/** The texts that an owner can copy from the page. */
const codesOf = (body: string) =>
  [...body.matchAll(/<pre[^>]*><code>([^<]*)<\/code>/g)].map(([, text = '']) =>
    text.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>'),
  );

it('a Minecraft server gets VotingPlugin’s block with the service name and the vote link first', async () => {
  const { path, serverId, slug } = await serverOf('minecraft');
  const settings = {
    protocol: 'votifier-v2',
    host: 'play.example.org',
    port: 8_192,
    secret: 'a-token-of-a-test',
  } as const;
  await setListener(web.deps, serverId, { ...settings, serviceName: 'My Votes' }, 'test');
  const { body } = await getPage(web, path, olivia.headers);
  const [first = ''] = codesOf(body);
  expect(first).toContain('ServiceSite: "My Votes"');
  expect(first).toContain(`VoteURL: "${web.deps.config.PUBLIC_URL}/servers/${slug}/vote?username=%player%"`);
  expect(body).toContain(`action="/dashboard/servers/${serverId.toHexString()}/listener/test"`);
});

it('a Rust server gets EasyVote’s block first, as valid JSON', async () => {
  const { path, slug } = await serverOf('rust');
  const [first = ''] = codesOf((await getPage(web, path, olivia.headers)).body);
  const json = JSON.parse(first);
  const { SERVICE_NAME, PUBLIC_URL } = web.deps.config;
  expect(json['Server Voting IDs and Keys']['Server of rust'][SERVICE_NAME]).toBe(`${slug}:YOUR-CLAIM-KEY`);
  expect(json['Voting Sites API Information'][SERVICE_NAME]['API Vote status (GET URL)']).toBe(
    `${PUBLIC_URL}/api/?object=votes&element=claim&key={0}&steamid={1}`,
  );
});

it('a server of another game gets plain addresses and the signed request first, and all others below', async () => {
  const { path } = await serverOf(null);
  const { body } = await getPage(web, path, olivia.headers);
  expect(body.indexOf('Any plugin that can read a web address')).toBeLessThan(
    body.indexOf('Other plugins (8)'),
  );
  expect(codesOf(body)).toHaveLength(10);
});

it('the calls for plugins of other listings are those that the contracts answer', async () => {
  const { path } = await serverOf('minecraft');
  const codes = codesOf((await getPage(web, path, olivia.headers)).body);
  const { PUBLIC_URL: url } = web.deps.config;
  for (const call of [
    `curl -d "action=setClaimed&key=YOUR-CLAIM-KEY&player=Steve" "${url}/api/"`,
    `curl "${url}/api/v1/claim/YOUR-CLAIM-KEY/Steve"`,
    `curl -X POST "${url}/api/votes/claim/YOUR-CLAIM-KEY/Steve/"`,
    `curl -d "key=YOUR-CLAIM-KEY&player=Steve" "${url}/api/v1/vote/claim"`,
  ])
    expect(codes.some((code) => code.endsWith(`\n${call}`))).toBe(true);
});

it('a claim key is created once, filled in once, and never in an address', async () => {
  const { path, serverId } = await serverOf('rust');
  const fields = { newId: new ObjectId().toHexString() };
  const made = await sendForm(web, `${path}/key`, fields, olivia.headers);
  const key = /tpc_\w{36}/.exec(made.body)?.[0] ?? '';
  expect((await authenticateClaimKey(web.deps, key))?.serverId).toEqual(serverId);
  expect(made.body).not.toContain('YOUR-CLAIM-KEY');
  // No test form while the key is shown: the page after the test would not have the key.
  expect(made.body).not.toContain('Ask as the plugin');
  expect(made.headers['cache-control']).toBe('no-store');
  expect(made.body).not.toMatch(new RegExp(`(href|action)="[^"]*${key}`));
  const again = await sendForm(web, `${path}/key`, fields, olivia.headers);
  expect([again.statusCode, again.body.includes('This form was already sent')]).toEqual([409, true]);
  expect((await getPage(web, path, olivia.headers)).body).not.toContain(key);
});

it('an owner sees the answer that a plugin would get, and nothing is claimed', async () => {
  const { path, serverId } = await serverOf('rust');
  const ask = async (username: string) =>
    textOf((await sendForm(web, `${path}/check`, { username, block: 'easy-vote' }, olivia.headers)).body);
  expect(await ask('Steve')).toContain('Steve : The plugin is answered 0');
  await castVote(web.deps, { serverId, username: 'Steve', tokenId: new ObjectId() });
  expect(await ask('steve')).toContain('The plugin is answered 1');
  expect(await web.deps.votes.countDocuments({ serverId, claim: { $exists: true } })).toBe(0);
  await web.deps.votes.updateOne(
    { serverId },
    { $set: { claim: { at: new Date(), tokenId: new ObjectId() } } },
  );
  expect(await ask('Steve')).toContain('The plugin is answered 2');
  const settings = {
    protocol: 'votifier-v2',
    host: 'play.example.org',
    port: 8_192,
    secret: 'a-token-of-a-test',
  } as const;
  await setListener(web.deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
  await setRewards(web.deps, serverId, 'push', 'test');
  expect(await ask('Nobody')).toContain('claims are off');
  expect(await ask(' ')).toContain('must not be empty');
});
