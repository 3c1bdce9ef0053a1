import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { postVoteForm, voteOnPage } from '../support/vote-form.ts';
import { storedVote } from '../support/votes.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let owner: Awaited<ReturnType<typeof signIn>>;
let serverId: ObjectId;
let slug: string;

const settings = () => `/dashboard/servers/${serverId.toHexString()}/settings`;
const serverNow = () => web.deps.servers.findOne({ _id: serverId });
const change = (fields: object) => web.deps.servers.updateOne({ _id: serverId }, { $set: fields });
const post = (path: string, fields: Record<string, string>) =>
  sendForm(web, `${settings()}/${path}`, fields, owner.headers);
const voteAs = (name: string) => voteOnPage(web, slug, name).then(({ statusCode }) => statusCode);
const challengeFor = (username: string) => postVoteForm(web, `${slug}/vote/challenge`, { username });

beforeAll(async () => {
  web = await openWebApp({ STEAM_SIGN_IN: 'on', WEB_VOTE_PLAYERS: '100' });
  owner = await signIn(web);
  serverId = await addOwnedServer(web.deps, owner.userId, { game: 'minecraft' });
  slug = (await serverNow())?.slug ?? '';
});

beforeEach(async () => {
  await web.deps.votes.deleteMany({});
  await web.deps.servers.updateOne(
    { _id: serverId },
    { $set: { game: 'minecraft' }, $unset: { bedrockPrefix: '', playerNames: '', provenIdOnly: '' } },
  );
});

describe('the vote form of a Minecraft server', () => {
  test('refuses what is no name before the vote is used up, and takes names of both editions', async () => {
    const refused = await challengeFor('Big Bob');
    expect([refused.statusCode, refused.json()]).toMatchObject([400, { code: 'malformed' }]);
    expect(await voteAs('Bob')).toBe(303);
    expect(await voteAs('.Big Bob')).toBe(303);
    expect((await challengeFor('.Big_Bob')).statusCode).toBe(200);
    expect(await web.deps.votes.distinct('username')).toEqual(['.Big_Bob', 'Bob']);
    expect((await getPage(web, `/servers/${slug}/vote`)).body).toContain('data-name-kind="minecraft"');
  });

  test.each([
    'minecraft',
    'mbe',
    'rust',
    null,
  ])('refuses a mail address, which browsers may fill in (game: %s), also if the server has a vote of it', async (game) => {
    await web.deps.votes.insertOne(
      storedVote(serverId, 'bob@example.org', new Date(Date.now() - 30 * 24 * 3_600_000)),
    );
    await change({ game });
    const refused = await challengeFor('bob@example.org');
    expect([refused.statusCode, refused.json()]).toMatchObject([
      400,
      { error: 'Enter a name and not an e-mail address, because everybody sees it.', field: 'username' },
    ]);
  });

  test('takes an older name only if the server has a vote of it', async () => {
    expect((await challengeFor('Bo')).statusCode).toBe(400);
    await change({ game: null });
    expect(await voteAs('Bo')).toBe(303);
    await change({ game: 'minecraft' });
    const again = await postVoteForm(web, `${slug}/vote/challenge`, { username: 'BO' });
    expect(again.statusCode).toBe(200);
  });
});

