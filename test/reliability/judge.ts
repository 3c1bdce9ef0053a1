import { DAY, SECOND } from '../../src/clock.ts';
import type { Call, History, Receipt, StoredVote } from './history.ts';

/** A rule that a history breaks, and where. */
export type Breach = { rule: Rule; what: string };

export type Rule =
  | 'accepted-is-stored'
  | 'delivered-in-time'
  | 'only-failing-listeners-wait'
  | 'received-was-cast'
  | 'unknown-counts-once'
  | 'duplicates-only-where-ambiguous'
  | 'attempts-start-in-order'
  | 'one-vote-in-24-hours'
  | 'one-key-one-vote'
  | 'counters-equal-votes';

/** A working listener has every vote so long after the last fault was mended, or after a later acceptance. */
const DELIVERED_WITHIN_MS = 60 * SECOND;

/**
 * Judges a history by what Tallyport promises (design, "What must stay true", 1 to 5, 8 and 9). Knows nothing
 * of how it is done: only what callers were told, what listeners received, and what is stored in the end.
 *
 * @returns every breach; none means that the promises were kept
 */
export function judge(history: History): Breach[] {
  const facts = order(history);
  return RULES.flatMap(([rule, look]) => look(history, facts).map((what) => ({ rule, what })));
}

/** The history, found again by what things belong to. */
type Facts = {
  votesById: Map<string, StoredVote>;
  callsByPlayer: Map<string, Call[]>;
  receiptsByVote: Map<string, Receipt[]>;
  /** Receipts that belong to no stored vote. */
  strays: Receipt[];
};

const playerOf = ({ serverId, username }: { serverId: string; username: string }) =>
  `${serverId}/${username.toLowerCase()}`;

function order({ calls, receipts, votes }: History): Facts {
  const votesById = new Map(votes.map((vote) => [vote.voteId, vote]));
  const byMessage = new Map(votes.map((vote) => [`${playerOf(vote)}@${vote.votedAt}`, vote.voteId]));
  const receiptsByVote = new Map<string, Receipt[]>();
  const strays: Receipt[] = [];
  for (const receipt of receipts) {
    // v1 carries no id, but the player and the time of the vote to the millisecond or the second.
    const voteId = receipt.voteId ?? byMessage.get(`${playerOf(receipt)}@${receipt.votedAt}`);
    if (voteId === undefined || !votesById.has(voteId)) strays.push(receipt);
    else append(receiptsByVote, voteId, receipt);
  }
  const callsByPlayer = new Map<string, Call[]>();
  for (const call of calls) append(callsByPlayer, playerOf(call), call);
  return { votesById, callsByPlayer, receiptsByVote, strays };
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}

type Look = (history: History, facts: Facts) => string[];

const RULES: [Rule, Look][] = [
  ['accepted-is-stored', acceptedIsStored],
  ['delivered-in-time', deliveredInTime],
  ['only-failing-listeners-wait', onlyFailingListenersWait],
  ['received-was-cast', receivedWasCast],
  ['unknown-counts-once', unknownCountsOnce],
  ['duplicates-only-where-ambiguous', duplicatesOnlyWhereAmbiguous],
  ['attempts-start-in-order', attemptsStartInOrder],
  ['one-vote-in-24-hours', oneVoteIn24Hours],
  ['one-key-one-vote', oneKeyOneVote],
  ['counters-equal-votes', countersEqualVotes],
];

type AcceptedCall = Call & { answer: Extract<Call['answer'], { kind: 'accepted' }> };

function accepted(calls: Call[]): AcceptedCall[] {
  return calls.filter((call): call is AcceptedCall => call.answer.kind === 'accepted');
}

function acceptedIsStored({ calls }: History, { votesById }: Facts): string[] {
  return accepted(calls)
    .filter(({ answer }) => !votesById.has(answer.voteId))
    .map((call) => `the vote ${call.answer.voteId} of ${playerOf(call)} was accepted and is not stored`);
}

function deliveredInTime({ calls, servers, faultsEndedAt }: History, facts: Facts): string[] {
  const working = new Map(
    servers.filter(({ listener }) => listener === 'working').map((server) => [server.serverId, server]),
  );
  return accepted(calls)
    .filter(({ serverId }) => working.has(serverId))
    .flatMap(({ answer: { voteId }, serverId, endedAt }) => {
      const deadline = Math.max(endedAt, faultsEndedAt) + DELIVERED_WITHIN_MS;
      const [first] = facts.receiptsByVote.get(voteId) ?? [];
      const sent = facts.votesById.get(voteId)?.state === 'delivered';
      if (!first && sent && !working.get(serverId)?.confirms) return [];
      if (!first) return [`the vote ${voteId} was accepted and its working listener never received it`];
      return first.receivedAt <= deadline
        ? []
        : [`the vote ${voteId} reached its listener ${first.receivedAt - deadline} ms too late`];
    });
}

function onlyFailingListenersWait({ votes, servers }: History): string[] {
  const failing = new Set(
    servers.filter(({ listener }) => listener === 'always-failing').map(({ serverId }) => serverId),
  );
  return votes
    .filter(({ serverId, state }) => !failing.has(serverId) && (state === 'waiting' || state === 'sending'))
    .map(({ voteId, state }) => `the vote ${voteId} is ${state} though its listener works`);
}

/** Every vote that is stored, and so every one received, goes back to a call that was not refused. */
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

/** Ends after which the listener may have the vote although it was sent again. */
const MAY_HAVE_ARRIVED = new Set<string | undefined>(['http-unavailable']);

function duplicatesOnlyWhereAmbiguous(_history: History, { receiptsByVote, votesById }: Facts): string[] {
  return [...receiptsByVote].flatMap(([voteId, receipts]) => {
    const vote = votesById.get(voteId);
    const ambiguous = vote?.ends.ambiguous ?? 0;
    // Nobody knew of a late acknowledgement when the vote was sent again.
    const open = vote?.attempts.filter(({ code, late }) => late || MAY_HAVE_ARRIVED.has(code)).length ?? 0;
    return receipts.length <= 1 + ambiguous + open
      ? []
      : [
          `the vote ${voteId} was received ${receipts.length} times with ${ambiguous} ambiguous ends on record`,
        ];
  });
}

/**
 * First attempts start in the order of voting. Two votes are compared only where one was answered before the
 * other was cast: otherwise there is no order that anybody could have seen.
 */
function attemptsStartInOrder({ calls, servers }: History, { votesById }: Facts): string[] {
  const answeredAt = new Map<string, number>();
  for (const { answer, endedAt } of accepted(calls)) {
    answeredAt.set(answer.voteId, Math.min(endedAt, answeredAt.get(answer.voteId) ?? endedAt));
  }
  const tried = [...votesById.values()].flatMap((vote) => firstAttempt(vote, answeredAt));
  return servers.flatMap(({ serverId }) => outOfOrder(tried.filter((vote) => vote.serverId === serverId)));
}

type Tried = { voteId: string; serverId: string; castAt: number; answeredAt: number; triedAt: number };

/** When a vote was first tried, where that is still on record. One that no answer names was answered never. */
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

function oneVoteIn24Hours({ votes }: History): string[] {
  const byPlayer = new Map<string, StoredVote[]>();
  for (const vote of votes) append(byPlayer, playerOf(vote), vote);
  return [...byPlayer].flatMap(([player, stored]) => {
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
