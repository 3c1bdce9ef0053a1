import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { after, DAY, HOUR, MINUTE } from '../../../src/platform/clock.ts';
import { finishExclusion } from '../../../src/votes/exclusions/finish-exclusion.ts';
import {
  countPlayerVotes,
  requestGroupInclusion,
  requestPlayerExclusion,
} from '../../../src/votes/exclusions/player-exclusion.ts';
import { unfinishedExclusions } from '../../../src/votes/exclusions/request-exclusion.ts';
import { voteFigures } from '../../../src/votes/vote-figures.ts';
import { erasePlayer } from '../../../src/workflows/erase-player.ts';
import { excludePlayer, excludeVotes, includeVotes } from '../../support/exclusions.ts';
import { listServersAt } from '../../support/servers.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { accept, ballot } from '../voting.ts';

/** The clock of these tests stands still: nothing waits for votes under way. */
const SETTLED = { settledMs: -MINUTE };

/** Two servers: each has two votes of Steve, on two days, and one of Alex. */
async function voted() {
  const clock = stoppedClock(new Date('2026-11-20T10:00:00Z'));
  const deps = { ...(await testDeps()), clock };
  const servers = await listServersAt(deps, [1, 2], 'a-token-of-a-test');
  for (const name of ['Steve', 'Alex', 'STEVE']) {
    for (const serverId of servers) await accept(deps, ballot(name, serverId));
    if (name !== 'Steve') clock.move(DAY);
  }
  await deps.voteCounts.flush();
  const total = async () => {
    const figures = await Promise.all(servers.map((id) => voteFigures(deps, id)));
    return figures.map(({ allTimeVotes }) => allTimeVotes);
  };
  const [one = new ObjectId(), other = new ObjectId()] = servers;
  const all = { username: 'steve', serverId: null, since: null, until: clock.now() };
  return { deps, clock, one, other, total, all };
}

const REASONS = { reason: 'A bot', reasonForOwner: 'Automated votes' };

