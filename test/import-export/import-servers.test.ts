import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { serverImporter } from '../../src/import-export/import-servers.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer, findServer } from '../../src/servers/listed-servers.ts';
import { testDeps } from '../support/test-deps.ts';
import { importText, lines } from './importing.ts';

let deps: AppDeps;

beforeEach(async () => {
  deps = await testDeps();
});

const importServers = (text: string, options?: { skipBad?: boolean; dryRun?: boolean }) =>
  importText(() => serverImporter(deps, 'test'), text, options);

const ID = '64f0c0ffee0000000000abcd';

/** A line with the least that is needed. */
const server = (changes: object = {}) => ({
  name: 'Alpha Craft',
  address: 'play.example.org',
  connection_port: 25_565,
  ...changes,
});

describe('imported servers', () => {
  it('are refused where an earlier line gives the same slug to another server', async () => {
    const text = lines(
      server({ slug: 'same' }),
      server({ slug: 'same', name: 'Other', connection_port: 25_566 }),
      server({ slug: 'same' }),
    );
    const end = await importServers(text, { skipBad: true });

    expect(end).toMatchObject({ imported: 1, alreadyThere: 1, refused: 1 });
    expect(end.refusedLines).toEqual([
      { line: 2, reason: 'an earlier line has the same id or slug: Alpha Craft at play.example.org:25565' },
    ]);
  });

  it('keep their id, slug, date of listing and owner', async () => {
    const end = await importServers(
      lines(
        server({
          server_id: ID,
          slug: 'old-name',
          query_port: 25_566,
          game: 'minecraft',
          country_code: 'de',
          is_premium: true,
          date_added: '2019-03-01T10:00:00+01:00',
          owner_email: 'Owner@Example.org',
        }),
      ),
    );

    expect(end).toEqual({ lines: 1, imported: 1, alreadyThere: 0, refused: 0, refusedLines: [] });
    expect(await findServer(deps, 'old-name')).toMatchObject({
      _id: new ObjectId(ID),
      name: 'Alpha Craft',
      address: 'play.example.org',
      port: 25_565,
      queryPort: 25_566,
      countryCode: 'DE',
      isPremium: true,
      listedAt: new Date('2019-03-01T09:00:00.000Z'),
      ownerEmail: 'owner@example.org',
      probe: { status: 'unknown', failures: 0 },
    });
    const entry = await deps.auditLog.findOne({ action: 'server.import' });
    expect(entry).toMatchObject({ by: 'test', serverId: new ObjectId(ID) });
    expect(JSON.stringify(entry).toLowerCase()).not.toContain('owner@');
  });

  it('need no more than a name, an address and a port', async () => {
    await importServers(lines(server(), server({ name: 'Beta', slug: null, query_port: null, game: null })));

    expect(await findServer(deps, 'alpha-craft')).toMatchObject({
      queryPort: null,
      game: null,
      countryCode: null,
      isPremium: false,
    });
    expect(await findServer(deps, 'beta')).not.toBeNull();
  });

  it('are listed once, however often, with and without an id', async () => {
    const text = lines(
      server({ server_id: ID, slug: 'alpha' }),
      server(),
      server({ name: 'Beta', slug: 'beta' }),
      server(),
    );
    const first = await importServers(text);
    const second = await importServers(text);
    const racing = await Promise.all([importServers(text), importServers(text)]);

    expect(first).toMatchObject({ imported: 3, alreadyThere: 1 });
    expect([second, ...racing].map(({ imported, alreadyThere }) => [imported, alreadyThere])).toEqual([
      [0, 4],
      [0, 4],
      [0, 4],
    ]);
    expect(await deps.servers.countDocuments()).toBe(3);
  });

  it('are listed once when two imports race', async () => {
    const text = lines(...Array.from({ length: 30 }, (_, number) => server({ name: `Server ${number}` })));
    await Promise.all([importServers(text), importServers(text)]);

    expect(await deps.servers.countDocuments()).toBe(30);
  });

  it('stand once in the audit log, also where a run died before it wrote that', async () => {
    const { slug } = await addServer(deps, { name: 'Own', address: 'play.example.org', port: 1 }, 'test');
    const own = await findServer(deps, slug);
    const text = lines(server({ server_id: ID }), server({ server_id: own?._id.toHexString(), slug }));
    const refuse = (validator: object) => deps.mongo.db.command({ collMod: 'audit_log', validator });
    await refuse({ action: { $ne: 'server.import' } });
    await expect(importServers(text)).rejects.toThrow();
    expect(await findServer(deps, ID)).not.toBeNull();
    await refuse({});
    await Promise.all([importServers(text), importServers(text)]);
    await importServers(text);

    const entries = await deps.auditLog.find().sort({ at: 1 }).toArray();
    expect(entries.map(({ action, serverId }) => [action, serverId])).toEqual([
      ['server.add', own?._id],
      ['server.import', new ObjectId(ID)],
    ]);
    expect(entries[1]?.details).toMatchObject({ name: 'Alpha Craft', port: 25_565, slug: 'alpha-craft' });
  });

  it('stand behind the others, who are counted once however many come', async () => {
    await addServer(deps, { name: 'First', address: 'play.example.org', port: 1 }, 'test');
    const named = Array.from({ length: 30 }, (_, number) => server({ name: `Server ${number}` }));
    const { db } = deps.mongo;
    await db.command({ profile: 2 });
    await importServers(lines(...named.slice(0, 10), named[0], ...named.slice(10)));
    await db.command({ profile: 0 });

    const listed = await deps.servers.find().sort({ _id: 1 }).toArray();
    const places = listed.map(({ rankPosition }) => rankPosition).toSorted((one, other) => one - other);
    expect(places).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));
    const counts = { ns: /\.servers$/, 'command.aggregate': 'servers' };
    expect(await db.collection('system.profile').countDocuments(counts)).toBe(1);
  });

  it('stay as they are when they are imported again with other settings', async () => {
    await importServers(lines(server({ server_id: ID })));
    const end = await importServers(lines(server({ server_id: ID, name: 'Renamed' })));

    expect(end).toMatchObject({ imported: 0, alreadyThere: 1 });
    expect(await findServer(deps, ID)).toMatchObject({ name: 'Alpha Craft' });
  });
});

