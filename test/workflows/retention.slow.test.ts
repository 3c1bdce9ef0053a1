import { ObjectId, UUID, type WithId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { exportVotes } from '../../src/import-export/export.ts';
import { voteImporter, writeVotes } from '../../src/import-export/import-votes.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, monthsBefore } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { Server } from '../../src/servers/server.ts';
import { exclusionOfBlock } from '../../src/votes/cast/cast-from-api.ts';
import { newVoteId } from '../../src/votes/cast/cast-vote.ts';
import { openQuarantine } from '../../src/votes/exclusions/quarantine.ts';
import { namelessKey } from '../../src/votes/nameless.ts';
import { topVoters } from '../../src/votes/top-voters.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { countVotesBetween } from '../../src/votes/vote-figures.ts';
import { forgetAddresses } from '../../src/workflows/retention/forget-addresses.ts';
import { forgetNames } from '../../src/workflows/retention/forget-names.ts';
import { castVote } from '../support/casting.ts';
import { listServers } from '../support/servers.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { deliveryIn, storedVote } from '../support/votes.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const TODAY = dayOf(NOW);
/** The first moment of which a vote keeps its player's name. */
const KEPT_FROM = new Date('2026-08-21T00:00:00Z');
const daysBefore = (days: number) => after(KEPT_FROM, -days * DAY);

async function open(env: Record<string, string> = {}) {
  const deps = { ...(await testDeps(env)), clock: stoppedClock(NOW) };
  const [serverId = new ObjectId()] = await listServers(deps, [{ name: 'Alpha' }]);
  return { deps, serverId };
}

/** Votes of players on the days before the limit; a negative day is after it. */
async function votesOf(
  { votes }: AppDeps,
  serverId: ObjectId,
  players: [name: string, days: number, more?: Partial<Vote>][],
) {
  const stored = players.map(([name, days, more], i) =>
    storedVote(serverId, name, daysBefore(days), { seq: i + 1, ...more }),
  );
  await votes.insertMany(stored);
  return stored;
}

async function exported(deps: AppDeps, serverId: ObjectId): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of (await exportVotes(deps, serverId, {})).lines) lines.push(line);
  return lines;
}

it.each([
  ['2026-11-21', 3, '2026-08-21'],
  ['2026-05-31', 3, '2026-02-28'],
  ['2024-05-31', 3, '2024-02-29'],
  ['2026-01-15', 13, '2024-12-15'],
])('%s minus %i months is %s', (day, months, before) => {
  expect(dayOf(monthsBefore(day, months))).toBe(before);
});

