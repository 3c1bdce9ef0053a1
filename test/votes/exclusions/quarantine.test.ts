import { type Collection, ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { resendVote } from '../../../src/delivery/resend-vote.ts';
import { DAY, HOUR, MINUTE } from '../../../src/platform/clock.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { finishExclusion } from '../../../src/votes/exclusions/finish-exclusion.ts';
import { openGroups } from '../../../src/votes/exclusions/held-votes.ts';
import { openQuarantine, requestQuarantineExclusion } from '../../../src/votes/exclusions/quarantine.ts';
import { requestInclusion } from '../../../src/votes/exclusions/request-exclusion.ts';
import { recountVotes } from '../../../src/votes/recount-votes.ts';
import { repairOpenCounters } from '../../../src/votes/repair-counters.ts';
import type { Vote } from '../../../src/votes/vote.ts';
import { voteFigures } from '../../../src/votes/vote-figures.ts';
import { newPlayersAllowed } from '../../../src/votes/web/suspicion.ts';
import { removeServer } from '../../../src/workflows/remove-server.ts';
import { castVote } from '../../support/casting.ts';
import { includeVotes } from '../../support/exclusions.ts';
import { listServersAt } from '../../support/servers.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

/** The clock of these tests stands still: nothing waits for votes under way. */
const SETTLED = { settledMs: -MINUTE };

async function quarantined(players: string[]) {
  const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
  const deps = { ...(await testDeps()), clock };
  const [serverId = new ObjectId()] = await listServersAt(deps, [1], 'a-token-of-a-test');
  const quarantineId = await openQuarantine(deps, serverId, 'Too many at once.');
  for (const username of players) {
    const cast = await castVote(deps, { serverId, username, tokenId: null, quarantineId });
    expect(cast.kind).toBe('accepted');
  }
  await deps.voteCounts.flush();
  return { deps, clock, serverId, quarantineId };
}

const votesOf = (deps: { votes: Collection<Vote> }, serverId: ObjectId) =>
  deps.votes.find({ serverId }).sort({ username: 1 }).toArray();

describe('a quarantined vote', () => {
  it('blocks its player, but is neither counted nor delivered', async () => {
    const { deps, serverId, quarantineId } = await quarantined(['One', 'Two']);
    expect(await voteFigures(deps, serverId)).toMatchObject({ monthlyVotes: 0, allTimeVotes: 0 });
    for (const vote of await votesOf(deps, serverId)) {
      expect(vote).toMatchObject({ excludedBy: [quarantineId], delivery: { state: 'none' } });
      expect(await resendVote(deps, vote._id, 'someone')).toEqual({ kind: 'quarantined' });
    }
    expect(await checkVote(deps, serverId, 'one')).toMatchObject({ hasVoted: true });
    const again = await castVote(deps, { serverId, username: 'ONE', tokenId: null });
    expect(again.kind).toBe('refused');
    const { rows } = await openGroups(deps, { limit: 5 });
    expect(rows.flatMap(({ quarantines }) => quarantines)).toMatchObject([
      {
        votes: 2,
        names: [
          { votes: 1, seq: 1 },
          { votes: 1, seq: 1 },
        ],
        quarantine: { reason: 'Too many at once.', by: 'automatic' },
      },
    ]);
  });

  it('does not count after a repair of the counters either, and the repair finds no drift', async () => {
    const { deps, clock, serverId } = await quarantined(['One', 'Two']);
    clock.move(5 * MINUTE);
    expect((await repairOpenCounters(deps)).drifts).toEqual([]);
    expect(await voteFigures(deps, serverId)).toMatchObject({ monthlyVotes: 0 });
  });

  it('is counted and enters the queue of its listener when it is released', async () => {
    const { deps, clock, serverId, quarantineId } = await quarantined(['One', 'Two']);
    await castVote(deps, { serverId, username: 'Three', tokenId: null });
    await deps.voteCounts.flush();
    clock.move(HOUR);
    await requestInclusion(deps, quarantineId, 'someone');
    await finishExclusion(deps, quarantineId, SETTLED);

    expect(await voteFigures(deps, serverId)).toMatchObject({ monthlyVotes: 3, allTimeVotes: 3 });
    const [one, , two] = await votesOf(deps, serverId);
    for (const vote of [one, two]) {
      expect(vote).not.toHaveProperty('quarantinedAt');
      expect(vote).not.toHaveProperty('excludedAt');
      expect(vote?.delivery).toMatchObject({
        state: 'waiting',
        dueBy: 'release',
        queuedAt: clock.now(),
        expiresAt: new Date(clock.now().getTime() + 3 * DAY),
        events: [{ kind: 'released' }],
      });
    }
    expect(await deps.voteExclusions.findOne({ _id: quarantineId })).toMatchObject({
      state: 'included',
      votes: 2,
    });
    const actions = (await deps.auditLog.find({ serverId }).toArray()).map(({ action }) => action);
    expect(actions).toContain('vote.release');
    expect(actions).not.toContain('vote.exclude');
    // Once more changes nothing.
    await includeVotes(deps, quarantineId, 'someone', SETTLED);
    expect((await votesOf(deps, serverId))[0]?.delivery.events).toHaveLength(1);
  });

  it('stays out of the counts and is not delivered when an operator excludes it; undoing that releases it', async () => {
    const { deps, clock, serverId, quarantineId } = await quarantined(['One']);
    clock.move(HOUR);
    await requestQuarantineExclusion(deps, quarantineId, { reason: 'Bots' }, 'someone');
    await finishExclusion(deps, quarantineId, SETTLED);
    expect(await deps.voteExclusions.findOne({ _id: quarantineId })).toMatchObject({
      state: 'excluded',
      votes: 1,
      by: 'someone',
      reason: 'Bots',
    });
    expect(await voteFigures(deps, serverId)).toMatchObject({ allTimeVotes: 0 });
    expect((await openGroups(deps, { limit: 5 })).rows).toEqual([]);

    await includeVotes(deps, quarantineId, 'someone', SETTLED);
    expect(await voteFigures(deps, serverId)).toMatchObject({ allTimeVotes: 1 });
    expect((await votesOf(deps, serverId))[0]?.delivery.state).toBe('waiting');
  });

  it('of a vote under way when the operator decides is released too, and later votes enter a new quarantine', async () => {
    const { deps, clock, serverId, quarantineId } = await quarantined(['One']);
    await requestInclusion(deps, quarantineId, 'someone');
    await castVote(deps, { serverId, username: 'Late', tokenId: null, quarantineId });
    await deps.voteCounts.flush();
    clock.move(MINUTE);
    await finishExclusion(deps, quarantineId);
    expect(await voteFigures(deps, serverId)).toMatchObject({ allTimeVotes: 2 });
    expect(await openQuarantine(deps, serverId, 'Again.')).not.toEqual(quarantineId);
  });
});

describe('a quarantine', () => {
  it('is one for a server, however many processes open it at once', async () => {
    const deps = await testDeps();
    const [serverId = new ObjectId()] = await listServersAt(deps, [1], 'a-token-of-a-test');
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => openQuarantine(deps, serverId, 'Too many.')),
    );
    expect(new Set(ids.map(String)).size).toBe(1);
    expect(await requestQuarantineExclusion(deps, new ObjectId(), { reason: 'x' }, 'someone')).toBeNull();
  });

  it('is closed when its server is removed', async () => {
    const { deps, serverId, quarantineId } = await quarantined(['One']);
    await removeServer(deps, serverId, 'someone');
    expect((await openGroups(deps, { limit: 5 })).rows).toEqual([]);
    expect(await deps.voteExclusions.findOne({ _id: quarantineId })).toMatchObject({
      state: 'confirming',
    });
  });

  it('leaves the counts right when a recount reads a vote before its increment is written', async () => {
    const { deps, clock, serverId, quarantineId } = await quarantined([]);
    await castVote(deps, { serverId, username: 'Counted', tokenId: null });
    await castVote(deps, { serverId, username: 'Held', tokenId: null, quarantineId });
    await recountVotes(deps, serverId, ['2026-11-21']);
    await deps.voteCounts.flush();
    clock.move(5 * MINUTE);
    await repairOpenCounters(deps);
    expect(await voteFigures(deps, serverId)).toMatchObject({ monthlyVotes: 1 });
  });

  it('begins after 20 new players in an hour, or two for each player of the server', () => {
    const server = (peakPlayers: number, onlinePlayers: number, lastReport: object | null = null) =>
      ({ daily: { peakPlayers }, current: { onlinePlayers }, lastReport }) as never;
    expect(newPlayersAllowed(server(0, 0))).toBe(20);
    expect(newPlayersAllowed(server(200, 12))).toBe(400);
    expect(newPlayersAllowed(server(1_000_000, 12))).toBe(500);
    // Reports count for at most 50 players.
    expect(newPlayersAllowed(server(300, 1_000_000, {}))).toBe(100);
  });
});
