import * as fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { after, DAY, HOUR, SECOND } from '../../../src/platform/clock.ts';
import type { Accepted, Refused } from '../../../src/votes/cast/cast-vote.ts';
import { castVote } from '../../support/casting.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { counted, votesOf, votingForAll } from '../voting.ts';

const voting = await votingForAll();

const SPELLINGS = [
  ['Steve', 'STEVE', 'Ｓteve'],
  ['Straße', 'STRASSE', 'straẞe'],
  ['Notch', 'no\u200btch', 'NOTCH'],
];

type Step =
  | { do: 'cast'; player: number; spelling: number; process: number }
  /** A little time passes while the casts before may still be under way. */
  | { do: 'move'; ms: number }
  /** The casts before end, then time passes. */
  | { do: 'wait'; ms: number };

const index = (length: number) => fc.integer({ min: 0, max: length - 1 });
const cast = fc.record({
  do: fc.constant('cast' as const),
  player: index(3),
  spelling: index(3),
  process: index(2),
});
const move = fc.record({
  do: fc.constant('move' as const),
  ms: fc.constantFrom(1, 500),
});
const wait = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(0, 12 * HOUR, DAY - 2 * SECOND, DAY - 1, DAY, DAY + 2 * SECOND, 31 * DAY),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof({ weight: 8, arbitrary: cast }, { weight: 1, arbitrary: move }, { weight: 2, arbitrary: wait }),
  { minLength: 6, maxLength: 40 },
);
/** A process whose clock is further off is not ready (design rule 1). */
const skew = fc.integer({ min: -2 * SECOND, max: 2 * SECOND });

test('however casts and time interleave, no player has two votes in 24 hours and the counters equal the votes', async () => {
  await fc.assert(
    fc.asyncProperty(steps, skew, async (steps, skewMs) => {
      const serverId = new ObjectId();
      const clock = stoppedClock(new Date('2026-02-27T20:00:00.000Z'));
      const processes = [
        { ...voting.one, clock },
        { ...voting.other, clock: { now: () => after(clock.now(), skewMs) } },
      ];
      const ends: Promise<Accepted | Refused>[] = [];
      const castAt: Date[] = [];
      for (const step of steps) {
        if (step.do === 'wait') await Promise.all(ends);
        if (step.do !== 'cast') clock.move(step.ms);
        const deps = step.do === 'cast' ? processes[step.process] : undefined;
        if (step.do !== 'cast' || !deps) continue;
        const username = SPELLINGS[step.player]?.[step.spelling] ?? '';
        castAt.push(deps.clock.now());
        ends.push(castVote(deps, { serverId, username, tokenId: new ObjectId() }));
      }
      const ended = await Promise.all(ends);
      const accepted = ended.filter((end): end is Accepted => end.kind === 'accepted');
      const stored = await votesOf(voting.one, serverId);

      // What was said to be accepted is stored, and nothing else.
      const ids = (votes: { _id: { toString(): string } }[]) =>
        votes.map(({ _id }) => _id.toString()).toSorted();
      expect(ids(stored)).toEqual(ids(accepted.map(({ vote }) => vote)));

      stored.forEach((vote, i) => {
        const before = stored[i - 1];
        if (before?.usernameKey !== vote.usernameKey) return;
        expect(vote.votedAt.getTime() - before.votedAt.getTime()).toBeGreaterThanOrEqual(DAY);
        expect(vote.seq).toBe(before.seq + 1);
      });

      // Each refusal names a stored vote of that player that stands in the way.
      ended.forEach((end, i) => {
        if (end.kind === 'accepted') return;
        expect(ids(stored)).toContain(end.vote._id.toString());
        expect(end.nextVoteAt).toEqual(after(end.vote.votedAt, DAY));
        expect(end.nextVoteAt.getTime()).toBeGreaterThan(castAt[i]?.getTime() ?? Number.NaN);
      });

      // Votes that race on two processes may get the same number of their month, but none that is not reached.
      expect(await counted(voting.one, serverId)).toBe(stored.length);
      const months = Map.groupBy(accepted, ({ vote }) => vote.votedAt.toISOString().slice(0, 7));
      for (const [month, votes] of months) {
        const counter = await voting.one.voteCounters.findOne({ serverId, month });
        const days = Object.values(counter?.days ?? {});
        expect(days.reduce((sum, count) => sum + count, 0)).toBe(votes.length);
        for (const { monthlyVotes } of votes) {
          expect(monthlyVotes).toBeGreaterThan(0);
          expect(monthlyVotes).toBeLessThanOrEqual(votes.length);
        }
      }
    }),
    { numRuns: 60 },
  );
});
