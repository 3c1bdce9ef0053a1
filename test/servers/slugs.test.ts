import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { completeServers } from '../../src/database/migrations/0001-complete-servers.ts';
import { serverImporter } from '../../src/import-export/import-servers.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer, editServer, findServer } from '../../src/servers/listed-servers.ts';
import { searchServers } from '../../src/servers/search-servers.ts';
import { slugOf } from '../../src/servers/slug.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { importText, lines } from '../import-export/importing.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
let port = 30_000;

beforeAll(async () => {
  deps = await testDeps();
});

async function list(name: string): Promise<ObjectId> {
  const { serverId } = await addServer(deps, { name, address: 'play.example.org', port: port++ }, 'test');
  return new ObjectId(serverId);
}

async function rename(serverId: ObjectId, name: string): Promise<string | undefined> {
  return (await editServer(deps, serverId, { name }, 'test'))?.slug;
}

const slugOfServer = async (id: ObjectId) => (await deps.servers.findOne({ _id: id }))?.slug;
const foundBy = async (slug: string) => (await findServer(deps, slug))?._id.toHexString();

it('a renamed server gets a new slug and is found by all its earlier ones', async () => {
  const id = await list('First Harbour');
  expect(await rename(id, 'Second Harbour')).toBe('second-harbour');
  expect(await rename(id, 'Third Harbour')).toBe('third-harbour');
  for (const slug of ['first-harbour', 'SECOND-harbour', 'third-harbour', id.toHexString()])
    expect(await foundBy(slug)).toBe(id.toHexString());
  const searched = await searchServers(deps, 'first-har', { limit: 5 });
  expect(searched.map(({ _id }) => _id)).toEqual([id]);
});

it('a name with another spelling keeps the slug, also a slug with a number', async () => {
  const id = await list('Plain Name');
  expect(await rename(id, 'PLAIN   name!')).toBe('plain-name');
  const second = await list('Plain Name');
  expect(await rename(second, 'plain-name')).toBe('plain-name-2');
});

it('a slug that another server has or had is never reused', async () => {
  const [one, other] = [await list('Wanted'), await list('Other')];
  await rename(one, 'Moved On');
  expect(await slugOfServer(await list('Wanted'))).toBe('wanted-2');
  expect(await rename(other, 'Wanted')).toBe('wanted-3');
  await removeServer(deps, one, 'test');
  expect(await slugOfServer(await list('Moved On'))).toBe('moved-on-2');
  expect(await slugOfServer(await list('Wanted'))).toBe('wanted-4');
});

it('a server that gets its old name again gets its old slug again', async () => {
  const [id, copy] = [await list('Swap'), await list('Swap')];
  await rename(id, 'Swapped');
  await rename(copy, 'Swapped too');
  expect(await rename(copy, 'Swap')).toBe('swap-2');
  expect(await rename(id, 'Swap')).toBe('swap');
  expect(await foundBy('swapped')).toBe(id.toHexString());
});

it('servers that get the same name at the same time get different slugs', async () => {
  const ids = await Promise.all(['Race A', 'Race B', 'Race C', 'Race D'].map(list));
  const given = await Promise.all([...ids.map((id) => rename(id, 'Same Goal')), list('Same Goal')]);
  const slugs = await deps.servers.distinct('slug', { slug: /^same-goal/ });
  expect(given).toHaveLength(5);
  expect(slugs.toSorted()).toEqual(['same-goal', 'same-goal-2', 'same-goal-3', 'same-goal-4', 'same-goal-5']);
});

it('after several renames at the same time the slug belongs to the name that was stored last', async () => {
  const id = await list('Beginning');
  await Promise.all(['Left', 'Right', 'BEGINNING'].map((name) => rename(id, name)));
  const server = await deps.servers.findOne({ _id: id });
  expect(server?.slug).toBe(server?.name.toLowerCase());
  expect(server?.slugs).toContain('beginning');
});

it('a server that is renamed often has at most ten slugs', async () => {
  const id = await list('Squat 1');
  for (let i = 2; i <= 12; i++) await rename(id, `Squat ${i}`);
  const server = await deps.servers.findOne({ _id: id });
  expect(server).toMatchObject({ name: 'Squat 12', slug: 'squat-10' });
  expect(server?.slugs).toHaveLength(10);
  expect(await rename(id, 'Squat 3')).toBe('squat-3');
});

it('an import refuses an earlier slug of another server and recognises a server by its own earlier slug', async () => {
  const id = await list('Imported Once');
  await rename(id, 'Imported Twice');
  const line = { name: 'Imported Once', address: 'play.example.org', connection_port: 1 };
  const text = lines(
    { ...line, slug: 'imported-once' },
    { ...line, slug: 'imported-once', server_id: id.toHexString() },
  );
  const result = await importText(() => serverImporter(deps, 'test'), text, { skipBad: true });
  expect(result.refusedLines).toEqual([
    { line: 1, reason: 'the slug imported-once is taken by another server' },
  ]);
  expect(result).toMatchObject({ imported: 0, alreadyThere: 1, refused: 1 });
});

it('the migration gives servers of an older version their slugs', async () => {
  const [id, renamed] = [await list('Old Version'), await list('Renamed Before')];
  await rename(renamed, 'Renamed After');
  await deps.servers.updateOne({ _id: id }, { $unset: { slugs: '' } });
  await completeServers(deps.mongo);
  expect(await deps.servers.findOne({ _id: id })).toMatchObject({ slugs: ['old-version'] });
  expect(await foundBy('renamed-before')).toBe(renamed.toHexString());
});

it('a server that an older version listed after the migration is found and renamed, and its slug is not reused', async () => {
  const id = await list('Late Arrival');
  await deps.servers.updateOne({ _id: id }, { $unset: { slugs: '' } });
  expect(await foundBy('late-arrival')).toBe(id.toHexString());
  expect(await slugOfServer(await list('Late Arrival'))).toBe('late-arrival-2');
  expect(await rename(id, 'Latest Arrival')).toBe('latest-arrival');
  expect(await foundBy('late-arrival')).toBe(id.toHexString());
});

it.each([
  ['Мир Кубов', 'mir-kubov'],
  ['中文生存服务器', 'zhong-wen-sheng-cun-fu-wu-qi'],
  ['マインクラフト', 'mainkurafuto'],
  ['마인크래프트 서버', 'mainkeulaepeuteu-seobeo'],
  ['مملكة البحر', 'mmlkh-lbhr'],
  ['Сервер Alpha 2', 'server-alpha-2'],
  // Latin names as before.
  ['Crème de la Straße', 'creme-de-la-strasse'],
  ['ＦＵＬＬ Wıdth ★', 'full-width'],
  // The address of the random server.
  ['Random!', 'server-random'],
])('the slug of %s is %s', (name, slug) => {
  expect(slugOf(name, '0123456789abcdef89abcdef')).toBe(slug);
});

it('a server that was listed before names of its script had slugs keeps its slug, also after a rename', async () => {
  const id = await list('Мир');
  const slug = `server-${id.toHexString().slice(-8)}`;
  await deps.servers.updateOne({ _id: id }, { $set: { slug, slugs: [slug] } });
  expect(await rename(id, 'МИР')).toBe(slug);
  expect(await rename(id, 'Мир Кубов')).toBe('mir-kubov');
  expect(await foundBy(slug)).toBe(id.toHexString());
});
