import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { exportServers } from '../../src/import-export/export.ts';
import { serverImporter } from '../../src/import-export/import-servers.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { setProfile } from '../../src/servers/edit-profile.ts';
import { addServer, findServer } from '../../src/servers/listed-servers.ts';
import { addTag } from '../../src/servers/tag-list.ts';
import { setHowToVote } from '../../src/servers/vote-options.ts';
import { testDeps } from '../support/test-deps.ts';
import { importText, lines } from './importing.ts';

let deps: AppDeps;

beforeEach(async () => {
  deps = await testDeps();
});

const PROFILE = {
  shortText: 'Ships & “storms”',
  description: '# Hello\n\n- *one*\n- 二 \\ "three"',
  tags: ['survival', 'sea'],
  languages: 'en, German',
  website: 'https://example.org/?a=1&b=2',
  discord: 'https://discord.gg/AbCdEf',
  store: '',
  rules: '',
  video: 'https://example.org/video',
};

async function add(name: string, more: object = {}): Promise<string> {
  const settings = { name, address: 'play.example.org', port: 25_565, ...more };
  return (await addServer(deps, settings, 'test')).serverId;
}

async function exported(from: AppDeps, serverId?: string): Promise<string> {
  const { total, lines } = await exportServers(from, serverId ? new ObjectId(serverId) : undefined);
  const text: string[] = [];
  for await (const line of lines) text.push(line);
  expect(total).toBe(text.length);
  return text.join('');
}

const importInto = (to: AppDeps, text: string) => importText(() => serverImporter(to, 'test'), text);

describe('exported servers', () => {
  it('can be imported into another listing with all that they say of themselves', async () => {
    await addTag(deps, { name: 'Sea' }, 'test');
    const second = { secondAddress: 'bedrock.example.org', secondPort: 19_133 };
    const alpha = await add('Alpha', { game: 'minecraft', countryCode: 'DE', queryPort: 25_566, ...second });
    await add('Pals', { game: 'palworld' });
    const server = await findServer(deps, alpha);
    if (!server) throw new Error('not listed');
    await setProfile(deps, server, PROFILE, 'test');
    await setHowToVote(deps, server._id, 'Type /vote\nin the game', 'test');
    const text = await exported(deps);

    const other = await testDeps();
    // Its operators have other tags.
    const refused = await importInto(other, text);
    expect(refused).toMatchObject({
      imported: 0,
      refusedLines: [{ line: 1, reason: '“sea” is no longer in the list of tags.' }],
    });
    await addTag(other, { name: 'Sea' }, 'test');
    expect(await importInto(other, text)).toMatchObject({ imported: 2, refused: 0 });
    expect(await exported(other)).toBe(text);
    const moved = await findServer(other, alpha);
    expect(moved?.profile).toEqual((await findServer(deps, alpha))?.profile);
    expect(moved?.second).toMatchObject({ address: 'bedrock.example.org', port: 19_133 });
    expect(moved?.howToVote).toBe('Type /vote\nin the game');
    expect(await importInto(other, text)).toMatchObject({ imported: 0, alreadyThere: 2 });
  });

  it('are the listed ones that are not hidden; a named one may be hidden', async () => {
    const [hidden, removed] = [await add('Hidden'), await add('Removed')];
    const shown = await add('Shown');
    const set = (id: string, field: string) =>
      deps.servers.updateOne({ _id: new ObjectId(id) }, { $set: { [field]: new Date() } });
    await set(hidden, 'hiddenAt');
    await set(removed, 'removedAt');
    expect((await exported(deps)).match(/"server_id":"\w+"/g)).toEqual([`"server_id":"${shown}"`]);
    expect(await exported(deps, hidden)).toContain('"name":"Hidden"');
  });

  it('name the owner’s address, so that the owner gets the server by signing in', async () => {
    const id = await add('Alpha');
    const ownerId = new ObjectId();
    await deps.users.insertOne({ _id: ownerId, email: 'owner@example.org' } as never);
    await deps.servers.updateOne({ _id: new ObjectId(id) }, { $set: { ownerId } });
    expect(await exported(deps)).toContain('"owner_email":"owner@example.org"');
  });
});

describe('a line is refused', () => {
  it.each([
    [{ profile: { website: 'javascript:alert(1)' } }, 'website'],
    [{ profile: { discord: 'https://example.org' } }, 'invite'],
    [{ profile: { description: 'x'.repeat(10_001) } }, 'at most 10,000 characters'],
    [{ profile: { languages: ['Klingonese'] } }, 'not a known language'],
    [{ profile: { tags: ['no-such-tag'] } }, 'no longer in the list of tags'],
    [{ profile: 'text' }, 'must be an object'],
    [{ profile: { tags: 'pvp' } }, 'must be an object'],
    [{ game: 'rust', second_address: 'b.example.org' }, 'Only a server of Minecraft'],
    [{ game: 'minecraft', second_port: 19_132 }, 'Enter the address for this port too'],
    [{ how_to_vote: 'x'.repeat(2_001) }, 'at most 2,000 characters'],
  ])('%j', async (more, reason) => {
    const line = { name: 'Alpha', address: 'play.example.org', connection_port: 25_565, ...more };
    const { refusedLines, imported } = await importInto(deps, lines(line));
    expect(imported).toBe(0);
    expect(refusedLines[0]?.reason).toContain(reason);
  });
});

describe('a pause', () => {
  it('is exported with its earlier ones, and goes on in the listing that imports it', async () => {
    const alpha = await add('Alpha');
    const [from, until] = [new Date('2026-11-01T08:00:00Z'), new Date('2026-11-03T08:00:00Z')];
    const pauses = {
      listingPause: { at: from, until: new Date('2999-01-01T00:00:00Z'), text: 'Moving' },
      earlierPauses: [{ from, until }],
    };
    await deps.servers.updateOne({ slug: 'alpha' }, { $set: pauses });
    const text = await exported(deps);
    expect(JSON.parse(text)).toMatchObject({
      pause: { from: from.toISOString(), until: '2999-01-01T00:00:00.000Z', text: 'Moving' },
      earlier_pauses: [{ from: from.toISOString(), until: until.toISOString() }],
    });
    const other = await testDeps();
    expect(await importInto(other, text)).toMatchObject({ imported: 1 });
    expect(await findServer(other, alpha)).toMatchObject(pauses);
    expect(await exported(other)).toBe(text);
  });

  it.each([
    [{ pause: { from: '2999-01-01T00:00:00Z' } }, 'in the future'],
    [{ pause: { from: '2026-11-01T08:00:00Z', text: 'x\ny' } }, 'line breaks'],
    [{ earlier_pauses: [{ from: '2026-11-03T08:00:00Z', until: '2026-11-01T08:00:00Z' }] }, 'must end after'],
    [{ earlier_pauses: 5 }, 'must be a list'],
  ])('%j is refused', async (more, reason) => {
    const line = { name: 'Beta', address: 'play.example.org', connection_port: 25_565, ...more };
    expect(JSON.stringify(await importInto(deps, lines(line)))).toContain(reason);
  });
});