describe('names of players', () => {
  it('leave votes that are old enough, and running it twice changes nothing more', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    const attempts = [{ id: new UUID(), at: NOW, worker: 'w', words: 'ok, steve' }] as never;
    await votesOf(deps, serverId, [
      ['steve', 500, { delivery: deliveryIn('delivered', { attempts }) }],
      ['steve', 3],
      ['alex', 1 / 24],
      ['steve', 0],
      ['alex', -20],
    ]);
    const range = [new Date(0), NOW] as const;
    const entry = { by: 'cli', action: 'vote.forget', serverId, details: { username: 'steve' } };
    await deps.auditLog.insertMany([
      { _id: new ObjectId(), at: daysBefore(1), ...entry },
      { _id: new ObjectId(), at: daysBefore(-1), ...entry },
    ]);
    expect(await forgetNames(deps, TODAY)).toBe(3);
    const names = await deps.votes.find().sort({ votedAt: 1 }).toArray();
    expect(names.map(({ username }) => username)).toEqual([
      '(erased)',
      '(erased)',
      '(erased)',
      'steve',
      'alex',
    ]);
    expect(new Set(names.map(({ usernameKey }) => usernameKey)).size).toBe(5);
    expect(JSON.stringify(names.slice(0, 3))).not.toMatch(/steve|alex/);
    const details = deps.auditLog.find().sort({ at: 1 });
    expect(await details.map((one) => one.details).toArray()).toEqual([{}, { username: 'steve' }]);
    expect(await forgetNames(deps, TODAY)).toBe(0);
    expect(await deps.votes.find().sort({ votedAt: 1 }).toArray()).toEqual(names);
    expect(await countVotesBetween(deps.votes, serverId, ...range)).toBe(5);
    // The next day takes the votes of one day more.
    expect(await forgetNames(deps, '2026-11-22')).toBe(1);
  });

  it('stay for ever by default', async () => {
    const { deps, serverId } = await open();
    await votesOf(deps, serverId, [['steve', 2_000]]);
    expect(await forgetNames(deps, TODAY)).toBe(0);
    expect(await deps.votes.countDocuments({ username: 'steve' })).toBe(1);
  });

  it('stay while a delivery or a quarantine is open, and leave with the next run after it', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    const quarantineId = await openQuarantine(deps, serverId, 'Too many at once.');
    const heldBy = (id: ObjectId) => ({
      quarantinedAt: daysBefore(8),
      excludedAt: daysBefore(8),
      excludedBy: [id],
    });
    await votesOf(deps, serverId, [
      ['steve', 9],
      ['held', 8, heldBy(quarantineId)],
      ['sent', 7, { delivery: deliveryIn('sending') }],
      [
        'released',
        6,
        { delivery: deliveryIn('none', { events: [{ at: after(NOW, -HOUR), kind: 'released' }] }) },
      ],
      ['alex', 5],
    ]);
    const left = () => deps.votes.distinct('username', { serverId });
    expect(await forgetNames(deps, TODAY)).toBe(2);
    expect((await left()).toSorted()).toEqual(['(erased)', 'held', 'released', 'sent']);
    expect(await forgetNames(deps, TODAY)).toBe(0);
    await deps.votes.updateMany(
      { serverId },
      { $set: { 'delivery.state': 'none', 'delivery.events': [] }, $unset: { quarantinedAt: 1 } },
    );
    expect(await forgetNames(deps, TODAY)).toBe(3);
    expect(await left()).toEqual(['(erased)']);
  });

  it('leave held votes that an operator excluded, or whose player is blocked', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    const quarantineId = await openQuarantine(deps, serverId, 'Too many at once.');
    const player = { username: 'Steve', usernameKey: 'steve' };
    const blockId = await exclusionOfBlock(deps, { serverId, blockId: new ObjectId(), ...player });
    const [excludedAt, quarantinedAt] = [daysBefore(8), daysBefore(8)];
    await votesOf(deps, serverId, [
      ['steve', 8, { quarantinedAt, excludedAt, excludedBy: [blockId] }],
      ['alex', 8, { quarantinedAt, excludedAt, excludedBy: [quarantineId] }],
    ]);
    expect(await forgetNames(deps, TODAY)).toBe(1);
    await deps.voteExclusions.updateOne({ _id: quarantineId }, { $set: { state: 'confirming' } });
    expect(await forgetNames(deps, TODAY)).toBe(0);
    await deps.voteExclusions.updateOne({ _id: quarantineId }, { $set: { state: 'excluded' } });
    expect(await forgetNames(deps, TODAY)).toBe(1);
    expect(await deps.votes.distinct('username')).toEqual(['(erased)']);
    expect((await deps.servers.findOne({ _id: serverId }))?.votesNamedSince).toEqual(KEPT_FROM);
  });

  it('continue where an interrupted run stopped, and two runs at once do no harm', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    const many = Array.from({ length: 1_200 }, (_, i) => [`p${i}`, 2_000 - i] as [string, number]);
    await votesOf(deps, serverId, many);
    const stop = new AbortController();
    let updates = 0;
    const votes = new Proxy(deps.votes, {
      get(target, key) {
        const value = Reflect.get(target, key);
        if (key !== 'updateOne') return typeof value === 'function' ? value.bind(target) : value;
        return async (...input: Parameters<typeof target.updateOne>) => {
          updates += 1;
          if (updates === 600) stop.abort();
          return target.updateOne(...input);
        };
      },
    });
    const interrupted = forgetNames({ ...deps, votes }, TODAY, { signal: stop.signal });
    await expect(interrupted).rejects.toThrow('aborted');
    const half = await deps.votes.countDocuments({ username: '(erased)' });
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(1_200);
    await Promise.all([forgetNames(deps, TODAY), forgetNames(deps, TODAY)]);
    await forgetNames(deps, TODAY);
    expect(await deps.votes.countDocuments({ username: '(erased)' })).toBe(1_200);
    expect(await countVotesBetween(deps.votes, serverId, new Date(0), NOW)).toBe(1_200);
  });

  it('are missing in lists of top voters, and a player who returns can vote', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    await votesOf(deps, serverId, [
      ['steve', 3],
      ['alex', 2],
      ['alex', -1],
    ]);
    await forgetNames(deps, TODAY);
    const august = await topVoters(deps, serverId, 10, '2026-08');
    expect(august.map(({ username, votes }) => [username, votes])).toEqual([['alex', 1]]);
    const cast = await castVote(deps, { serverId, username: 'steve', tokenId: null }, newVoteId(NOW));
    expect(cast.kind).toBe('accepted');
  });

  it('an export of nameless votes can be imported, here and elsewhere', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    await votesOf(deps, serverId, [
      ['steve', 5],
      // At the same time.
      ['alex', 5],
      ['alex', -1],
    ]);
    await forgetNames(deps, TODAY);
    const lines = (await exported(deps, serverId)).map((line) => JSON.parse(line));
    expect(lines.map(({ username }) => username)).toEqual(['(erased)', '(erased)', 'alex']);
    const importer = voteImporter(deps, async () => undefined);
    const records = lines.map((line) => importer.schema.parse(line));
    expect(await importer.write(records)).toEqual(Array(3).fill('already-there'));
    const other = await open();
    await other.deps.servers.insertOne({
      ...((await deps.servers.findOne({ _id: serverId })) as WithId<Server>),
      slug: 'other',
      slugs: ['other'],
    });
    expect(await writeVotes(other.deps, records)).toEqual(Array(3).fill('imported'));
    expect(await exported(other.deps, serverId)).toEqual(await exported(deps, serverId));
    // The export of an older version has no ids.
    const plain = importer.schema.parse({ ...lines[0], nameless: undefined });
    expect(plain.usernameKey).toBe(namelessKey(''));
  });

  it('leave votes that are imported later', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    await votesOf(deps, serverId, [['steve', 5]]);
    await forgetNames(deps, TODAY);
    const importer = voteImporter(deps, async () => undefined);
    await importer.write([
      { serverId, username: 'alex', votedAt: daysBefore(400) },
      { serverId, username: 'alex', votedAt: daysBefore(-4) },
    ]);
    expect(await forgetNames(deps, TODAY)).toBe(1);
    expect(await deps.votes.distinct('username')).toEqual(['(erased)', 'alex']);
  });
});

