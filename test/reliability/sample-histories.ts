/** Sample histories of a storm, for the tests of the judge. */
import { DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Call, History, Listed, Receipt, StoredVote } from './history.ts';

export const NOON = Date.parse('2026-11-21T12:00:00.000Z');
export const WORKING = 'a'.repeat(24);
export const FAILING = 'f'.repeat(24);

/** A call that was accepted with the vote `voteId`, `after` milliseconds after noon. */
export function call(username: string, voteId: string, after = 0, more: Partial<Call> = {}): Call {
  const startedAt = NOON + after;
  return {
    serverId: WORKING,
    username,
    startedAt,
    endedAt: startedAt + 10,
    answer: { kind: 'accepted', voteId, nextVoteAt: startedAt + DAY, monthlyVotes: 1 },
    ...more,
  };
}

export function vote(
  username: string,
  voteId: string,
  after = 0,
  more: Partial<StoredVote> = {},
): StoredVote {
  return {
    voteId,
    serverId: WORKING,
    username,
    votedAt: NOON + after,
    state: 'delivered',
    attemptCount: 1,
    attempts: [{ at: NOON + after + 20, code: 'acknowledged', class: 'delivered' }],
    ends: { delivered: 1 },
    serverErrors: 0,
    resends: 0,
    ...more,
  };
}

export function receipt(username: string, voteId: string, after = 0, more: Partial<Receipt> = {}): Receipt {
  return {
    serverId: WORKING,
    username,
    voteId,
    receivedAt: NOON + after + 30,
    votedAt: NOON + after,
    ...more,
  };
}

/** Two players voted, a second apart, without a fault; `changes` break it. */
export function history(changes: Partial<History> = {}): History {
  return {
    calls: [call('Alex', 'one'), call('Steve', 'two', SECOND)],
    votes: [vote('Alex', 'one'), vote('Steve', 'two', SECOND)],
    receipts: [receipt('Alex', 'one'), receipt('Steve', 'two', SECOND)],
    events: [],
    servers: [
      { serverId: WORKING, listener: 'working', maxSendings: 3, counted: { monthly: 2, allTime: 2 } },
      { serverId: FAILING, listener: 'always-failing', maxSendings: 3, counted: { monthly: 0, allTime: 0 } },
    ],
    crashes: [],
    drifts: 0,
    faultsEndedAt: NOON,
    repairedAt: NOON + 3 * DAY,
    ...changes,
  };
}

/** The same, and after the repair two more players vote at once; their answers carry these numbers. */
export function fairWeather(numbers: [number, number], changes: Partial<History> = {}): History {
  const { calls, votes, receipts, servers } = history();
  const later = (['three', 'four'] as const).map((id, index) => ({
    call: call(id, id, MINUTE, {
      answer: {
        kind: 'accepted',
        voteId: id,
        nextVoteAt: NOON + MINUTE + DAY,
        monthlyVotes: numbers[index] ?? 0,
      },
    }),
    vote: vote(id, id, MINUTE),
    receipt: receipt(id, id, MINUTE),
  }));
  return history({
    calls: [...calls, ...later.map((one) => one.call)],
    votes: [...votes, ...later.map((one) => one.vote)],
    receipts: [...receipts, ...later.map((one) => one.receipt)],
    servers: servers.map((server) => counting(server, 4)),
    repairedAt: NOON + MINUTE,
    ...changes,
  });
}

/** The working server with this number of counted votes. */
export function counting(server: Listed, votes: number): Listed {
  return server.serverId === WORKING ? { ...server, counted: { monthly: votes, allTime: votes } } : server;
}
