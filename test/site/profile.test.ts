import type { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { readTags, removeTag } from '../../src/servers/tag-list.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, OWN_ORIGIN, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let owner: SignedInUser;
let operator: SignedInUser;

beforeAll(async () => {
  web = await openWebApp();
  owner = await signIn(web);
  operator = await signIn(web, { role: 'operator' });
});

type Fields = Record<string, string | string[]>;

async function newServer() {
  const serverId = await addOwnedServer(web.deps, owner.userId);
  const path = `/dashboard/servers/${serverId.toHexString()}/profile`;
  const read = async () => (await web.deps.servers.findOne({ _id: serverId }))?.profile;
  /** Sends the form as a browser does: one field for each chosen tag. */
  const save = (fields: Fields) => {
    const pairs = Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
    return web.app.inject({
      method: 'POST',
      url: path,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        ...OWN_ORIGIN,
        ...owner.headers,
      },
      payload: new URLSearchParams(pairs as [string, string][]).toString(),
    });
  };
  const { slug = '' } = (await web.deps.servers.findOne({ _id: serverId })) ?? {};
  return { serverId, path, slug, read, save };
}

const audited = (serverId: ObjectId, action: string) =>
  web.deps.auditLog.find({ serverId, action }).sort({ _id: 1 }).toArray();

const FULL: Fields = {
  shortText: 'A lighthouse for <b>every</b> island.',
  description: '# Welcome\nWe have **boats**. [Map](https://map.example.org)',
  tags: ['survival', 'economy'],
  languages: 'English, Deutsch; fr',
  website: 'harbour.example.org',
  discord: 'https://discord.com/invite/AbCdEf',
  store: 'https://store.example.org/ranks',
  rules: '',
  video: '',
};

describe('the profile form', () => {
  test('stores what the owner enters, and shows it on the public page and in the ranking', async () => {
    const { serverId, path, slug, read, save } = await newServer();
    const saved = await save(FULL);
    expect(saved.statusCode).toBe(303);
    expect(await read()).toEqual({
      shortText: 'A lighthouse for <b>every</b> island.',
      description: '# Welcome\nWe have **boats**. [Map](https://map.example.org)',
      tags: ['survival', 'economy'],
      languages: ['en', 'de', 'fr'],
      website: 'https://harbour.example.org/',
      discord: 'https://discord.gg/AbCdEf',
      store: 'https://store.example.org/ranks',
    });
    const form = (await getPage(web, path, owner.headers)).body;
    expect(form).toContain('value="English, German, French"');
    expect(form).toMatch(/value="economy" checked/);

    const page = (await getPage(web, `/servers/${slug}`)).body;
    expect(page).toContain('A lighthouse for &lt;b&gt;every&lt;/b&gt; island.');
    expect(page).toContain('<h3>Welcome</h3>');
    expect(page).toContain(
      '<a href="https://map.example.org/" rel="nofollow ugc noopener">Map<bdi> (map.example.org)</bdi></a>',
    );
    expect(page).toContain(
      '<li><a href="/tags/economy">Economy</a></li><li><a href="/tags/survival">Survival</a></li>',
    );
    expect(page).toContain('href="https://discord.gg/AbCdEf" rel="nofollow ugc noopener noreferrer"');
    expect(textOf(page)).toContain('English, German, French');
    expect(page).toMatch(/<meta name="description" content="[^"]*A lighthouse for/);
    expect(await audited(serverId, 'server.profile')).toMatchObject([
      { by: owner.email, details: { changed: expect.arrayContaining(['shortText', 'tags', 'discord']) } },
    ]);
  });

  test('an unchanged form changes nothing, and an empty field removes its value', async () => {
    const { serverId, read, save } = await newServer();
    await save(FULL);
    await save(FULL);
    expect(await audited(serverId, 'server.profile')).toHaveLength(1);
    await save({ ...FULL, description: '', tags: [], website: '' });
    const profile = await read();
    expect(profile).toMatchObject({ languages: ['en', 'de', 'fr'] });
    for (const field of ['description', 'tags', 'website']) expect(profile).not.toHaveProperty(field);
    expect((await audited(serverId, 'server.profile'))[1]?.details).toEqual({
      changed: ['description', 'tags', 'website'],
    });
  });

  test('the preview shows the profile and stores nothing', async () => {
    const { read, save } = await newServer();
    const preview = await save({ ...FULL, do: 'preview' });
    expect(preview.statusCode).toBe(200);
    expect(preview.body).toContain('<strong>boats</strong>');
    expect(preview.body).toContain('# Welcome\nWe have **boats**');
    expect(preview.body).toMatch(/value="survival" checked/);
    expect(await read()).toBeUndefined();
  });

  test.each<[string, Fields, string]>([
    ['a short text that is too long', { shortText: 'x'.repeat(201) }, 'at most 200 characters'],
    ['two lines of short text', { shortText: 'a\u2028b' }, 'no line breaks'],
    ['a description that is too long', { description: '𝒳'.repeat(10_001) }, 'at most 10,000 characters'],
    ['a description with control characters', { description: 'a\u0007b' }, 'no control characters'],
    [
      'nine tags',
      { tags: 'adventure anarchy building casual creative economy factions hardcore pve'.split(' ') },
      'at most 8',
    ],
    ['an unknown tag', { tags: ['free-diamonds'] }, 'no longer in the list'],
    ['an unknown language', { languages: 'English, Klingonese' }, '“Klingonese” is not a known language'],
    ['too many languages', { languages: 'en,de,fr,es,it,nl,pl,pt,sv' }, 'at most 8'],
    ['a link without TLS', { website: 'http://example.org' }, 'begins with https://'],
    ['a script as a link', { store: 'javascript:alert(1)' }, 'begins with https://'],
    ['a link with a password', { rules: 'https://user:pass@example.org' }, 'begins with https://'],
    ['a link to an IP address', { video: 'https://127.0.0.1/x' }, 'begins with https://'],
    ['a link to a bare name', { website: 'https://localhost/' }, 'begins with https://'],
    [
      'another site as a Discord invite',
      { discord: 'https://discord.gg.evil.example/x' },
      'must be an invite',
    ],
    ['a Discord page that is no invite', { discord: 'https://discord.com/login' }, 'must be an invite'],
  ])('%s is refused beside its field, and nothing is stored', async (_name, fields, error) => {
    const { read, save } = await newServer();
    const refused = await save({ ...FULL, ...fields });
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toMatch(new RegExp(`id="(${Object.keys(fields)[0]})-error">[^<]*${error}`));
    expect(await read()).toBeUndefined();
  });

  test('the longest description with the longest characters fits, and a larger form is refused', async () => {
    const { read, save } = await newServer();
    const description = '𝒳'.repeat(10_000);
    expect((await save({ ...FULL, description })).statusCode).toBe(303);
    expect((await read())?.description).toBe(description);
    expect((await save({ ...FULL, description: 'x'.repeat(170_000) })).statusCode).toBe(413);
  });
});