describe('names in decisions about players', () => {
  it('leave finished exclusions and audit entries that are old enough', async () => {
    const { deps, serverId } = await open({ KEEP_PLAYER_NAMES_MONTHS: '3' });
    const range = { serverId, since: new Date(0), until: NOW, tokenId: null, reason: 'A bot', by: 'cli' };
    const player = { username: 'Steve', usernameKey: 'steve' };
    const rest = { undone: null, days: [], votes: 0 };
    for (const [days, state] of [
      [1, 'excluded'],
      [1, 'excluding-player'],
      [-1, 'excluded'],
    ] as const) {
      const at = daysBefore(days);
      await deps.voteExclusions.insertOne({
        _id: new ObjectId(),
        ...range,
        ...player,
        ...rest,
        state,
        at,
      });
    }
    const entry = { at: daysBefore(1), by: 'cli', serverId: null };
    for (const action of ['vote.exclude', 'vote.release', 'block.add']) {
      const details = { username: 'Steve', reason: 'A bot' };
      await deps.auditLog.insertOne({ _id: new ObjectId(), ...entry, action, details });
    }
    await forgetNames(deps, TODAY);
    const exclusions = await deps.voteExclusions.find().sort({ _id: 1 }).toArray();
    expect(exclusions.map(({ username, usernameKey }) => [username, usernameKey])).toEqual([
      ['(erased)', undefined],
      ['Steve', 'steve'],
      ['Steve', 'steve'],
    ]);
    expect(JSON.stringify(await deps.auditLog.find().toArray())).not.toContain('Steve');
  });
});

