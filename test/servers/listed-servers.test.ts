import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer, editServer, findServer, listServers } from '../../src/servers/listed-servers.ts';
import type { NewServer } from '../../src/servers/server-settings.ts';
import { testDeps } from '../support/test-deps.ts';

const ADDRESS = { address: 'play.example.org', port: 25_565 };

let deps: AppDeps;

beforeAll(async () => {
  deps = await testDeps();
});

async function errorsOf(input: Record<string, unknown>): Promise<Record<string, string>> {
  const invalid = { name: 'Invalid', ...ADDRESS, ...input } as NewServer;
  const error = await addServer(deps, invalid, 'test').catch((cause: unknown) => cause);
  if (!(error instanceof InvalidDocumentError)) throw error;
  return error.errors;
}

describe('listing a server', () => {
  it('stores the given settings, with unknown figures', async () => {
    const before = await deps.servers.countDocuments({ removedAt: null });
    const { serverId, slug } = await addServer(
      deps,
      {
        name: '  Alpha Craft ',
        ...ADDRESS,
        queryPort: 25_566,
        game: 'minecraft',
        countryCode: 'de',
        isPremium: true,
      },
      'test',
    );

    expect(slug).toBe('alpha-craft');
    expect(await findServer(deps, serverId)).toMatchObject({
      name: 'Alpha Craft',
      slug,
      ...ADDRESS,
      queryPort: 25_566,
      game: 'minecraft',
      countryCode: 'DE',
      isPremium: true,
      removedAt: null,
      rankPosition: before + 1,
      current: { onlinePlayers: 0, maxPlayers: 0, motd: '', version: '', checkedAt: null },
      probe: { status: 'unknown', checkedAt: null, failures: 0 },
      daily: { averagePlayers: 0, peakPlayers: 0, averageLatency: null, uptimePercentage: null },
    });
  });

  it('stores null or false for absent settings', async () => {
    const { serverId } = await addServer(deps, { name: 'Bare', ...ADDRESS }, 'test');

    expect(await findServer(deps, serverId)).toMatchObject({
      queryPort: null,
      game: null,
      countryCode: null,
      isPremium: false,
    });
  });

  it('is written to the audit log', async () => {
    const { serverId } = await addServer(deps, { name: 'Audited', ...ADDRESS }, 'someone');

    expect(await deps.auditLog.findOne({ serverId: new ObjectId(serverId) })).toMatchObject({
      by: 'someone',
      action: 'server.add',
      details: { name: 'Audited', slug: 'audited' },
    });
  });

  it.each([
    ['Crème de la Craft!', 'creme-de-la-craft'],
    ["Steve's  Groß-Straße", 'steves-gross-strasse'],
    ['Łódź ﬁne Æon', 'lodz-fine-aeon'],
    ['Ⅷ Legion', 'viii-legion'],
    ['---a---', 'a'],
  ])('makes the slug of %j', async (name, slug) => {
    expect((await addServer(deps, { name, ...ADDRESS }, 'test')).slug).toBe(slug);
  });

  it.each(['!!!', '🎮', '★☠'])('makes the slug of %j from its id', async (name) => {
    const { serverId, slug } = await addServer(deps, { name, ...ADDRESS }, 'test');

    expect(slug).toBe(`server-${serverId.slice(-8)}`);
    expect((await findServer(deps, slug))?.name).toBe(name);
  });

  it('never makes a slug with the shape of an id', async () => {
    const name = 'abcdefabcdefabcdefabcdef';
    const { serverId, slug } = await addServer(deps, { name, ...ADDRESS }, 'test');

    expect(slug).toBe(`server-${name}`);
    expect((await findServer(deps, slug))?._id.toHexString()).toBe(serverId);
  });

  it('gives twenty servers of one name, listed at once, twenty slugs', async () => {
    const added = await Promise.all(
      Array.from({ length: 20 }, () => addServer(deps, { name: 'Same Name', ...ADDRESS }, 'test')),
    );

    expect(added.map(({ slug }) => slug).toSorted()).toEqual(
      ['same-name', ...Array.from({ length: 19 }, (_, index) => `same-name-${index + 2}`)].toSorted(),
    );
  });

  it.each([
    [{ name: '' }, { name: 'The name must not be empty.' }],
    [{ name: '\u200b \u200d' }, { name: 'The name must have a visible character.' }],
    [{ name: 'a\nb' }, { name: 'The name must have no line breaks and no other control characters.' }],
    [{ name: 'a\0b' }, { name: 'The name must have no line breaks and no other control characters.' }],
    [{ name: 'x'.repeat(101) }, { name: 'The name must have at most 100 characters.' }],
    [{ name: 'a\ud800' }, { name: 'The name must be valid Unicode: it has an unpaired surrogate.' }],
    [{ port: 0 }, { port: 'The port must be a whole number, 1 to 65535.' }],
    [{ port: 65_536 }, { port: 'The port must be a whole number, 1 to 65535.' }],
    [{ port: 1.5 }, { port: 'The port must be a whole number, 1 to 65535.' }],
    [{ queryPort: Number.NaN }, { queryPort: 'The query port must be a whole number, 1 to 65535.' }],
    [
      { countryCode: 'Germany' },
      { countryCode: 'The country code must have two letters (ISO 3166-1), such as DE.' },
    ],
    [{ game: 'x'.repeat(51) }, { game: 'The game must have at most 50 characters.' }],
    [
      { game: 'minecaft' },
      { game: 'There is no game “minecaft” in the list. Similar: minecraft (Minecraft).' },
    ],
  ])('refuses %j', async (input, errors) => {
    expect(await errorsOf(input)).toEqual(errors);
  });

  it.each([
    '',
    'a b',
    'host:25565',
    'http://a.example',
    '-a.example',
    '1.2.3',
    'a..b',
    'x'.repeat(254),
  ])('refuses the address %j', async (address) => {
    expect(Object.keys(await errorsOf({ address }))).toEqual(['address']);
  });

  it.each([
    ['play.example.org', 'play.example.org'],
    ['Play.Example.ORG.', 'play.example.org'],
    ['spiel.käse.example', 'spiel.xn--kse-qla.example'],
    ['localhost', 'localhost'],
    ['mc_1.example', 'mc_1.example'],
    ['203.0.113.7', '203.0.113.7'],
    ['[2001:DB8::1]', '2001:db8::1'],
  ])('accepts the address %j', async (address, stored) => {
    const { serverId } = await addServer(deps, { name: 'Addressed', ...ADDRESS, address }, 'test');

    expect((await findServer(deps, serverId))?.address).toBe(stored);
  });

  it('returns one error for each wrong field', async () => {
    expect(Object.keys(await errorsOf({ name: '', address: '?', port: 0 }))).toEqual([
      'name',
      'address',
      'port',
    ]);
  });

  it('accepts a name of 100 characters outside the basic plane', async () => {
    const { serverId } = await addServer(deps, { name: '😀'.repeat(100), ...ADDRESS }, 'test');

    expect((await findServer(deps, serverId))?.name).toHaveLength(200);
  });
});

