import { describe, expect, it } from 'vitest';
import { DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Call, History, StoredVote } from './history.ts';
import { judge, type Rule } from './judge.ts';
import {
  call,
  counting,
  FAILING,
  fairWeather,
  history,
  NOON,
  receipt,
  vote,
  WORKING,
} from './sample-histories.ts';

const rulesBroken = (changes: Partial<History>): Rule[] => [
  ...new Set(judge(history(changes)).map(({ rule }) => rule)),
];

describe('a history in which all went well', () => {
  it('breaks no rule', () => {
    expect(judge(history())).toEqual([]);
  });

  it('may hold votes for a listener that always fails, forever', () => {
    const waiting = vote('Alex', 'three', 0, {
      serverId: FAILING,
      state: 'waiting',
      attemptCount: 3,
      ends: { transient: 3 },
    });
    const { calls, votes, servers } = history();
    expect(
      judge(
        history({
          calls: [...calls, call('Alex', 'three', 0, { serverId: FAILING })],
          votes: [...votes, waiting],
          servers: servers.map((server) =>
            server.serverId === FAILING ? { ...server, counted: { monthly: 1, allTime: 1 } } : server,
          ),
        }),
      ),
    ).toEqual([]);
  });

  it('may have a call without an answer whose vote counts, and one whose vote does not', () => {
    const unknown = { answer: { kind: 'unknown' } } as const;
    const [alex, steve] = history().calls;
    expect(judge(history({ calls: [{ ...call('Alex', 'one'), ...unknown }, steve as Call] }))).toEqual([]);
    const third = call('Herobrine', 'three', 0, unknown);
    expect(judge(history({ calls: [alex as Call, steve as Call, third] }))).toEqual([]);
  });

  it('may have a vote received twice after an ambiguous end', () => {
    const { receipts, votes } = history();
    const twice = vote('Alex', 'one', 0, {
      attemptCount: 2,
      attempts: [
        { at: NOON + 20, code: 'reset', class: 'ambiguous' },
        { at: NOON + 5 * SECOND, code: 'acknowledged', class: 'delivered' },
      ],
      ends: { ambiguous: 1, delivered: 1 },
    });
    const changes = {
      votes: [twice, ...votes.slice(1)],
      receipts: [...receipts, receipt('Alex', 'one', 0, { receivedAt: NOON + 6 * SECOND })],
    };
    expect(judge(history(changes))).toEqual([]);
  });

  it('may have a vote received twice after a server error, or after a resend where one sending is allowed', () => {
    const { receipts, votes, servers } = history();
    const twice = (more: Partial<StoredVote>) => ({
      votes: [vote('Alex', 'one', 0, { attemptCount: 2, ...more }), ...votes.slice(1)],
      receipts: [...receipts, receipt('Alex', 'one', 0, { receivedAt: NOON + 6 * SECOND })],
    });
    const retried = twice({ ends: { transient: 1, delivered: 1 }, serverErrors: 1 });
    expect(judge(history(retried))).toEqual([]);
    const once = { servers: servers.map((server) => ({ ...server, maxSendings: 1 })) };
    const resent = twice({ ends: { ambiguous: 1, delivered: 1 }, resends: 1 });
    expect(judge(history({ ...resent, ...once }))).toEqual([]);
    expect(rulesBroken({ ...retried, ...once })).toEqual(['sent-as-often-as-allowed']);
  });

  it('may have a vote received twice whose first acknowledgement came late', () => {
    const { receipts, votes } = history();
    const twice = (late: object) =>
      vote('Alex', 'one', 0, {
        attemptCount: 2,
        attempts: [
          { at: NOON + 20, code: 'acknowledged', class: 'delivered', ...late },
          { at: NOON + 40 * SECOND, code: 'acknowledged', class: 'delivered' },
        ],
        ends: { ambiguous: 0, delivered: 2 },
      });
    const more = [...receipts, receipt('Alex', 'one', 0, { receivedAt: NOON + 41 * SECOND })];
    const of = (first: StoredVote) =>
      judge(history({ votes: [first, ...votes.slice(1)], receipts: more })).map(({ rule }) => rule);
    expect(of(twice({ late: true }))).toEqual([]);
    expect(of(twice({}))).toEqual(['duplicates-only-where-ambiguous']);
  });

  it('knows a vote by player and time where the message carries no id', () => {
    const receipts = history().receipts.map(({ serverId, username, receivedAt, votedAt }) => ({
      serverId,
      username,
      receivedAt,
      votedAt,
    }));
    expect(judge(history({ receipts }))).toEqual([]);
  });

  it('may refuse a player because of an earlier vote, or of one whose answer was lost', () => {
    const { calls } = history();
    const refused = (username: string, votedAt: number) =>
      call(username, '', MINUTE, { answer: { kind: 'refused', nextVoteAt: votedAt + DAY } });
    const lost = call('Notch', '', 0, { endedAt: NOON + 5 * SECOND, answer: { kind: 'unknown' } });
    const more = [refused('alex', NOON), lost, refused('Notch', NOON + SECOND)];
    expect(judge(history({ calls: [...calls, ...more] }))).toEqual([]);
  });

  it('may number votes in any order once all is mended, and votes that race with the same number', () => {
    expect(judge(fairWeather([4, 3]))).toEqual([]);
    expect(judge(fairWeather([4, 4]))).toEqual([]);
  });

  it('may repeat a call under its key', () => {
    const first = call('Alex', 'one', 0, { idempotencyKey: 'k' });
    const repeated = { ...first, startedAt: NOON + MINUTE, endedAt: NOON + MINUTE + 10 };
    const calls = [first, ...history().calls.slice(1), repeated];
    expect(judge(history({ calls }))).toEqual([]);
  });
});