describe('lines of servers that are refused', () => {
  it('are told with their numbers and reasons, and nothing is imported', async () => {
    const bad: [object, string][] = [
      [{ name: '  ' }, 'name must'],
      [{ name: undefined }, 'name must be text'],
      [{ address: 'play example' }, ''],
      [{ connection_port: '25565' }, 'connection_port must be a whole number, 1 to 65535'],
      [{ query_port: 0 }, 'query_port must be a whole number, 1 to 65535'],
      [{ country_code: 'Germany' }, 'country_code must have two letters'],
      [{ is_premium: 'yes' }, 'is_premium must be true or false'],
      [{ server_id: ID.toUpperCase() }, 'server_id must be 24 lower-case hex digits'],
      [{ slug: 'Alpha Craft' }, 'slug must be lower-case letters'],
      [{ slug: ID }, 'slug must be lower-case letters'],
      [{ date_added: '2999-01-01T00:00:00Z' }, 'date_added must not be in the future'],
      [{ owner_email: 'nobody' }, 'owner_email must be an e-mail address'],
    ];
    const end = await importServers(lines(server(), ...bad.map(([change]) => server(change))));

    expect(end.refusedLines).toEqual(
      bad.map(([, reason], index) => ({ line: index + 2, reason: expect.stringContaining(reason) })),
    );
    expect(await deps.servers.countDocuments()).toBe(0);
  });

  it('are those whose id or slug is taken, here or in a line before', async () => {
    const { serverId, slug } = await addServer(
      deps,
      { name: 'Taken', address: 'play.example.org', port: 1 },
      'test',
    );
    const end = await importServers(
      lines(
        server({ slug }),
        server({ server_id: ID, slug }),
        server({ server_id: serverId, slug: 'other' }),
        server({ server_id: ID, slug: 'twice' }),
        server({ slug: 'twice' }),
        server({ name: 'Fine' }),
      ),
      { skipBad: true },
    );

    expect(end).toMatchObject({ imported: 2, refused: 4 });
    expect(end.refusedLines).toEqual([
      { line: 1, reason: 'the slug taken is taken by another server' },
      { line: 2, reason: 'the slug taken is taken by another server' },
      { line: 3, reason: 'the id belongs to the server taken' },
      { line: 5, reason: 'the slug twice is taken by another server' },
    ]);
  });

  it('are those of a server that was removed here', async () => {
    await importServers(lines(server({ server_id: ID })));
    await deps.servers.updateOne({ _id: new ObjectId(ID) }, { $set: { removedAt: new Date() } });
    const end = await importServers(lines(server({ server_id: ID })));

    expect(end.refusedLines[0]?.reason).toBe('this server was removed here, and its id is never used again');
  });
});
