import type { OlderAttempts } from '../delivery/timeline/older-attempts.ts';
import { statusText } from '../delivery/timeline/status-text.ts';
import type {
  AttemptEvent,
  AttemptOutcome,
  TimelineEvent,
  VoteTimeline,
} from '../delivery/timeline/timeline-event.ts';
import { causeText, eventText } from '../delivery/timeline/timeline-texts.ts';
import { t } from '../language/t.ts';
import { NOTHING_TO_DO } from '../listeners/explanation.ts';
import type { Server } from '../servers/server.ts';
import { nextVoteAt } from '../votes/cast/cooldown.ts';
import { stateNameOf } from '../votes/state-names.ts';
import type { Vote } from '../votes/vote.ts';
import { countWithNoun, iso, span, utc, when } from './output-format.ts';
import { QUEUE_PAUSED } from './session.ts';
import { oneLine, pairs, table } from './table.ts';

export type ShownVote = {
  vote: Vote;
  timeline: VoteTimeline;
  server: Server | null;
  /** null if Redis does not answer. */
  queuePaused: boolean | null;
  now: Date;
};

export function timelineJson({ vote, timeline, server, queuePaused }: ShownVote): Record<string, unknown> {
  const { delivery } = vote;
  const { status, arrival, events, mayHaveArrivedTwice, nameMayBeMangled } = timeline;
  return {
    vote_id: vote._id.toString(),
    server_id: vote.serverId.toHexString(),
    server_slug: server?.slug ?? null,
    username: vote.username,
    voted_at: iso(vote.votedAt),
    next_vote_at: iso(vote.cooldownEndedAt ?? nextVoteAt(vote)),
    cooldown_ended_at: iso(vote.cooldownEndedAt),
    token_id: vote.tokenId?.toHexString() ?? null,
    source: vote.source ?? null,
    excluded_at: iso(vote.excludedAt),
    quarantined_at: iso(vote.quarantinedAt),
    claimed_at: iso(vote.claim?.at),
    exclusions: of(events, 'excluded').map(({ exclusionId, reason }) => {
      return { exclusion_id: exclusionId, reason };
    }),
    state: status.state,
    why: 'why' in status ? status.why : null,
    confirmed: status.state === 'delivered' ? status.confirmed : null,
    arrival,
    may_have_arrived_twice: mayHaveArrivedTwice,
    name_may_be_mangled: nameMayBeMangled,
    waiting_for: status.state === 'waiting' ? waitingJson(status) : null,
    queue_paused: queuePaused,
    next_at: iso(delivery.nextAt),
    expires_at: iso(delivery.expiresAt),
    delivered_at: iso(delivery.deliveredAt),
    attempt_count: delivery.attemptCount,
    ends: delivery.ends,
    older_attempts: of(events, 'older-attempts').map(olderJson)[0] ?? null,
    attempts: of(events, 'attempt').map(attemptJson),
    events: events.flatMap(plainJson),
  };
}

function of<K extends TimelineEvent['kind']>(
  events: TimelineEvent[],
  kind: K,
): Extract<TimelineEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<TimelineEvent, { kind: K }> => event.kind === kind);
}

function waitingJson({
  waitingFor,
  reason,
  ahead,
}: Extract<VoteTimeline['status'], { state: 'waiting' }>): Record<string, unknown> {
  return {
    kind: waitingFor.kind,
    at: 'at' in waitingFor ? iso(waitingFor.at) : null,
    code: reason?.code ?? null,
    cause: reason ? t(reason.cause) : null,
    votes_ahead: ahead,
  };
}

function olderJson({ count, firstAt, lastAt, ends, codes }: OlderAttempts): Record<string, unknown> {
  return { count, first_at: iso(firstAt), last_at: iso(lastAt), ends, codes };
}

function attemptJson(attempt: AttemptEvent): Record<string, unknown> {
  const { end } = attempt;
  return {
    attempt_id: attempt.id,
    at: iso(attempt.at),
    number: attempt.number,
    worker: attempt.worker,
    protocol: attempt.protocol,
    test: attempt.test,
    woken_by: attempt.wokenBy,
    relayed: attempt.relayed,
    reached: end?.reached ?? null,
    class: end?.class ?? null,
    code: end?.code ?? null,
    words: end?.words ?? null,
    detail: end?.detail ?? null,
    duration_ms: end?.durationMs ?? null,
    late_at: iso(attempt.lateAt),
    cause: end ? t(end.cause) : null,
    mend: end ? t(end.advice) : null,
  };
}