describe('editing a server', () => {
  it('changes the given settings and leaves the rest', async () => {
    const { serverId } = await addServer(
      deps,
      {
        name: 'Old',
        ...ADDRESS,
        game: 'minecraft',
        queryPort: 1,
      },
      'test',
    );
    const edited = await editServer(
      deps,
      new ObjectId(serverId),
      {
        name: 'New',
        queryPort: null,
        port: undefined,
      },
      'test',
    );

    expect(edited).toMatchObject({
      name: 'New',
      slug: 'new',
      ...ADDRESS,
      game: 'minecraft',
      queryPort: null,
    });
    expect(
      await deps.auditLog.findOne({ serverId: new ObjectId(serverId), action: 'server.edit' }),
    ).toMatchObject({ details: { name: 'New', queryPort: null, slug: 'new' } });
  });

  it('refuses a wrong value and changes nothing', async () => {
    const { serverId } = await addServer(deps, { name: 'Steady', ...ADDRESS }, 'test');

    await expect(
      editServer(deps, new ObjectId(serverId), { name: 'Shaken', port: 0 }, 'test'),
    ).rejects.toThrow(InvalidDocumentError);
    expect((await findServer(deps, serverId))?.name).toBe('Steady');
  });

  it('returns null for an unknown server', async () => {
    expect(await editServer(deps, new ObjectId(), { name: 'Nobody' }, 'test')).toBeNull();
    expect(await editServer(deps, new ObjectId(), {}, 'test')).toBeNull();
  });
});

describe('finding servers', () => {
  it('finds one by its id and by its slug, in any case, and nothing by other text', async () => {
    const { serverId, slug } = await addServer(deps, { name: 'Findable', ...ADDRESS }, 'test');

    expect((await findServer(deps, serverId))?.slug).toBe(slug);
    expect((await findServer(deps, slug))?._id.toHexString()).toBe(serverId);
    expect((await findServer(deps, serverId.toUpperCase()))?.slug).toBe(slug);
    expect((await findServer(deps, slug.toUpperCase()))?.slug).toBe(slug);
    expect(await findServer(deps, '')).toBeNull();
    expect(await findServer(deps, new ObjectId().toHexString())).toBeNull();
  });

  it('lists them in rank order', async () => {
    const ranks = (await listServers(deps)).map(({ rankPosition }) => rankPosition);

    expect(ranks.length).toBeGreaterThan(20);
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  });
});
