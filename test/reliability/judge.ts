import { DAY, SECOND } from '../../src/platform/clock.ts';
import { anEventHasOneId, eachVoteHasItsEvent, goalsAreReachedByCount } from './event-rules.ts';
import { accepted, append, type Facts, order, playerOf, serversOf } from './facts.ts';
import type { Call, History, StoredVote } from './history.ts';

/** A rule that a history breaks, and where. */
export type Breach = { rule: Rule; what: string };

export type Rule =
  | 'accepted-is-stored'
  | 'refused-for-a-vote'
  | 'delivered-in-time'
  | 'only-failing-listeners-wait'
  | 'delivered-was-received'
  | 'received-was-cast'
  | 'unknown-counts-once'
  | 'duplicates-only-where-ambiguous'
  | 'sent-as-often-as-allowed'
  | 'outcomes-add-up'
  | 'attempts-start-in-order'
  | 'one-vote-in-24-hours'
  | 'one-key-one-vote'
  | 'counters-equal-votes'
  | 'each-vote-its-number'
  | 'nothing-ends-by-itself'
  | 'each-vote-has-its-event'
  | 'an-event-has-one-id'
  | 'goals-are-reached-by-count';

/** A working listener has every vote this long after the last fault ended, or after a later acceptance. */
const DELIVERED_WITHIN_MS = 60 * SECOND;

/**
 * Judges a history by what Tallyport promises (design rules 1 to 5, 8 and 9). It does not know the
 * implementation: only the answers to callers, what listeners received, and what is stored in the end.
 *
 * @returns every breach; none means that the promises were kept
 */
export function judge(history: History): Breach[] {
  const facts = order(history);
  return RULES.flatMap(([rule, look]) => look(history, facts).map((what) => ({ rule, what })));
}

type Look = (history: History, facts: Facts) => string[];

const RULES: [Rule, Look][] = [
  ['accepted-is-stored', acceptedIsStored],
  ['refused-for-a-vote', refusedForAVote],
  ['delivered-in-time', deliveredInTime],
  ['only-failing-listeners-wait', onlyFailingListenersWait],
  ['delivered-was-received', deliveredWasReceived],
  ['received-was-cast', receivedWasCast],
  ['unknown-counts-once', unknownCountsOnce],
  ['duplicates-only-where-ambiguous', duplicatesOnlyWhereAmbiguous],
  ['sent-as-often-as-allowed', sentAsOftenAsAllowed],
  ['outcomes-add-up', outcomesAddUp],
  ['attempts-start-in-order', attemptsStartInOrder],
  ['one-vote-in-24-hours', oneVoteIn24Hours],
  ['one-key-one-vote', oneKeyOneVote],
  ['counters-equal-votes', countersEqualVotes],
  ['each-vote-its-number', eachVoteItsNumber],
  ['nothing-ends-by-itself', nothingEndsByItself],
  ['each-vote-has-its-event', eachVoteHasItsEvent],
  ['an-event-has-one-id', anEventHasOneId],
  ['goals-are-reached-by-count', goalsAreReachedByCount],
];

function acceptedIsStored({ calls }: History, { votesById }: Facts): string[] {
  return accepted(calls).flatMap((call) => {
    const { voteId, nextVoteAt } = call.answer;
    const vote = votesById.get(voteId);
    if (!vote || playerOf(vote) !== playerOf(call))
      return [`the vote ${voteId} of ${playerOf(call)} was accepted and is not stored`];
    return nextVoteAt === vote.votedAt + DAY
      ? []
      : [`the vote ${voteId} was accepted with another next time than 24 h after it`];
  });
}

/**
 * A player is refused for a vote of their own, until 24 h after it. That vote may be missing only if its own result was
 * unknown: it was read before it was durable.
 */
