/** Votes that are cast at once share their operations (design rules 1 and 8): each must have its own end all the same. */

import * as fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Accepted, Refused } from '../../../src/votes/cast/cast-vote.ts';
import { VoteResultUnknownError } from '../../../src/votes/cast/insert-vote.ts';
import { sum } from '../../../src/votes/vote-counts.ts';
import { castVote } from '../../support/casting.ts';
import { mongoCommand } from '../../support/fault-proxy.ts';
import { ballot, counted, votesOf, votingForAll } from '../voting.ts';

const inserting = mongoCommand('insert', 'votes');
const voting = await votingForAll();

/** Ends of casts that are in flight together. */
function castAll(deps: typeof voting.one, requests: ReturnType<typeof ballot>[]) {
  return Promise.all(
    requests.map((request) => castVote(deps, request).catch((error: unknown) => error as Error)),
  );
}

const kindOf = (end: Accepted | Refused | Error) => (end instanceof Error ? end.name : end.kind);

/** `count` players, each for a server of their own. */
const ballots = (count: number) => Array.from({ length: count }, (_, i) => ballot(`Player ${i}`));

async function storedOnce(requests: ReturnType<typeof ballot>[]): Promise<void> {
  for (const { serverId } of requests) {
    expect(await votesOf(voting.one, serverId)).toHaveLength(1);
    expect(await counted(voting.one, serverId)).toBe(1);
  }
}

describe('votes cast together', () => {
  test('for one server get a number each', async () => {
    const serverId = new ObjectId();
    const ends = await castAll(
      voting.one,
      Array.from({ length: 50 }, (_, i) => ballot(`Player ${i}`, serverId)),
    );
    const numbers = ends.map((end) => (kindOf(end) === 'accepted' ? (end as Accepted).monthlyVotes : 0));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    expect(await counted(voting.one, serverId)).toBe(50);
  });

  test('for many servers get a number each of their server', async () => {
    const servers = Array.from({ length: 12 }, () => new ObjectId());
    const ends = await castAll(
      voting.one,
      Array.from({ length: 240 }, (_, i) => ballot(`Player ${i}`, servers[i % 12])),
    );
    const byServer = Map.groupBy(ends as Accepted[], ({ vote }) => vote.serverId.toHexString());
    for (const own of byServer.values()) {
      const numbers = own.map(({ monthlyVotes }) => monthlyVotes).toSorted((a, b) => a - b);
      expect(numbers).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    }
    expect(byServer.size).toBe(12);
  });

  test('of which MongoDB refuses one are accepted but for that one', async () => {
    const requests = ballots(10);
    const refused = requests[4]?.serverId;
    const { db } = voting.one.mongo;
    await db.command({ collMod: 'votes', validator: { serverId: { $ne: refused } } });
    onTestFinished(async () => {
      await db.command({ collMod: 'votes', validator: {} });
    });
    const ends = await castAll(voting.one, requests);
    expect(ends[4]).toMatchObject({ name: 'MongoServerError', code: 121 });
    expect(ends.filter((end) => kindOf(end) === 'accepted')).toHaveLength(9);
    await storedOnce(requests.filter((_, i) => i !== 4));
  });

  test.each([
    ['before MongoDB had it', 'cutBeforeNext'],
    ['after MongoDB had it', 'cutAfterNext'],
  ] as const)('whose insert was lost %s are accepted and counted once', async (_, fault) => {
    const requests = ballots(20);
    const cut = voting.proxy[fault](inserting);
    const ends = await castAll(voting.other, requests);
    await cut;
    expect(new Set(ends.map(kindOf))).toEqual(new Set(['accepted']));
    await storedOnce(requests);
  });
});

test('however votes for few places and faults meet, each end tells the truth', async () => {
  const rounds = fc.array(
    fc.record({
      players: fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 })), {
        minLength: 1,
        maxLength: 40,
      }),
      fault: fc.constantFrom('none', 'none', 'cutBeforeNext', 'cutAfterNext'),
    }),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(rounds, async (rounds) => {
      const servers = Array.from({ length: 4 }, () => new ObjectId());
      const warnings = [voting.one, voting.other].map(({ log }) => vi.spyOn(log, 'warn').mockClear());
      const ends: (Accepted | Refused | Error)[] = [];
      for (const { players, fault } of rounds) {
        const cut = fault === 'none' ? null : voting.proxy[fault](inserting);
        // A round in which nothing is inserted meets no fault.
        cut?.catch(() => undefined);
        const requests = players.map(([server, player]) => ballot(`Player ${player}`, servers[server]));
        const [here, there] = [requests.slice(0, 5), requests.slice(5)];
        ends.push(...(await Promise.all([castAll(voting.one, here), castAll(voting.other, there)])).flat());
        voting.proxy.forget();
      }
      const accepted = ends.filter((end): end is Accepted => kindOf(end) === 'accepted');
      const stored = (await Promise.all(servers.map((serverId) => votesOf(voting.one, serverId)))).flat();
      const ids = (votes: { _id: { toString(): string } }[]) =>
        votes.map(({ _id }) => String(_id)).toSorted();
      expect(ends.filter((end) => end instanceof VoteResultUnknownError)).toEqual([]);
      expect(ids(stored)).toEqual(ids(accepted.map(({ vote }) => vote)));
      let missing = 0;
      for (const serverId of servers) {
        const own = accepted.filter(({ vote }) => vote.serverId.equals(serverId));
        const inCounter = await counted(voting.one, serverId);
        expect(inCounter).toBeLessThanOrEqual(own.length);
        missing += own.length - inCounter;
        // Two processes may tell the same number, but none that is not reached.
        for (const { monthlyVotes } of own) {
          expect(monthlyVotes).toBeGreaterThan(0);
          expect(monthlyVotes).toBeLessThanOrEqual(own.length);
        }
        const players = own.map(({ vote }) => vote.usernameKey);
        expect(new Set(players).size).toBe(players.length);
      }
      // Increments whose write failed are not repeated but logged, and the repair finds them.
      const lines = warnings.flatMap(({ mock }) => mock.calls.map(([line]) => line as object));
      const lost = lines.flatMap((line) => ('votes' in line ? [Number(line.votes)] : []));
      expect(missing, JSON.stringify(lines)).toBeLessThanOrEqual(sum(lost));
    }),
    { numRuns: 40 },
  );
});
