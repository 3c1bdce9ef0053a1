import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { DAY, HOUR } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { BlockList, MOST_BLOCKS } from '../../../src/votes/blocks/block-list.ts';
import { addBlock, liftBlock, listBlocks } from '../../../src/votes/blocks/change-blocks.ts';
import { erasePlayer } from '../../../src/workflows/erase-player.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

const NOW = new Date('2026-11-21T10:00:00Z');

async function opened() {
  const clock = stoppedClock(NOW);
  return { deps: { ...(await testDeps()), clock }, clock };
}

const name = (value: string) => ({ kind: 'name', value, reason: 'Insults' });
const network = (value: string) => ({ kind: 'network', value, reason: 'Bots' });
const isNameBlocked = async ({ blockList, clock }: AppDeps, key: string) =>
  (await blockList.findName(key, clock.now())) !== null;
const isNetworkBlocked = async ({ blockList, clock }: AppDeps, address: string) =>
  (await blockList.findNetwork(address, clock.now())) !== null;

test('a name is blocked in every spelling, and a network in both families', async () => {
  const { deps } = await opened();
  await addBlock(deps, name(' ＳTEVE '), 'ada@example.org');
  await addBlock(deps, network('203.0.113.9/24'), 'ada@example.org');
  await addBlock(deps, network('2001:db8:1::/48'), 'ada@example.org');
  expect(await isNameBlocked(deps, 'steve')).toBe(true);
  expect(await isNameBlocked(deps, 'steven')).toBe(false);
  for (const [address, blocked] of [
    ['203.0.113.200', true],
    ['::ffff:203.0.113.200', true],
    ['203.0.114.1', false],
    ['2001:db8:1:2::3', true],
    ['2001:db8:2::3', false],
    ['no address', false],
  ] as const)
    expect(await isNetworkBlocked(deps, address), address).toBe(blocked);
  const { rows } = await listBlocks(deps, { from: undefined, limit: 10 });
  expect(rows.map(({ value, by, hits }) => [value, by, hits])).toContainEqual([
    '203.0.113.0/24',
    'ada@example.org',
    0,
  ]);
});

test('a block ends at its end, and the same name can be blocked again', async () => {
  const { deps, clock } = await opened();
  const endsAt = new Date(NOW.getTime() + DAY);
  await addBlock(deps, { ...name('Steve'), endsAt }, 'cli');
  expect(await isNameBlocked(deps, 'steve')).toBe(true);
  await expect(addBlock(deps, name('STEVE'), 'cli')).rejects.toMatchObject({
    errors: { value: 'This is blocked already.' },
  });
  clock.move(DAY);
  expect(await isNameBlocked(deps, 'steve')).toBe(false);
  await addBlock(deps, name('Steve'), 'cli');
  expect(await isNameBlocked(deps, 'steve')).toBe(true);
});

test('blocks that have ended leave room in the list', async () => {
  const { deps, clock } = await opened();
  const endsAt = new Date(NOW.getTime() + HOUR);
  const rest = { kind: 'name' as const, reason: 'Bots', by: 'cli', at: NOW, endsAt, isActive: true, hits: 0 };
  await deps.blocks.insertMany(
    Array.from({ length: MOST_BLOCKS }, (_, i) => ({ _id: new ObjectId(), value: `bot ${i}`, ...rest })),
  );
  await expect(addBlock(deps, name('Steve'), 'cli')).rejects.toMatchObject({
    errors: { value: expect.stringContaining('The list is full') },
  });
  clock.move(HOUR);
  await addBlock(deps, name('Steve'), 'cli');
  expect(await isNameBlocked(deps, 'steve')).toBe(true);
});

test('erasing a player deletes blocks of the name that have ended, and no other', async () => {
  const { deps, clock } = await opened();
  await addBlock(deps, { ...name('Steve'), endsAt: new Date(NOW.getTime() + HOUR) }, 'cli');
  await addBlock(deps, name('Alex'), 'cli');
  clock.move(HOUR);
  for (const player of ['steve', 'Alex']) await erasePlayer(deps, player, 'cli');
  expect(await deps.blocks.distinct('username')).toEqual(['Alex']);
});

