import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { order } from './facts.ts';
import type { Call } from './history.ts';
import type { Storm } from './storm.ts';

/** The figures of a storm. */
type Figures = {
  faults: number;
  calls: number;
  accepted: number;
  refused: number;
  unanswered: number;
  votes: number;
  /** Votes for working listeners, and how many of them are stored as delivered. */
  toDeliver: number;
  delivered: number;
  ambiguous: number;
  receivedAgain: number;
  drifts: number;
  rolledBack: number;
  /** The longest time during the faults in which no call was accepted or refused, in milliseconds. */
  longestOutageMs: number;
  /** From the end of the last fault to the last first receipt, in milliseconds; 0 when all had arrived by then. */
  caughtUpMs: number;
};

/** Counts what happened in a storm. */
export function figuresOf({ history, faults, rolledBack }: Omit<Storm, 'kinds'>): Figures {
  const { calls, votes, receipts, servers, drifts, faultsEndedAt, repairedAt } = history;
  const answered = (kind: string) => calls.filter(({ answer }) => answer.kind === kind).length;
  const failing = servers.find(({ listener }) => listener === 'always-failing')?.serverId;
  const toDeliver = votes.filter(({ serverId }) => serverId !== failing);
  const { receiptsByVote } = order(history);
  const firsts = [...receiptsByVote.values()].map(([first]) => first?.receivedAt ?? 0);
  const lastFirst = Math.max(faultsEndedAt, ...firsts.filter((at) => at < repairedAt));
  return {
    faults: faults.length,
    calls: calls.length,
    accepted: answered('accepted'),
    refused: answered('refused'),
    unanswered: answered('unknown'),
    votes: votes.length,
    toDeliver: toDeliver.length,
    delivered: toDeliver.filter(({ state }) => state === 'delivered').length,
    ambiguous: votes.filter(({ ends }) => (ends.ambiguous ?? 0) > 0).length,
    receivedAgain: receipts.length - receiptsByVote.size,
    drifts,
    rolledBack,
    longestOutageMs: longestOutage(calls, faultsEndedAt),
    caughtUpMs: lastFirst - faultsEndedAt,
  };
}

function longestOutage(calls: Call[], until: number): number {
  const answered = calls.filter(({ answer, endedAt }) => answer.kind !== 'unknown' && endedAt <= until);
  return longestGap(answered).ms;
}

/** The longest time in which none of these calls ended, in milliseconds, and when it ended. */
export function longestGap(calls: Pick<Call, 'endedAt'>[]): { ms: number; endedAt: number } {
  const times = calls.map(({ endedAt }) => endedAt).toSorted((a, b) => a - b);
  const gaps = times.slice(1).map((endedAt, index) => ({ ms: endedAt - (times[index] ?? endedAt), endedAt }));
  return gaps.reduce((longest, gap) => (gap.ms > longest.ms ? gap : longest), { ms: 0, endedAt: 0 });
}

/** A table of one row, in Markdown, as README.md in this folder has it. */
export function tableOf(
  { seed, lengthMs, votesPerSecond }: { seed: number; lengthMs: number; votesPerSecond: number },
  figures: Figures,
  breaches: number,
): string {
  const { accepted, refused, unanswered, toDeliver, delivered, caughtUpMs } = figures;
  const columns: [string, string | number][] = [
    ['Seed', seed],
    ['Minutes', lengthMs / MINUTE],
    ['Votes/s', votesPerSecond],
    ['Faults', figures.faults],
    ['Calls', figures.calls],
    ['Accepted / refused / no answer', `${accepted} / ${refused} / ${unanswered}`],
    ['Votes stored', figures.votes],
    ['Delivered of those for working listeners', `${delivered} of ${toDeliver}`],
    ['Longest outage', `${(figures.longestOutageMs / SECOND).toFixed(1)} s`],
    ['Last one after the faults', `${(caughtUpMs / SECOND).toFixed(1)} s`],
    ['Votes with an ambiguous end', figures.ambiguous],
    ['Received again', figures.receivedAgain],
    ['Counters put right by', figures.drifts],
    ['Rolled back', figures.rolledBack],
    ['Rules broken', breaches],
  ];
  const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [
    row(columns.map(([title]) => title)),
    `|${columns.map(() => '--:|').join('')}`,
    row(columns.map(([, value]) => value)),
  ].join('\n');
}