describe('an operator', () => {
  const removeAs = (serverId: ObjectId, fields: Record<string, string>) =>
    sendForm(web, `/operator/servers/${serverId.toHexString()}/profile/remove`, fields, operator.headers);

  test.each([
    'shortText',
    'description',
    'links',
  ])('removes the %s with a reason that the owner sees', async (part) => {
    const { serverId, path, read, save } = await newServer();
    await save(FULL);
    const adminPage = await getPage(web, `/operator/servers/${serverId.toHexString()}`, operator.headers);
    expect(adminPage.body).toContain('<strong>boats</strong>');
    expect((await removeAs(serverId, { part, profileReason: 'It <insults> players.' })).statusCode).toBe(303);
    const profile = await read();
    for (const field of part === 'links' ? ['website', 'discord', 'store'] : [part])
      expect(profile).not.toHaveProperty(field);
    expect(profile).toMatchObject({
      tags: ['survival', 'economy'],
      removals: [{ part, reason: 'It <insults> players.' }],
    });
    expect((await getPage(web, path, owner.headers)).body).toContain('It &lt;insults&gt; players.');
    const overview = await getPage(web, path.replace('/profile', ''), owner.headers);
    expect(overview.body).toContain('The operator removed a part of this server’s profile.');
    expect(overview.body).not.toContain('insults');
    expect(await audited(serverId, 'server.profile-remove')).toMatchObject([
      { by: operator.email, details: { part, reason: 'It <insults> players.' } },
    ]);

    // A second removal is refused, because there is nothing to remove any more.
    expect((await removeAs(serverId, { part, profileReason: 'Again.' })).statusCode).toBe(409);
    // If the owner writes the part again, the reason of its removal is deleted.
    await save(FULL);
    expect((await read())?.removals).toEqual([]);
  });

  test('must give a reason and a part', async () => {
    const { serverId, read, save } = await newServer();
    await save(FULL);
    const before = await read();
    const missing = await removeAs(serverId, { part: 'description', profileReason: ' ' });
    expect(missing.statusCode).toBe(400);
    expect(missing.body.match(/-error">[^<]*must say why/g)).toHaveLength(1);
    expect((await removeAs(serverId, { part: 'name', profileReason: 'x' })).statusCode).toBe(400);
    expect(await read()).toEqual(before);
  });
});

describe('the list of tags', () => {
  test('operators add and remove tags; servers lose a removed tag', async () => {
    const { slug, read, save } = await newServer();
    const add = (name: string) => sendForm(web, '/operator/tags', { name }, operator.headers);
    expect((await add('Sky Wars')).statusCode).toBe(303);
    const again = await add('sky wars');
    expect(again.statusCode).toBe(400);
    expect(again.body).toContain('The tag “sky wars” exists.');
    expect((await add('村')).body).toContain('must have a Latin letter or a digit');

    await save({ ...FULL, tags: ['sky-wars', 'survival'] });
    expect((await getPage(web, `/servers/${slug}`, owner.headers)).body).toContain('>Sky Wars<');
    const removed = await sendForm(web, '/operator/tags/sky-wars/remove', {}, operator.headers);
    expect(removed.statusCode).toBe(303);
    expect((await read())?.tags).toEqual(['survival']);
    expect((await readTags(web.deps)).map(({ key }) => key)).not.toContain('sky-wars');
    expect(await removeTag(web.deps, 'sky-wars', 'test')).toBeNull();
    const log = await web.deps.auditLog
      .find({ action: /^tag\./ })
      .sort({ _id: 1 })
      .toArray();
    expect(log.map(({ action, details }) => [action, details.name])).toEqual(
      expect.arrayContaining([
        ['tag.add', 'Sky Wars'],
        ['tag.remove', 'Sky Wars'],
      ]),
    );
  });

  test('the servers of a tag are found by an index, in the order of the ranking', async () => {
    const { servers } = web.deps;
    const plan = await servers.find({ 'profile.tags': 'survival' }).sort({ rankPosition: 1 }).explain();
    expect(JSON.stringify(plan)).toContain('profile.tags_1_rankPosition_1');
    expect(JSON.stringify(plan)).not.toMatch(/"stage":"(COLLSCAN|SORT)"/);
  });
});