describe('the judge finds', () => {
  const { calls, votes, receipts, servers } = history();
  const without = <T>(list: T[]) => list.slice(1);

  it.each<[string, Partial<History>, Rule[]]>([
    [
      'a vote that was accepted and is gone',
      { votes: without(votes), receipts: without(receipts) },
      ['accepted-is-stored', 'counters-equal-votes'],
    ],
    [
      'a vote that was accepted and is stored as another player’s',
      { calls: [call('Steve', 'one'), call('Alex', 'two', SECOND)] },
      ['accepted-is-stored', 'received-was-cast'],
    ],
    [
      'an answer with a wrong time for the next vote',
      {
        calls: [
          call('Alex', 'one', 0, {
            answer: { kind: 'accepted', voteId: 'one', nextVoteAt: NOON, monthlyVotes: 1 },
          }),
          ...without(calls),
        ],
      },
      ['accepted-is-stored'],
    ],
    [
      'a player who was refused without a vote',
      {
        calls: [...calls, call('Notch', '', MINUTE, { answer: { kind: 'refused', nextVoteAt: NOON + DAY } })],
      },
      ['refused-for-a-vote'],
    ],
    [
      'a vote that its working listener never got',
      { receipts: without(receipts) },
      ['delivered-in-time', 'delivered-was-received'],
    ],
    [
      'a vote that was given up though its listener works',
      { votes: [vote('Alex', 'one', 0, { state: 'failed' }), ...without(votes)] },
      ['only-failing-listeners-wait'],
    ],
    [
      'a vote that stands as delivered to a listener that takes none',
      {
        calls: [...calls, call('Alex', 'three', 0, { serverId: FAILING })],
        votes: [...votes, vote('Alex', 'three', 0, { serverId: FAILING })],
        servers: servers.map((server) => ({
          ...server,
          counted: server.serverId === FAILING ? { monthly: 1, allTime: 1 } : server.counted,
        })),
      },
      ['only-failing-listeners-wait', 'delivered-was-received'],
    ],
    [
      'a vote that reached the listener of another server',
      { receipts: [...receipts, receipt('Alex', 'one', 0, { serverId: FAILING })] },
      ['received-was-cast'],
    ],
    [
      'a vote that reached its listener under another name',
      { receipts: [...receipts, receipt('ALEX', 'one')] },
      ['received-was-cast'],
    ],
    [
      'a vote that came too late',
      { receipts: [receipt('Alex', 'one', 0, { receivedAt: NOON + 61 * SECOND }), ...without(receipts)] },
      ['delivered-in-time'],
    ],
    [
      'a vote that waits though its listener works',
      { votes: [vote('Alex', 'one', 0, { state: 'waiting' }), ...without(votes)] },
      ['only-failing-listeners-wait'],
    ],
    [
      'a vote that was never stored and yet received',
      { receipts: [...receipts, receipt('Notch', 'nobody')] },
      ['received-was-cast'],
    ],
    [
      'a stored vote that goes back to no call',
      { calls: without(calls) },
      ['received-was-cast', 'unknown-counts-once'],
    ],
    [
      'a call without an answer that counts twice',
      {
        calls: [call('Alex', 'one', 0, { answer: { kind: 'unknown' } }), ...without(calls)],
        votes: [...votes, vote('alex', 'three', -2 * DAY)],
        receipts: [...receipts, receipt('alex', 'three', -2 * DAY)],
        servers: servers.map((server) => counting(server, 3)),
      },
      ['unknown-counts-once'],
    ],
    [
      'a second receipt without an ambiguous end',
      { receipts: [...receipts, receipt('Alex', 'one', 0, { receivedAt: NOON + SECOND })] },
      ['duplicates-only-where-ambiguous'],
    ],
    [
      'a vote that was sent more often than its owner allows',
      {
        votes: [
          vote('Alex', 'one', 0, { attemptCount: 4, ends: { ambiguous: 3, delivered: 1 } }),
          ...without(votes),
        ],
        receipts: [
          ...receipts,
          ...[1, 2, 3].map((n) => receipt('Alex', 'one', 0, { receivedAt: NOON + n * SECOND })),
        ],
      },
      ['sent-as-often-as-allowed'],
    ],
    [
      'an attempt without an outcome',
      { votes: [vote('Alex', 'one', 0, { attemptCount: 2 }), ...without(votes)] },
      ['outcomes-add-up'],
    ],
    [
      'an attempt out of order',
      {
        votes: [
          vote('Alex', 'one', 0, { attempts: [{ at: NOON + 5 * SECOND, code: 'acknowledged' }] }),
          ...without(votes),
        ],
      },
      ['attempts-start-in-order'],
    ],
    [
      'two votes of a player within 24 hours, in two spellings',
      {
        calls: [...calls, call('ALEX', 'three', DAY - 1)],
        votes: [...votes, vote('ALEX', 'three', DAY - 1)],
        receipts: [...receipts, receipt('ALEX', 'three', DAY - 1)],
        servers: servers.map((server) => counting(server, 3)),
      },
      ['one-vote-in-24-hours'],
    ],
    [
      'a key that was answered with two votes',
      { calls: calls.map((one) => ({ ...one, idempotencyKey: 'k' })) },
      ['one-key-one-vote'],
    ],
    [
      'a counter that differs from the votes',
      {
        servers: servers.map((server) => ({ ...server, counted: { monthly: 2, allTime: 1 } })),
      },
      ['counters-equal-votes'],
    ],
    ['a number above all votes', fairWeather([4, 5]), ['each-vote-its-number']],
    ['a number that was reached long before', fairWeather([2, 4]), ['each-vote-its-number']],
    [
      'a call that was not answered though all was mended',
      { calls: [...calls, call('Notch', '', 4 * DAY, { answer: { kind: 'unknown' } })] },
      ['each-vote-its-number'],
    ],
    ['a process that ended by itself', { crashes: ['src/web.ts: exit code 1'] }, ['nothing-ends-by-itself']],
  ])('%s', (_what, changes, rules) => {
    expect(rulesBroken(changes)).toEqual(rules);
  });

  it('nothing in a vote exactly 24 hours after the last one', () => {
    const again = {
      calls: [...calls, call('Alex', 'three', DAY)],
      votes: [...votes, vote('Alex', 'three', DAY)],
      receipts: [...receipts, receipt('Alex', 'three', DAY)],
    };
    expect(rulesBroken(again)).toEqual(['counters-equal-votes']);
  });
});