test('a lifted block has no effect, and both decisions are in the audit log', async () => {
  const { deps } = await opened();
  const { _id } = await addBlock(deps, name('Steve'), 'ada@example.org');
  expect(await liftBlock(deps, _id, 'bob@example.org')).toMatchObject({
    lifted: { by: 'bob@example.org' },
  });
  expect(await liftBlock(deps, _id, 'bob@example.org')).toBeNull();
  expect(await isNameBlocked(deps, 'steve')).toBe(false);
  const entries = await deps.auditLog
    .find({ action: /^block/ })
    .sort({ _id: 1 })
    .toArray();
  expect(entries.map(({ action, by }) => [action, by])).toEqual([
    ['block.add', 'ada@example.org'],
    ['block.lift', 'bob@example.org'],
  ]);
  expect(entries[0]?.details).toMatchObject({ username: 'Steve', reason: 'Insults', endsAt: null });
});

test('input that makes no sense, and a very large network without a confirmation, are refused', async () => {
  const { deps } = await opened();
  const refused = async (input: Parameters<typeof addBlock>[1]) =>
    addBlock(deps, input, 'cli').then(
      () => null,
      ({ errors }: { errors: object }) => Object.keys(errors),
    );
  expect(await refused({ ...name('Steve'), kind: 'server' })).toEqual(['kind']);
  expect(await refused({ ...name('Steve'), reason: ' ' })).toEqual(['reason']);
  expect(await refused({ ...name('Steve'), endsAt: NOW })).toEqual(['endsAt']);
  expect(await refused(name('a\nb'))).toEqual(['value']);
  expect(await refused(network('Steve'))).toEqual(['value']);
  for (const wide of ['203.0.0.0/15', '2001::/31', '0.0.0.0/0']) {
    expect(await refused(network(wide)), wide).toEqual(['isWideMeant']);
    expect(await refused({ ...network(wide), isWideMeant: true }), wide).toBeNull();
  }
  expect(await deps.auditLog.countDocuments({ action: 'block.add' })).toBe(3);
});

test('of two operators who block the same name at once one adds it', async () => {
  const { deps } = await opened();
  const both = await Promise.allSettled([
    addBlock(deps, name('Steve'), 'a'),
    addBlock(deps, name('steve'), 'b'),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('a change in another process applies after the list is refreshed', async () => {
  const { deps } = await opened();
  const other = new BlockList(deps.blocks, deps.log, { ttlMs: 20 });
  expect(await other.findName('steve', NOW)).toBeNull();
  const { _id } = await addBlock(deps, name('Steve'), 'cli');
  await vi.waitFor(async () => expect(await other.findName('steve', NOW)).not.toBeNull(), EVENTUALLY);
  await liftBlock(deps, _id, 'cli');
  await vi.waitFor(async () => expect(await other.findName('steve', NOW)).toBeNull(), EVENTUALLY);
});

test('many votes at once cost one query, and further ones none', async () => {
  const { deps } = await opened();
  const find = vi.fn(deps.blocks.find.bind(deps.blocks));
  const list = new BlockList({ find } as never, deps.log);
  await Promise.all(Array.from({ length: 50 }, (_, i) => list.findName(`player ${i}`, NOW)));
  await list.findNetwork('203.0.113.1', NOW);
  expect(find).toHaveBeenCalledTimes(1);
});

test('while MongoDB fails, the last list stays in effect; without one the error is passed on', async () => {
  const entry = { _id: new ObjectId(), kind: 'name', value: 'steve', isActive: true };
  const answers = [
    () => Promise.reject(new Error('away')),
    () => Promise.resolve([entry]),
    () => Promise.reject(new Error('away')),
  ];
  const find = () => ({ toArray: () => (answers.shift() ?? (() => Promise.resolve([])))() });
  const warn = vi.fn();
  const list = new BlockList({ find } as never, { warn }, { ttlMs: 0 });
  await expect(list.findName('steve', NOW)).rejects.toThrow('away');
  expect(await list.findName('steve', NOW)).not.toBeNull();
  expect(await list.findName('steve', NOW)).not.toBeNull();
  expect(warn).toHaveBeenCalledTimes(1);
  expect(await list.findName('steve', NOW)).toBeNull();
});

test('hits are counted together and written soon', async () => {
  const { deps, clock } = await opened();
  const block = await addBlock(deps, name('Steve'), 'cli');
  for (let i = 0; i < 3; i += 1) deps.blockList.countHit(block, clock.now());
  clock.move(HOUR);
  deps.blockList.countHit(block, clock.now());
  const stored = () => deps.blocks.findOne({ _id: block._id });
  expect((await stored())?.hits).toBe(0);
  await vi.waitFor(
    async () => expect(await stored()).toMatchObject({ hits: 4, lastHitAt: clock.now() }),
    EVENTUALLY,
  );
});