function refusedForAVote({ calls }: History, { votesByPlayer, callsByPlayer }: Facts): string[] {
  return calls.flatMap((call) => {
    const { answer } = call;
    if (answer.kind !== 'refused') return [];
    const votedAt = answer.nextVoteAt - DAY;
    const stored = (votesByPlayer.get(playerOf(call)) ?? []).some((vote) => vote.votedAt === votedAt);
    const unknown = (callsByPlayer.get(playerOf(call)) ?? []).some(
      (other) => other.answer.kind === 'unknown' && other.startedAt <= votedAt && votedAt <= other.endedAt,
    );
    return stored || unknown ? [] : [`${playerOf(call)} was refused for a vote that is not stored`];
  });
}

/** A caller without an answer expects nothing. But a vote that is stored counts, so it is delivered as well. */
function deliveredInTime({ calls, votes, servers, faultsEndedAt }: History, facts: Facts): string[] {
  const working = serversOf(servers, 'working');
  const answeredAt = new Map(accepted(calls).map(({ answer, endedAt }) => [answer.voteId, endedAt]));
  return votes
    .filter(({ serverId }) => working.has(serverId))
    .flatMap(({ voteId, votedAt }) => {
      const deadline = Math.max(answeredAt.get(voteId) ?? votedAt, faultsEndedAt) + DELIVERED_WITHIN_MS;
      const [first] = facts.receiptsByVote.get(voteId) ?? [];
      if (!first) return [`the vote ${voteId} counts and its working listener never received it`];
      return first.receivedAt <= deadline
        ? []
        : [`the vote ${voteId} reached its listener ${first.receivedAt - deadline} ms too late`];
    });
}

/** If the listener works, every vote is delivered in the end; if it always fails, every vote waits. */
function onlyFailingListenersWait({ votes, servers }: History): string[] {
  const failing = serversOf(servers, 'always-failing');
  return votes
    .filter(({ serverId, state }) =>
      failing.has(serverId) ? state !== 'waiting' && state !== 'sending' : state !== 'delivered',
    )
    .map(
      ({ voteId, serverId, state }) =>
        `the vote ${voteId} is ${state} though its listener ${failing.has(serverId) ? 'always fails' : 'works'}`,
    );
}

function deliveredWasReceived({ votes }: History, { receiptsByVote }: Facts): string[] {
  return votes
    .filter(({ voteId, state }) => state === 'delivered' && !receiptsByVote.has(voteId))
    .map(({ voteId }) => `the vote ${voteId} stands as delivered and was never received`);
}

/** Every stored vote, and so every received one, comes from a call that was not refused. */
function receivedWasCast({ votes }: History, { callsByPlayer, strays }: Facts): string[] {
  const invented = votes.filter((vote) => !(callsByPlayer.get(playerOf(vote)) ?? []).some(mayHaveMade(vote)));
  return [
    ...strays.map((receipt) => `a vote of ${playerOf(receipt)} was received that is not stored`),
    ...invented.map((vote) => `the vote ${vote.voteId} of ${playerOf(vote)} goes back to no call`),
  ];
}

/** Whether a call made this vote, or may have: its answer names it, or is not known. */
function mayHaveMade({ voteId }: StoredVote): (call: Call) => boolean {
  return ({ answer }) =>
    answer.kind === 'unknown' || (answer.kind === 'accepted' && answer.voteId === voteId);
}

function unknownCountsOnce({ votes }: History, { callsByPlayer }: Facts): string[] {
  const known = new Set<string>();
  for (const calls of callsByPlayer.values()) {
    for (const { answer } of accepted(calls)) known.add(answer.voteId);
  }
  const unexplained = new Map<string, StoredVote[]>();
  for (const vote of votes) if (!known.has(vote.voteId)) append(unexplained, playerOf(vote), vote);
  return [...unexplained].flatMap(([player, stored]) => {
    const unknown = (callsByPlayer.get(player) ?? []).filter(
      ({ answer }) => answer.kind === 'unknown',
    ).length;
    return stored.length <= unknown
      ? []
      : [`${player} has ${stored.length} votes that no answer names, and ${unknown} calls without an answer`];
  });
}

