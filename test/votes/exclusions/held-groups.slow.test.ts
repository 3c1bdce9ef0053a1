import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { SECOND } from '../../../src/platform/clock.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import { decideHeld, MOST_DECIDED } from '../../../src/votes/exclusions/decide-held.ts';
import { openGroups } from '../../../src/votes/exclusions/held-votes.ts';
import { openQuarantine } from '../../../src/votes/exclusions/quarantine.ts';
import { type StoppedClock, stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

const BY = 'op@example.org';

let deps: AppDeps & { clock: StoppedClock };

beforeEach(async () => {
  deps = { ...(await testDeps()), clock: stoppedClock(new Date('2026-11-21T10:00:00Z')) };
});

/** Opens one quarantine for each origin, each on a server of its own and a second later than the one before. */
async function open(...origins: string[]): Promise<void> {
  for (const origin of origins) {
    deps.clock.move(SECOND);
    await openQuarantine(deps, new ObjectId(), 'One network.', { cause: 'network', origin });
  }
}

const times = (n: number, origin: string) => Array.from({ length: n }, () => origin);

/** All pages from the first to the last: the origin of each group and how much of it is shown. */
async function allPages(limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let from: string | undefined;
  do {
    const { rows, next } = await openGroups(deps, { from, limit });
    pages.push(rows.map(({ origin, quarantines, servers }) => `${origin} ${quarantines.length}/${servers}`));
    from = next ?? undefined;
  } while (from);
  return pages;
}

describe('groups of quarantines on pages', () => {
  it('are whole, each on one page, also if the quarantines of several groups alternate', async () => {
    await open('a', 'b', 'a', 'c', 'b', 'a', 'd', 'c');
    expect(await allPages(4)).toEqual([['c 2/2', 'd 1/1'], ['a 3/3'], ['b 2/2']]);
    expect(await allPages(100)).toEqual([['c 2/2', 'd 1/1', 'a 3/3', 'b 2/2']]);
  });

  it('that are larger than a page have a page of their own, with the number of all', async () => {
    await open('old', ...times(11, 'large'), 'new');
    expect(await allPages(4)).toEqual([['new 1/1'], ['large 4/11'], ['old 1/1']]);
  });

  it('move to the first page if they grow while an operator reads', async () => {
    await open('b', 'b', 'a');
    const { next } = await openGroups(deps, { limit: 1 });
    await open('b');
    expect(await openGroups(deps, { from: next ?? undefined, limit: 1 })).toEqual({ rows: [], next: null });
    expect(await allPages(3)).toEqual([['b 3/3'], ['a 1/1']]);
  });
});

describe('a decision about a group that is larger than the bound', () => {
  it('says how many quarantines are left; decisions about the rest end the group', async () => {
    await open('other', ...times(2 * MOST_DECIDED + 3, 'large'));
    const decided: number[][] = [];
    for (let press = 0; press < 3; press += 1) {
      const { rows } = await openGroups(deps, { limit: 4 });
      decided.push(await exclude(rows[0]?.ids ?? []));
    }
    expect(decided).toEqual([
      [MOST_DECIDED, MOST_DECIDED + 3],
      [MOST_DECIDED, 3],
      [3, 0],
    ]);
    expect(await allPages(4)).toEqual([['other 1/1']]);
  });

  it('leaves out what was opened after the page was made, in what it decides and in what it says is left', async () => {
    await open(...times(MOST_DECIDED + 2, 'large'));
    const { rows } = await openGroups(deps, { limit: 4 });
    const until = deps.clock.now();
    await open(...times(3, 'large'));
    const seen = { quarantineIds: rows[0]?.ids ?? [], until };
    const { exclusions, missed, left } = await decideHeld(deps, { is: 'lift' }, seen, BY);
    expect([exclusions.length, missed, left]).toEqual([MOST_DECIDED, 0, 2]);
    expect(await allPages(4)).toEqual([['large 4/5']]);
  });
});

async function exclude(quarantineIds: ObjectId[]): Promise<number[]> {
  const seen = { quarantineIds, until: deps.clock.now() };
  const { exclusions, left } = await decideHeld(deps, { is: 'exclude', reason: 'Bots' }, seen, BY);
  return [exclusions.length, left];
}