describe('events at a destination', () => {
  const { servers } = history();
  const event = (eventId: string, about: string, type = 'vote.counted') => ({
    serverId: WORKING,
    eventId,
    type,
    about,
  });
  const told = (...events: ReturnType<typeof event>[]) => ({
    events,
    servers: servers.map((server) => (server.serverId === WORKING ? { ...server, goalTarget: 2 } : server)),
  });
  const one = event('a', 'one');
  const two = event('b', 'two');
  const round = event('c', 'round 1', 'goal.reached');

  it('may come again with the same id', () => {
    expect(rulesBroken(told(one, two, one, round, round))).toEqual([]);
  });

  it('come for each stored vote, and for no other', () => {
    expect(rulesBroken(told(one, round))).toEqual(['each-vote-has-its-event']);
    expect(rulesBroken(told(one, two, event('d', 'three'), round))).toEqual(['each-vote-has-its-event']);
  });

  it('have an id each', () => {
    expect(rulesBroken(told(one, two, event('d', 'two'), round))).toEqual(['an-event-has-one-id']);
    expect(rulesBroken(told(one, event('a', 'two'), round))).toEqual(['an-event-has-one-id']);
  });

  it('say that a goal is reached exactly as often as the votes do', () => {
    expect(rulesBroken(told(one, two))).toEqual(['goals-are-reached-by-count']);
    const second = event('d', 'round 2', 'goal.reached');
    expect(rulesBroken(told(one, two, round, second))).toEqual(['goals-are-reached-by-count']);
  });
});