describe('excluding one player', () => {
  it('shows the votes by server, excludes them on all, and can be undone', async () => {
    const { deps, all, total, one } = await voted();
    expect(await countPlayerVotes(deps, all)).toMatchObject([
      { votes: 2, excluded: 0 },
      { votes: 2, excluded: 0 },
    ]);
    expect(await total()).toEqual([3, 3]);
    const done = await excludePlayer(deps, { ...all, ...REASONS }, 'someone', SETTLED);
    expect(done).toMatchObject([
      { state: 'excluded', votes: 2, ...REASONS },
      { state: 'excluded', votes: 2, username: 'steve' },
    ]);
    expect(await total()).toEqual([1, 1]);
    expect(await countPlayerVotes(deps, { ...all, serverId: one })).toEqual([
      { serverId: one, votes: 2, excluded: 2 },
    ]);
    const [first] = done;
    expect(await requestGroupInclusion(deps, first?.groupId ?? new ObjectId(), 'another')).toHaveLength(2);
    for (const id of await unfinishedExclusions(deps)) await finishExclusion(deps, id, SETTLED);
    expect(await total()).toEqual([3, 3]);
    expect(await deps.votes.countDocuments({ excludedAt: { $exists: true } })).toBe(0);
    const audited = await deps.auditLog.find({ action: /^vote\.(ex|in)clude$/ }).toArray();
    expect(audited.map(({ action, by, details }) => [action, by, details.username])).toEqual([
      ['vote.exclude', 'someone', 'steve'],
      ['vote.exclude', 'someone', 'steve'],
      ['vote.include', 'another', 'steve'],
      ['vote.include', 'another', 'steve'],
    ]);
  });

  it('shows servers with equal votes in the order of their ids', async () => {
    const deps = await testDeps();
    const servers = await listServersAt(deps, [1, 2, 3, 4, 5, 6, 7, 8], 'a-token-of-a-test');
    for (const serverId of servers.toReversed()) await accept(deps, ballot('Steve', serverId));
    const all = { username: 'steve', serverId: null, since: null, until: after(deps.clock.now(), MINUTE) };
    const shown = await countPlayerVotes(deps, all);
    expect(shown.map(({ serverId }) => serverId.toHexString())).toEqual(
      servers.map((id) => id.toHexString()).toSorted(),
    );
  });

  it('covers one server or a time only, if asked', async () => {
    const { deps, all, total, one, clock } = await voted();
    const until = new Date(clock.now().getTime() - DAY - HOUR);
    await excludePlayer(deps, { ...all, ...REASONS, serverId: one, until }, 'someone', SETTLED);
    expect(await total()).toEqual([2, 3]);
  });

  it('is undone on one server alone, and leaves votes under another exclusion excluded', async () => {
    const { deps, all, total, one, other, clock } = await voted();
    const done = await excludePlayer(deps, { ...all, ...REASONS }, 'someone', SETTLED);
    const range = { serverId: other, since: new Date(0), until: clock.now(), tokenId: null };
    await excludeVotes(deps, { ...range, reason: 'Bought' }, 'someone', SETTLED);
    for (const { _id, serverId } of done) {
      if (serverId.equals(one)) await includeVotes(deps, _id, 'someone', SETTLED);
    }
    expect(await total()).toEqual([3, 0]);
  });

  it('is one decision when its form is sent twice, and a worker finishes what was interrupted', async () => {
    const { deps, all, total } = await voted();
    const groupId = new ObjectId();
    const send = () => requestPlayerExclusion(deps, groupId, { ...all, ...REASONS }, 'someone');
    const [first, second] = await Promise.all([send(), send()]);
    expect(first?.map(({ _id }) => _id)).toEqual(second?.map(({ _id }) => _id));
    expect(await deps.voteExclusions.countDocuments()).toBe(2);
    const jobs = await deps.queues['exclude-votes'].getJobs();
    expect(new Set(jobs.map(({ data }) => data.exclusionId)).size).toBe(2);
    const open = await unfinishedExclusions(deps);
    expect(open).toHaveLength(2);
    for (const id of open) await finishExclusion(deps, id, SETTLED);
    expect(await total()).toEqual([1, 1]);
    expect(await unfinishedExclusions(deps)).toEqual([]);
  });

  it('is completed by the same form when a crash stored only a part of it', async () => {
    const { deps, all, one, other } = await voted();
    const groupId = new ObjectId();
    const send = () => requestPlayerExclusion(deps, groupId, { ...all, ...REASONS }, 'someone');
    await send();
    await deps.voteExclusions.deleteOne({ groupId, serverId: other });
    const ids = (await send()).map(({ serverId }) => serverId.toHexString());
    expect(ids.toSorted()).toEqual([one.toHexString(), other.toHexString()].toSorted());
    expect(await deps.voteExclusions.countDocuments({ groupId })).toBe(2);
  });

  it('changes nothing for a player without votes, and refuses a time that is not over', async () => {
    const { deps, all, clock } = await voted();
    const nobody = { ...all, ...REASONS, username: 'Nobody' };
    expect(await excludePlayer(deps, nobody, 'someone', SETTLED)).toEqual([]);
    const until = new Date(clock.now().getTime() + HOUR);
    await expect(excludePlayer(deps, { ...all, ...REASONS, until }, 'someone')).rejects.toMatchObject({
      code: 'range-not-over',
    });
    await expect(excludePlayer(deps, { ...all, reason: ' ' }, 'someone')).rejects.toMatchObject({
      errors: { reason: 'The reason must say why.' },
    });
  });

  it('loses the name when the player’s name is erased, and can still be undone', async () => {
    const { deps, all, total, clock } = await voted();
    const done = await excludePlayer(deps, { ...all, ...REASONS }, 'someone', SETTLED);
    clock.move(2 * DAY);
    expect(await erasePlayer(deps, 'Steve', 'cli')).toMatchObject({ exclusions: 2 });
    expect(await deps.voteExclusions.countDocuments({ usernameKey: 'steve' })).toBe(0);
    expect(JSON.stringify(await deps.auditLog.find().toArray())).not.toMatch(/steve/i);
    for (const { _id } of done) await includeVotes(deps, _id, 'someone', SETTLED);
    expect(await total()).toEqual([3, 3]);
  });

  it('is not taken for the exclusion of all players in the same range, even without its name', async () => {
    const { deps, all, total, one, clock } = await voted();
    const since = new Date('2026-11-01T00:00:00Z');
    await excludePlayer(deps, { ...all, serverId: one, since, reason: 'Bots' }, 'someone', SETTLED);
    clock.move(2 * DAY);
    await erasePlayer(deps, 'Steve', 'cli');
    const range = { serverId: one, since, until: all.until, tokenId: null, reason: 'Bots' };
    await excludeVotes(deps, range, 'someone', SETTLED);
    expect(await total()).toEqual([0, 3]);
  });
});