function duplicatesOnlyWhereAmbiguous(_history: History, { receiptsByVote, votesById }: Facts): string[] {
  return [...receiptsByVote].flatMap(([voteId, receipts]) => {
    const vote = votesById.get(voteId);
    const ambiguous = vote?.ends.ambiguous ?? 0;
    // A late acknowledgement was not known when the vote was sent again.
    const late = vote?.attempts.filter((attempt) => attempt.late).length ?? 0;
    const serverErrors = vote?.serverErrors ?? 0;
    return receipts.length <= 1 + ambiguous + late + serverErrors
      ? []
      : [
          `the vote ${voteId} was received ${receipts.length} times with ${ambiguous} ambiguous ends and ${serverErrors} server errors on record`,
        ];
  });
}

/**
 * Without a resend by hand a vote arrives at most as often as its owner allows, and each resend allows as many again.
 * Only with 1 does a server error use up a sending; with more, the vote is retried by its schedule.
 */
function sentAsOftenAsAllowed({ votes, servers }: History, { receiptsByVote }: Facts): string[] {
  const allowedOf = new Map(servers.map(({ serverId, maxSendings }) => [serverId, maxSendings]));
  return votes.flatMap(({ voteId, serverId, resends, serverErrors }) => {
    const times = receiptsByVote.get(voteId)?.length ?? 0;
    const allowed = allowedOf.get(serverId) ?? 1;
    return times <= allowed * (1 + resends) + (allowed === 1 ? 0 : serverErrors)
      ? []
      : [`the vote ${voteId} was received ${times} times, with ${allowed} allowed and ${resends} resends`];
  });
}

/** Every attempt has one outcome; the newest attempts that have none yet are stored. */
function outcomesAddUp({ votes }: History): string[] {
  return votes.flatMap(({ voteId, attemptCount, attempts, ends }) => {
    const open = attempts.filter(({ code }) => !code).length;
    // An outcome of the class `none` takes its attempt out of the count.
    const ended = Object.entries(ends).filter(([kind]) => kind !== 'none');
    const outcomes = ended.reduce((total, [, times]) => total + times, open);
    return outcomes === attemptCount
      ? []
      : [`the vote ${voteId} has ${attemptCount} attempts and ${outcomes} outcomes`];
  });
}

/**
 * First attempts start in the order of voting, except where several programs fetch at once. Two votes are compared only if one was answered before the other was
 * cast; otherwise no caller could see an order.
 */
function attemptsStartInOrder({ calls, servers }: History, { votesById }: Facts): string[] {
  const answeredAt = new Map<string, number>();
  for (const { answer, endedAt } of accepted(calls)) {
    answeredAt.set(answer.voteId, Math.min(endedAt, answeredAt.get(answer.voteId) ?? endedAt));
  }
  const tried = [...votesById.values()].flatMap((vote) => firstAttempt(vote, answeredAt));
  return servers
    .filter(({ mayReorder }) => !mayReorder)
    .flatMap(({ serverId }) => outOfOrder(tried.filter((vote) => vote.serverId === serverId)));
}

type Tried = { voteId: string; serverId: string; castAt: number; answeredAt: number; triedAt: number };

/** The time of a vote's first attempt, if it is still stored. A vote that no answer names counts as never answered. */
function firstAttempt(vote: StoredVote, answeredAt: Map<string, number>): Tried[] {
  const { voteId, serverId, votedAt: castAt, attemptCount, attempts } = vote;
  const [first] = attempts;
  if (!first || attemptCount > attempts.length) return [];
  return [{ voteId, serverId, castAt, answeredAt: answeredAt.get(voteId) ?? Infinity, triedAt: first.at }];
}