function plainJson(event: TimelineEvent): Record<string, unknown>[] {
  switch (event.kind) {
    case 'expired':
    case 'listener-removed':
    case 'server-removed':
    case 'restored':
      return [{ at: iso(event.at), kind: event.kind }];
    case 'resent': {
      const { at, kind, by, from, mayArriveTwice } = event;
      return [{ at: iso(at), kind, by, from, may_arrive_twice: mayArriveTwice }];
    }
    default:
      // The answer has it in other fields, or not at all.
      return [];
  }
}

export function timelineText(shown: ShownVote): string {
  const { vote, timeline, server, queuePaused, now } = shown;
  const { status } = timeline;
  const at = (moment: Date) => when(moment, now);
  const isHeld = queuePaused && status.state === 'waiting' && !status.fetched;
  const head = pairs([
    ['Vote', vote._id.toString()],
    ['Player', vote.username],
    ['Server', server ? `${server.name} (${server.slug})` : vote.serverId.toHexString()],
    ['Cast', when(vote.votedAt, now)],
    ...of(timeline.events, 'excluded').map(({ exclusionId, by, reason }): [string, string] => [
      'Excluded',
      `from every count, by ${by}: “${reason}” (${exclusionId})`,
    ]),
    ['State', stateNameOf(vote.delivery)],
    ['Delivery', statusText(status, { on: at, next: at }, queuePaused, timeline)],
    ['Queue', isHeld ? QUEUE_PAUSED : null],
  ]);
  const rows = timeline.events.map(rowOf);
  const events = table(['TIME', 'WHAT', 'STARTED BY', 'REACHED', 'TOOK', 'DETAILS'], rows, '');
  const advice = pairs(adviceOf(timeline.events));
  return [head, '', events, ...(advice ? ['', 'What to do', advice] : [])].join('\n');
}

function adviceOf(events: TimelineEvent[]): [string, string][] {
  const ends = of(events, 'attempt').flatMap(({ end }) => (end && end.advice !== NOTHING_TO_DO ? [end] : []));
  return [...new Map(ends.toReversed().map(({ code, advice }) => [code as string, t(advice)]))];
}

type Row = [string, string, string, string, string, string];

function rowOf(event: TimelineEvent): Row {
  switch (event.kind) {
    case 'attempt':
      return attemptRow(event);
    case 'older-attempts':
      return olderRow(event);
    default:
      return [utc(event.at), eventText(event), '', '', '', ''];
  }
}

function olderRow({ count, firstAt, lastAt, ends, codes }: OlderAttempts): Row {
  const times = [firstAt, lastAt].flatMap((at) => (at ? [utc(at)] : []));
  const outcomes = Object.entries(codes ?? ends).map(([outcome, times]) => `${times} ${outcome}`);
  const details = [outcomes.join(', '), ...(firstAt && lastAt ? [`the last ${utc(lastAt)}`] : [])];
  return [
    times[0] ?? '…',
    countWithNoun(count, 'older attempt'),
    '',
    '',
    '',
    `${details.filter(Boolean).join('; ')} (details no longer stored)`,
  ];
}

function detailsOf(
  { code, words, detail, cause }: AttemptOutcome,
  protocol: AttemptEvent['protocol'],
): string {
  if (words)
    return `${protocol === 'fetch' ? 'reported reason:' : 'the listener answered'} “${oneLine(words)}”`;
  // How a listener greets does not say why it gave no answer.
  return code === 'no-answer' ? t(cause) : (detail ?? t(cause));
}

function attemptRow({ at, number, test, worker, underWay, end, ...cause }: AttemptEvent): Row {
  const name = `${test ? 'test' : 'attempt'}${number === null ? ', not counted' : ` ${number}`}`;
  const startedBy = causeText(cause) ?? '-';
  if (!end) {
    const what = underWay ? `${name}: in progress` : `${name}: its outcome is unknown`;
    return [utc(at), what, startedBy, '', '', `worker ${worker}`];
  }
  return [
    utc(at),
    `${name}: ${end.class} (${end.code})`,
    startedBy,
    end.reached ?? '-',
    end.durationMs === null ? '-' : span(end.durationMs),
    detailsOf(end, cause.protocol),
  ];
}