describe('e-mail addresses', () => {
  const old = after(NOW, -800 * DAY);
  const recent = after(NOW, -700 * DAY);

  async function fill(deps: AppDeps, serverId: ObjectId) {
    const { auditLog, reviews, voteExclusions, blocks, servers } = deps;
    const entry = { action: 'server.transfer', serverId };
    for (const at of [old, recent]) {
      await auditLog.insertMany([
        {
          _id: new ObjectId(),
          at,
          by: 'op@example.org',
          ...entry,
          details: { from: null, to: 'a@example.org', n: 2 },
        },
        {
          _id: new ObjectId(),
          at,
          by: 'cli',
          ...entry,
          details: { reason: 'write to me@home, please', list: ['x'] },
        },
        { _id: new ObjectId(), at, by: 'cli', ...entry, details: { email: 'b@example.org' } },
      ]);
      await reviews.insertOne({
        _id: new ObjectId(),
        serverId,
        username: 'Steve',
        rating: 5,
        state: 'approved',
        createdAt: at,
        moderatedAt: at,
        moderatedBy: 'op@example.org',
        rejectedFor: null,
        answer: { text: 'Thanks', at, by: 'owner@example.org' },
      } as never);
      await voteExclusions.insertOne({
        _id: new ObjectId(),
        serverId,
        since: at,
        until: at,
        tokenId: null,
        reason: 'A flood',
        by: 'op@example.org',
        at,
        undone: { by: 'op@example.org', at },
        state: 'included',
        days: [],
        votes: 0,
      });
    }
    const block = { kind: 'network' as const, value: '203.0.113.0/24', reason: 'Bots', hits: 0 };
    await blocks.insertOne({ _id: new ObjectId(), ...block, by: 'op@example.org', at: old, isActive: true });
    const invitations = [{ email: 'c@example.org', role: 'manager', by: 'owner@example.org', at: old }];
    await servers.updateOne(
      { _id: serverId },
      { $set: { removedAt: old, ownerEmail: 'owner@example.org', invitations } as never },
    );
  }

  it('leave old entries, decisions and removed servers; running it twice changes nothing more', async () => {
    const { deps, serverId } = await open();
    await fill(deps, serverId);
    const { auditLog, reviews, voteExclusions, servers } = deps;
    const everything = async () => ({
      audit: await auditLog.find().sort({ at: 1, _id: 1 }).toArray(),
      reviews: await reviews.find().sort({ createdAt: 1 }).toArray(),
      exclusions: await voteExclusions.find().sort({ at: 1 }).toArray(),
      server: await servers.findOne({ _id: serverId }),
    });
    expect(await forgetAddresses(deps, TODAY)).toBe(8);
    expect(await deps.blocks.findOne()).toMatchObject({ by: '(removed)', isActive: true });
    const after1 = await everything();
    expect(after1.audit.map(({ by, details }) => [by, details])).toEqual([
      ['(removed)', { from: null, to: '(removed)', n: 2 }],
      ['cli', { reason: 'write to me@home, please', list: ['x'] }],
      ['cli', { email: '(removed)' }],
      ['op@example.org', { from: null, to: 'a@example.org', n: 2 }],
      ['cli', { reason: 'write to me@home, please', list: ['x'] }],
      ['cli', { email: 'b@example.org' }],
    ]);
    expect(after1.reviews.map(({ moderatedBy, answer }) => [moderatedBy, answer?.by])).toEqual([
      ['(removed)', '(removed)'],
      ['op@example.org', 'owner@example.org'],
    ]);
    expect(after1.exclusions.map(({ by, undone }) => [by, undone?.by])).toEqual([
      ['(removed)', '(removed)'],
      ['op@example.org', 'op@example.org'],
    ]);
    expect(after1.server).not.toHaveProperty('ownerEmail');
    expect(after1.server).not.toHaveProperty('invitations');
    expect(await forgetAddresses(deps, TODAY)).toBe(0);
    expect(await everything()).toEqual(after1);
  });

  it('leave lifted blocks too, which may be stored for longer', async () => {
    const { deps } = await open({ KEEP_ADDRESSES_MONTHS: '1' });
    const at = after(NOW, -50 * DAY);
    await deps.blocks.insertOne({
      _id: new ObjectId(),
      kind: 'name',
      value: 'steve',
      reason: 'Bots',
      hits: 0,
      by: 'cli',
      at,
      lifted: { by: 'op@example.org', at },
    });
    expect(await forgetAddresses(deps, TODAY)).toBe(1);
    expect(await deps.blocks.findOne()).toMatchObject({ lifted: { by: '(removed)' } });
  });

  it('stay with 0 months', async () => {
    const { deps, serverId } = await open({ KEEP_ADDRESSES_MONTHS: '0' });
    await fill(deps, serverId);
    expect(await forgetAddresses(deps, TODAY)).toBe(0);
  });
});