function outOfOrder(tried: Tried[]): string[] {
  const byCast = tried.toSorted((a, b) => a.castAt - b.castAt);
  const byAnswer = tried.toSorted((a, b) => a.answeredAt - b.answeredAt);
  const breaches: string[] = [];
  let answered = 0;
  let latest: Tried | undefined;
  for (const vote of byCast) {
    for (let next = byAnswer[answered]; next && next.answeredAt < vote.castAt; next = byAnswer[answered]) {
      if (!latest || next.triedAt > latest.triedAt) latest = next;
      answered += 1;
    }
    if (latest && vote.triedAt < latest.triedAt) {
      breaches.push(`the vote ${vote.voteId} was tried before ${latest.voteId}, which was cast before it`);
    }
  }
  return breaches;
}

function oneVoteIn24Hours(_history: History, { votesByPlayer }: Facts): string[] {
  return [...votesByPlayer].flatMap(([player, stored]) => {
    const times = stored.map(({ votedAt }) => votedAt).toSorted((a, b) => a - b);
    return times.flatMap((time, index) => {
      const before = times[index - 1];
      return before !== undefined && time - before < DAY
        ? [`${player} has two votes ${time - before} ms apart`]
        : [];
    });
  });
}

function oneKeyOneVote({ calls }: History): string[] {
  const byKey = new Map<string, Set<string>>();
  for (const { serverId, idempotencyKey, answer } of accepted(calls)) {
    if (idempotencyKey === undefined) continue;
    const key = `${serverId}/${idempotencyKey}`;
    byKey.set(key, (byKey.get(key) ?? new Set()).add(answer.voteId));
  }
  return [...byKey]
    .filter(([, voteIds]) => voteIds.size > 1)
    .map(([key, voteIds]) => `the key ${key} was answered with ${voteIds.size} different votes`);
}

function countersEqualVotes({ votes, servers }: History): string[] {
  return servers.flatMap(({ serverId, counted }) => {
    const stored = votes.filter((vote) => vote.serverId === serverId);
    const month = (at: number) => new Date(at).toISOString().slice(0, 7);
    const newest = Math.max(...stored.map(({ votedAt }) => votedAt));
    const monthly = stored.filter(({ votedAt }) => month(votedAt) === month(newest)).length;
    return counted.allTime === stored.length && counted.monthly === monthly
      ? []
      : [
          `${serverId} has ${stored.length} votes, ${monthly} of the month; ${counted.allTime} and ${counted.monthly} are counted`,
        ];
  });
}

/** Increments are written this long after a vote; a read that takes longer meets their writing. */
const SLOW_MS = 100;

/**
 * Without faults every call of a new player is accepted. Its number is at least the number of earlier votes and not
 * above all votes of its server; votes that race on several processes may get the same one.
 */
function eachVoteItsNumber({ calls, servers, repairedAt }: History): string[] {
  const fair = calls.filter(({ startedAt }) => startedAt >= repairedAt);
  const unheard = fair.filter(({ answer }) => answer.kind !== 'accepted');
  const wrong = servers.flatMap(({ serverId, counted: { monthly } }) => {
    const numbers = accepted(fair)
      .filter((call) => call.serverId === serverId)
      .map(({ answer }) => answer.monthlyVotes)
      .toSorted((a, b) => a - b);
    const before = monthly - numbers.length;
    // If the database is slower than the writes, it may have counted a vote that the process adds as well (ADR 42).
    const isSlow = fair.some((call) => call.serverId === serverId && call.endedAt - call.startedAt > SLOW_MS);
    const most = isSlow ? monthly + numbers.length : monthly;
    return numbers.every((number) => before < number && number <= most)
      ? []
      : [`${serverId} has ${monthly} votes of the month, and the last were numbered ${numbers.join(', ')}`];
  });
  return [
    ...unheard.map((call) => `${playerOf(call)} was ${call.answer.kind} though nothing was wrong any more`),
    ...wrong,
  ];
}

function nothingEndsByItself({ crashes }: History): string[] {
  return crashes.map((what) => `a process ended though nobody killed it: ${what}`);
}
