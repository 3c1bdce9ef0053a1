import { newAttempt } from '../delivery/drain/attempt-record.ts';
import type { Cause } from '../listeners/causes.ts';
import { BREAKER_THRESHOLD, MAX_SENDINGS } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { type OutcomeCode, outcome, outcomeOf, type Step } from '../listeners/outcomes.ts';
import { after, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { type Delivery, noDelivery, queued, type Vote } from '../votes/vote.ts';
import { chance } from './sample-players.ts';
import type { Sample } from './samples.ts';

/** `to`: null while the listener still does not answer. */
export type Outage = { from: Date; to: Date | null };

export function outagesOf({ outages }: Sample, now: Date): Outage[] {
  return outages.map(({ hoursAgo, hours }) => {
    const from = after(now, -hoursAgo * HOUR);
    return { from, to: hours === null ? null : after(from, hours * HOUR) };
  });
}

type Attempted = { at: Date; code: OutcomeCode; reached: Step; ms: number; wokenBy: Cause; words?: string };

type Story = {
  votedAt: Date;
  /** From 0 to 1: what happens to the vote. */
  draw: number;
  outage: Outage | null;
  /** Of the vote among those of its outage, from 0. */
  place: number;
};

/** As the product stores it: nearly all votes arrive at once, and every kind of failure occurs. */
export function sampleDelivery(listener: Listener, story: Story): Delivery {
  const { votedAt, outage } = story;
  return deliveryOf(
    listener,
    votedAt,
    outage ? duringOutage(listener, story, outage) : usual(listener, story),
  );
}

function duringOutage(listener: Listener, { votedAt, place }: Story, outage: Outage): Attempted[] {
  // A program that fetches votes makes no attempt while it is away.
  const isTried = listener.protocol !== 'fetch' && place < BREAKER_THRESHOLD;
  const refused = isTried ? [failed('connection-refused', 'resolved', after(votedAt, SECOND / 50), 2)] : [];
  if (!outage.to) return refused;
  const back = after(outage.to, place * 150);
  return [...refused, acknowledged(back, 40 + 30 * chance(place), 'listener-back')];
}

const NO_ANSWER_MS = 5 * SECOND;

function usual({ protocol }: Listener, { votedAt, draw }: Story): Attempted[] {
  const begun = after(votedAt, 4 + Math.round(20 * chance(draw * 7)));
  // Few answers take long.
  const taken = (at: Date, wokenBy: Cause) =>
    acknowledged(at, 12 + 30 * chance(draw * 11) + 900 * chance(draw * 13) ** 12, wokenBy);
  if (draw < 0.975) return [taken(begun, 'cast')];
  const isFetch = protocol === 'fetch';
  if (draw < 0.988) {
    const first = isFetch
      ? failed('fetch-retry', 'connected', begun, 800)
      : failed(
          draw < 0.982 ? 'silent' : 'connect-timeout',
          draw < 0.982 ? 'connected' : 'resolved',
          begun,
          5_000,
        );
    return [first, taken(after(begun, 10 * SECOND), 'schedule')];
  }
  if (draw < 0.993) {
    const unknown = isFetch
      ? failed('fetch-unknown', 'written', begun, NO_ANSWER_MS)
      : failed('no-answer', 'written', begun, NO_ANSWER_MS);
    return [unknown, taken(after(begun, MINUTE), 'schedule')];
  }
  if (draw < 0.997)
    return [
      {
        ...failed(isFetch ? 'fetch-failed' : 'vote-refused', 'acknowledged', begun, 60),
        words: 'Player is banned',
      },
    ];
  // Sent as often as allowed, without an answer: unconfirmed.
  return Array.from({ length: MAX_SENDINGS }, (_, sending) =>
    failed(
      isFetch ? 'fetch-unknown' : 'no-answer',
      'written',
      after(begun, sending * 10 * MINUTE),
      NO_ANSWER_MS,
      sending === 0 ? 'cast' : 'schedule',
    ),
  );
}

function acknowledged(at: Date, ms: number, wokenBy: Cause): Attempted {
  return { at, code: 'acknowledged', reached: 'acknowledged', ms, wokenBy };
}

function failed(code: OutcomeCode, reached: Step, at: Date, ms: number, wokenBy: Cause = 'cast'): Attempted {
  return { at, code, reached, ms, wokenBy };
}

function deliveryOf(listener: Listener, votedAt: Date, attempted: Attempted[]): Delivery {
  const last = attempted.at(-1);
  const ambiguousEnds = attempted.filter(({ code }) => outcomeOf(code).class === 'ambiguous').length;
  return {
    ...noDelivery(),
    ...ending(votedAt, last, ambiguousEnds),
    ambiguousEnds,
    attemptCount: attempted.length,
    attempts: attempted.map(({ at, code, reached, ms, wokenBy, words }) => ({
      ...newAttempt('demo', listener, { test: false }, at),
      ...outcome(code, reached, words),
      durationMs: Math.round(ms),
      wokenBy,
    })),
    ends: counted(attempted.map(({ code }) => outcomeOf(code).class)),
    codes: counted(attempted.map(({ code }) => code)),
  };
}

/** As `afterAttempt` decides it. */
function ending(votedAt: Date, last: Attempted | undefined, ambiguousEnds: number): Partial<Delivery> {
  const kind = last && outcomeOf(last.code).class;
  if (last && kind === 'delivered')
    return { state: 'delivered', deliveredAt: after(last.at, Math.round(last.ms)) };
  if (kind === 'vote-only') return { state: 'failed' };
  if (ambiguousEnds >= MAX_SENDINGS) return { state: 'unconfirmed' };
  return last ? { ...queued(votedAt, 'schedule'), step: 1 } : queued(votedAt, 'cast');
}

function counted<T extends string>(all: T[]): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {};
  for (const one of all) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

/** Of a listener that is down: unreachable since the beginning of its outage, after it had taken votes. */
export async function writeOutage(
  { listeners, clock }: Pick<AppDeps, 'listeners' | 'clock'>,
  { serverId }: Listener,
  sample: Sample,
  votes: Vote[],
): Promise<void> {
  const now = clock.now();
  const open = outagesOf(sample, now).find(({ to }) => to === null);
  const arrivals = votes.flatMap(({ delivery }) => delivery.deliveredAt ?? []);
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (!open || !first || !last) return;
  const breaker = {
    failures: BREAKER_THRESHOLD,
    openSince: open.from,
    tests: 0,
    nextTestAt: now,
    code: 'connection-refused',
  } as const;
  const taken = { acknowledgedAt: first, lastDeliveredAt: last, lastDeliveryConfirmed: true };
  await listeners.updateOne(
    { serverId },
    { $set: { ...taken, updatedAt: votes[0]?.votedAt ?? first, breaker } },
  );
}
