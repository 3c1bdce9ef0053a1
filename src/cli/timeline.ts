import { EXPLANATIONS, listenerReason } from '../delivery/explanations.ts';
import type { Listener } from '../delivery/listener.ts';
import { waitingFor } from '../delivery/waiting-for.ts';
import type { Server } from '../servers/server.ts';
import { nextVoteAt } from '../votes/cooldown.ts';
import { type Attempt, type Delivery, isImported, type Vote } from '../votes/vote.ts';
import type { VoteExclusion } from '../votes/vote-exclusion.ts';
import { QUEUE_PAUSED } from './queue-pause.ts';
import { oneLine, pairs, table } from './table.ts';
import { counted, iso, span, utc, when } from './words.ts';

/** A vote with what its timeline tells of: the server, the listener and the queue as they are now. */
export type Shown = {
  vote: Vote;
  server: Server | null;
  listener: Listener | null;
  /** Those that the vote is under. */
  exclusions: VoteExclusion[];
  /** null: Redis does not say. */
  queuePaused: boolean | null;
  now: Date;
};

/** Everything that is known of a vote's way, as plain values. */
export function timelineJson({
  vote,
  server,
  listener,
  exclusions,
  queuePaused,
  now,
}: Shown): Record<string, unknown> {
  const { delivery } = vote;
  const waiting = waitingFor(vote, listener, now);
  return {
    vote_id: vote._id.toString(),
    server_id: vote.serverId.toHexString(),
    server_slug: server?.slug ?? null,
    username: vote.username,
    voted_at: iso(vote.votedAt),
    next_vote_at: iso(vote.cooldownEndedAt ?? nextVoteAt(vote)),
    cooldown_ended_at: iso(vote.cooldownEndedAt),
    token_id: vote.tokenId?.toHexString() ?? null,
    excluded_at: iso(vote.excludedAt),
    exclusions: exclusions.map(({ _id, reason }) => ({ exclusion_id: _id.toHexString(), reason })),
    state: delivery.state,
    waiting_for: waiting && { kind: waiting.kind, at: 'at' in waiting ? iso(waiting.at) : null },
    queue_paused: queuePaused,
    next_at: iso(delivery.nextAt),
    expires_at: iso(delivery.expiresAt),
    delivered_at: iso(delivery.deliveredAt),
    attempt_count: delivery.attemptCount,
    ends: delivery.ends,
    attempts: delivery.attempts.map(attemptJson),
    events: delivery.events.map(({ at, kind }) => ({ at: iso(at), kind })),
  };
}

function attemptJson(attempt: Attempt): Record<string, unknown> {
  const explanation = attempt.code ? EXPLANATIONS[attempt.code] : null;
  return {
    attempt_id: attempt.id.toString(),
    at: iso(attempt.at),
    worker: attempt.worker,
    protocol: attempt.protocol,
    test: attempt.test,
    reached: attempt.reached ?? null,
    class: attempt.class ?? null,
    code: attempt.code ?? null,
    words: attempt.words ?? null,
    duration_ms: attempt.durationMs ?? null,
    cause: explanation?.cause ?? null,
    mend: explanation?.mend ?? null,
  };
}

/** The same for people. */
export function timelineText(shown: Shown): string {
  const { vote, server, exclusions, queuePaused, now } = shown;
  const held = queuePaused && vote.delivery.state === 'waiting';
  const head = pairs([
    ['Vote', vote._id.toString()],
    ['Player', vote.username],
    ['Server', server ? `${server.name} (${server.slug})` : vote.serverId.toHexString()],
    ['Cast', when(vote.votedAt, now)],
    ...exclusions.map(({ _id, by, reason }): [string, string] => [
      'Excluded',
      `counts nowhere, by ${by}: «${reason}» (${_id.toHexString()})`,
    ]),
    ['State', stateText(shown)],
    ...(held ? ([['Queue', QUEUE_PAUSED]] satisfies [string, string][]) : []),
  ]);
  return [head, '', table(['TIME', 'WHAT', 'REACHED', 'TOOK', 'DETAILS'], entries(vote), '')].join('\n');
}

