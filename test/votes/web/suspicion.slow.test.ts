import type { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { blockOrigin, liftBlock } from '../../../src/votes/blocks/change-blocks.ts';
import { decideHeld, type SeenHeld } from '../../../src/votes/exclusions/decide-held.ts';
import { finishExclusion } from '../../../src/votes/exclusions/finish-exclusion.ts';
import { openGroups } from '../../../src/votes/exclusions/held-votes.ts';
import { requestGroupInclusion } from '../../../src/votes/exclusions/player-exclusion.ts';
import { blockGroup, openQuarantine } from '../../../src/votes/exclusions/quarantine.ts';
import { networkKey } from '../../../src/votes/web/origin-keys.ts';
import { listServersAt } from '../../support/servers.ts';
import { type StoppedClock, stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { accountOf, voteAs } from '../../support/web-voters.ts';

let deps: AppDeps & { clock: StoppedClock };
let servers: ObjectId[];
let server: ObjectId;

beforeEach(async () => {
  deps = { ...(await testDeps()), clock: stoppedClock(new Date('2026-11-21T10:00:00Z')) };
  servers = await listServersAt(deps, [1, 2, 3], 'a-token-of-a-test');
  server = servers[0] as ObjectId;
});

/** The clock of these tests stands still: nothing waits for votes under way. */
const SETTLED = { settledMs: -MINUTE };

const visitor = (username: string, address: string, of = server) =>
  voteAs(deps, of, username, { address, account: null });
const member = (username: string, email: string, address: string) =>
  voteAs(deps, server, username, { address, account: accountOf(deps, email) });
const openOnes = () => deps.voteExclusions.find({ state: 'quarantined' }).sort({ _id: 1 }).toArray();

describe('the new players of an hour', () => {
  it('of eight networks with three names each leave room for five of five newcomers', async () => {
    const outcomes: string[] = [];
    for (let n = 0; n < 24; n += 1) outcomes.push(await visitor(`Bot${n}`, `20.${n % 8}.1.${n}`));
    // Each network gets one of the server's 20 places, and all of them together ten for their other names.
    expect(outcomes.filter((outcome) => outcome === 'counted')).toHaveLength(18);
    for (let n = 0; n < 5; n += 1) expect(await visitor(`New${n}`, `31.${n}.1.1`)).toBe('counted');
    expect(await openOnes()).toMatchObject([
      {
        cause: 'new-players',
        reason:
          'More than 10 players voted for the first time within an hour beside another one of their network.',
      },
    ]);
  });

  it('of one /16 are at most half, and the others are a group of their own', async () => {
    for (let n = 0; n < 10; n += 1) expect(await visitor(`Bot${n}`, `20.1.${n}.1`)).toBe('counted');
    expect(await visitor('Bot10', '20.1.10.1')).toBe('held');
    expect(await visitor('New', '31.1.1.1')).toBe('counted');
    expect(await openOnes()).toMatchObject([{ cause: 'neighbourhood', origin: expect.any(String) }]);
    deps.clock.move(HOUR);
    expect(await visitor('Bot11', '20.1.11.1')).toBe('counted');
  });

  it('of one mail domain are at most a quarter; public providers are no domain', async () => {
    for (let n = 0; n < 5; n += 1)
      expect(await member(`Bot${n}`, `b${n}@mail.farm.example`, `20.${n}.1.1`)).toBe('counted');
    expect(await member('Bot5', 'b5@farm.example', '20.5.1.1')).toBe('held');
    expect(await openOnes()).toMatchObject([{ cause: 'mail-domain' }]);
    for (let n = 0; n < 8; n += 1)
      expect(await member(`New${n}`, `n${n}@gmail.com`, `31.${n}.1.1`)).toBe('counted');
  });

  it('with accounts have their own places, and after them still those of visitors', async () => {
    for (let n = 0; n < 40; n += 1)
      expect(await member(`Bot${n}`, `b${n}@gmail.com`, `20.${n % 2}.1.1`)).toBe('counted');
    // The first player of each network, then those of other networks.
    expect(await member('Bot40', 'b40@gmail.com', '20.0.1.1')).toBe('counted');
    expect(await member('New', 'new@gmail.com', '31.1.1.1')).toBe('counted');
    expect(await visitor('Visitor', '31.2.1.1')).toBe('counted');
  });
});

describe('held votes', () => {
  const HOME = '203.0.113.7';
  /** Nine new names of one network on three servers: the last three are held. */
  async function farm(): Promise<string> {
    for (let n = 0; n < 9; n += 1) await visitor(`Bot${n}`, HOME, servers[n % 3] as ObjectId);
    return networkKey(deps, HOME);
  }

  const by = 'op@example.org';
  const EXCLUDE = { is: 'exclude', reason: 'Bots' } as const;
  /** What an operator sees of the votes that are held now. */
  async function seenNow(): Promise<SeenHeld> {
    const { rows } = await openGroups(deps, { limit: 100 });
    return { quarantineIds: rows.flatMap(({ ids }) => ids), until: deps.clock.now() };
  }

  it('of one network on three servers are one group, which one press excludes and one undoes', async () => {
    const origin = await farm();
    const { rows } = await openGroups(deps, { limit: 100 });
    expect(rows).toMatchObject([{ origin, quarantines: [{ votes: 1 }, { votes: 1 }, { votes: 1 }] }]);

    const seen = await seenNow();
    expect(await decideHeld(deps, EXCLUDE, seen, by)).toMatchObject({ missed: 0, later: 0 });
    expect(await decideHeld(deps, EXCLUDE, seen, 'other@example.org')).toMatchObject({
      exclusions: [],
      missed: 3,
    });
    const decided = await deps.voteExclusions.find({ state: 'confirming' }).toArray();
    expect(decided).toHaveLength(3);
    // The hash of the network is not stored longer than the decision is open.
    expect(decided.every((one) => one.origin === undefined && one.cause === 'network')).toBe(true);
    const [groupId] = new Set(decided.map((one) => one.groupId?.toHexString()));
    for (const { _id } of decided) await finishExclusion(deps, _id, SETTLED);
    expect(await deps.auditLog.countDocuments({ action: 'vote.exclude', by: 'op@example.org' })).toBe(3);

    const group = decided[0]?.groupId as ObjectId;
    expect(group.toHexString()).toBe(groupId);
    expect(await requestGroupInclusion(deps, group, 'op@example.org')).toHaveLength(3);
    for (const { _id } of decided) await finishExclusion(deps, _id, SETTLED);
    expect(await deps.votes.countDocuments({ excludedAt: null })).toBe(9);
  });

  it('of one network are released on all servers in one press', async () => {
    await farm();
    expect((await decideHeld(deps, { is: 'lift' }, await seenNow(), by)).exclusions).toHaveLength(3);
    for (const { _id } of await deps.voteExclusions.find({ state: 'releasing' }).toArray())
      await finishExclusion(deps, _id, SETTLED);
    expect(await deps.votes.countDocuments({ excludedAt: null })).toBe(9);
    expect(await deps.auditLog.countDocuments({ action: 'vote.release' })).toBe(3);
  });

  it('of a network lead to a block of it by its hash, which can be lifted and ends after 30 days', async () => {
    const origin = await farm();
    const block = await blockGroup(deps, origin, 'op@example.org');
    expect(block).toMatchObject({ kind: 'origin', value: origin, endsAt: new Date('2026-12-21T10:00:00Z') });
    expect(await visitor('More', '203.0.113.99')).toBe('blocked');
    expect(await visitor('Else', '203.0.114.1')).toBe('counted');
    await expect(blockGroup(deps, origin, 'op@example.org')).rejects.toThrow();
    expect(await deps.auditLog.findOne({ action: 'block.add' })).toMatchObject({
      by: 'op@example.org',
      details: { kind: 'origin', network: origin },
    });
    await liftBlock(deps, block?._id as ObjectId, 'op@example.org');
    expect(await visitor('More', '203.0.113.99')).not.toBe('blocked');
    await blockOrigin(deps, { origin, reason: 'Again' }, 'op@example.org');
    deps.clock.move(31 * 24 * HOUR);
    expect(await visitor('More', '203.0.113.99')).not.toBe('blocked');
  });

  it('of many networks on one server fill at most 20 groups; others share one', async () => {
    for (let n = 0; n < 25; n += 1)
      await openQuarantine(deps, server, 'Too many.', { cause: 'network', origin: `origin-${n}` });
    const open = await openOnes();
    expect(open).toHaveLength(21);
    expect(open.at(-1)).toMatchObject({ cause: 'new-players' });
    expect(open.at(-1)).not.toHaveProperty('origin');
    expect(await blockGroup(deps, 'origin-24', 'op@example.org')).toBeNull();
  });
});