describe('the settings of a server', () => {
  test('say what names of Bedrock Edition begin with', async () => {
    expect((await getPage(web, settings(), owner.headers)).body).toMatch(
      /name="bedrockPrefix"[^>]*value="\."/,
    );
    expect((await post('bedrock-prefix', { bedrockPrefix: ' * ' })).headers.location).toBe(
      `${settings()}?done=saved#identity`,
    );
    expect((await serverNow())?.bedrockPrefix).toBe('*');
    expect((await challengeFor('*Bob')).statusCode).toBe(200);
    expect((await challengeFor('.Bob')).statusCode).toBe(400);
    await post('bedrock-prefix', { bedrockPrefix: '' });
    expect((await serverNow())?.bedrockPrefix).toBe('');
    expect((await challengeFor('*Bob')).statusCode).toBe(400);
    await post('bedrock-prefix', { bedrockPrefix: '.' });
    expect((await serverNow())?.bedrockPrefix).toBe('.');
  });

  test('take names of offline mode, and those of Bedrock Edition without a prefix or with spaces', async () => {
    const NAMES = ['AB', 'x-Bob', 'Mr.X', 'Big Bob', '.Big Bob', 'Élodie'];
    const taken = async () => {
      const found: string[] = [];
      for (const name of NAMES) if ((await challengeFor(name)).statusCode === 200) found.push(name);
      return found;
    };
    expect(await taken()).toEqual(['.Big Bob']);
    await post('bedrock-prefix', { bedrockPrefix: '.', offlineMode: 'yes' });
    expect(await taken()).toEqual(['AB', 'x-Bob', 'Mr.X', '.Big Bob']);
    for (const name of ['a b', '..']) {
      const refused = await challengeFor(name);
      expect(refused.json().error).toContain('letters from a to z, digits, underscores, dots and hyphens');
    }
    expect((await getPage(web, settings(), owner.headers)).body).toMatch(/name="offlineMode"[^>]*checked/);
    await post('bedrock-prefix', { bedrockPrefix: '.', bedrockPlain: 'yes', bedrockSpaces: 'yes' });
    expect(await taken()).toEqual(['AB', 'Big Bob', 'Élodie']);
    expect(await voteAs('Big  Bob')).toBe(303);
    await post('bedrock-prefix', { bedrockPrefix: '.', bedrockSpaces: 'yes' });
    expect(await voteAs('.Big Bob')).toBe(303);
    expect(await web.deps.votes.distinct('username')).toEqual(['.Big Bob', 'Big Bob']);
    await post('bedrock-prefix', { bedrockPrefix: '.' });
    expect(await serverNow()).not.toHaveProperty('playerNames');
  });

  test.each(['a b', '123456', 'ü'])('refuse the prefix “%s”', async (bedrockPrefix) => {
    const refused = await post('bedrock-prefix', { bedrockPrefix });
    expect(refused.statusCode).toBe(400);
    expect(textOf(refused.body)).toContain('must have at most 5 letters, digits or signs, without a space.');
    expect(await serverNow()).not.toHaveProperty('bedrockPrefix');
  });

  test('require a sign-in through Steam where the game asks for a SteamID', async () => {
    expect((await getPage(web, settings(), owner.headers)).body).not.toContain('Steam players');
    await change({ game: 'rust' });
    const page = await getPage(web, settings(), owner.headers);
    expect(textOf(page.body)).toContain('Require a sign-in through Steam');
    expect(page.body).not.toContain('name="bedrockPrefix"');
    await post('proven-id', { required: 'yes' });
    expect((await serverNow())?.provenIdOnly).toBe(true);
    expect(textOf((await getPage(web, settings(), owner.headers)).body)).toContain('Take every SteamID');
    await post('proven-id', { required: 'no' });
    expect(await serverNow()).not.toHaveProperty('provenIdOnly');
    const actions = await web.deps.auditLog.distinct('action', { serverId });
    expect(actions).toEqual(expect.arrayContaining(['server.proven-id-only']));
  });
});

test('a proven vote is marked in the owner’s list and on its page', async () => {
  await voteAs('Bob');
  await voteAs('Alex');
  await web.deps.votes.updateOne({ username: 'Alex' }, { $set: { identity: 'proven' } });
  const path = `/dashboard/servers/${serverId.toHexString()}/votes`;
  const list = textOf((await getPage(web, path, owner.headers)).body);
  expect(list).toMatch(/Alex proven/);
  expect(list).not.toMatch(/Bob proven/);
  const vote = await web.deps.votes.findOne({ username: 'Alex' });
  const page = await getPage(web, `${path}/${vote?._id.toString()}`, owner.headers);
  expect(textOf(page.body)).toContain('proven: Steam confirmed the SteamID');
});