function stateText(shown: Shown): string {
  const { vote, now } = shown;
  const { state, deliveredAt, expiresAt, events } = vote.delivery;
  const givenUp = expiresAt ? `; given up ${when(expiresAt, now)}` : '';
  switch (state) {
    case 'none':
      if (isImported(vote)) return 'none: it was imported, and imported votes are never forwarded';
      return events.some(({ kind }) => kind === 'listener-removed')
        ? 'none: the vote listener was removed; resend it when there is one again'
        : 'none: there was no vote listener; resend it when there is one';
    case 'waiting':
      return `waiting ${waitText(shown)}${givenUp}`;
    case 'sending':
      return 'sending: an attempt is under way';
    case 'delivered':
      return `delivered ${when(deliveredAt, now)}`;
    case 'unconfirmed':
      return 'unconfirmed: it may have arrived; only a resend sends it again';
    case 'failed':
      return 'failed: it can be resent for 30 days';
  }
}

function waitText({ vote, listener, queuePaused, now }: Shown): string {
  const waiting = waitingFor(vote, listener, now);
  const reason = listener && listenerReason(listener);
  switch (waiting?.kind) {
    case 'resume':
      return `until the listener is resumed: ${reason?.cause ?? 'it is paused.'}`;
    case 'listener-test':
      return `for the listener, which is tested ${when(waiting.at, now)}: ${reason?.cause ?? 'it is unreachable.'}`;
    case 'own-retry':
      return `for its next attempt, ${when(waiting.at, now)}`;
    default:
      return queuePaused ? 'until the queue is resumed' : 'for its turn';
  }
}

type Row = [string, string, string, string, string];

const EVENTS: Record<Delivery['events'][number]['kind'], string> = {
  resent: 'resent',
  expired: 'given up: its time was over',
  'listener-removed': 'taken out of the line: the listener was removed',
  'server-removed': 'failed: the server was removed',
};

function entries(vote: Vote): Row[] {
  const { delivery } = vote;
  const plain = (at: Date, what: string): { at: Date; row: Row } => ({
    at,
    row: [utc(at), what, '', '', ''],
  });
  const forgotten = delivery.attemptCount - delivery.attempts.filter(counts).length;
  let number = forgotten;
  const all = [
    plain(vote.votedAt, isImported(vote) ? 'cast elsewhere' : 'accepted'),
    ...delivery.attempts.map((attempt) => {
      const counted = counts(attempt);
      if (counted) number += 1;
      return { at: attempt.at, row: attemptRow(attempt, counted ? ` ${number}` : ', not counted') };
    }),
    ...delivery.events.map(({ at, kind }) => plain(at, EVENTS[kind])),
    ...(vote.cooldownEndedAt
      ? [plain(vote.cooldownEndedAt, 'the player may vote again, by an operator')]
      : []),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const [first, ...rest] = all.map(({ row }) => row);
  const gap: Row[] =
    forgotten > 0 ? [['…', `${counted(forgotten, 'older attempt')}`, '', '', 'details not kept']] : [];
  return first ? [first, ...gap, ...rest] : gap;
}

/** An attempt that was given back before anything was sent is none of those that are counted. */
function counts(attempt: Attempt): boolean {
  return attempt.class !== 'none';
}

function attemptRow(attempt: Attempt, number: string): Row {
  const { code } = attempt;
  const name = `${attempt.test ? 'test' : 'attempt'}${number}`;
  if (!code) return [utc(attempt.at), `${name}: no end yet`, '', '', `worker ${attempt.worker}`];
  return [
    utc(attempt.at),
    `${name}: ${attempt.class} (${code})`,
    attempt.reached ?? '-',
    attempt.durationMs === undefined || attempt.durationMs === null ? '-' : span(attempt.durationMs),
    attempt.words ? `the listener said «${oneLine(attempt.words)}»` : EXPLANATIONS[code].cause,
  ];
}
