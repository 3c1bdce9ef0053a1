import type { ObjectId } from 'mongodb';
import { delayAt } from '../listeners/delivery-limits.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { LoggedAttempt } from './attempt-log.ts';
import type { DestinationResult, EventOutcome } from './destination.ts';
import type { StoredEvent } from './event.ts';
import { type EndedSends, sendTo } from './event-sends.ts';
import type { PassState } from './subscription-lease.ts';

/** Of an event after each failed attempt, with a jitter of 20 %. After the seventh it is given up. */
const EVENT_DELAYS_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];

/**
 * Of a destination that fails: one event is tried after each. A restart of a program costs half a minute, a dead address
 * a request in half an hour.
 */
const BACK_OFF_MS = [5, 10, 15, 30, 60, 120, 300, 900, 1_800].map((seconds) => seconds * SECOND);

/** Both are needed: rare events fail days apart. */
const PAUSED_AFTER_MS = DAY;
const PAUSED_AFTER_FAILURES = 7;

/** A destination with such an attempt is slow for some time, also if others are quick. */
const SLOW_MS = SECOND;
const SLOW_FOR_MS = 10 * MINUTE;

type Round = { to: ObjectId; due: StoredEvent[]; result: DestinationResult; now: Date };

/** What becomes of the events of a round, and what is logged of them. */
export function endsOf({ to, due, result, now }: Round): EndedSends & { attempts: LoggedAttempt[] } {
  const { outcomes, waitMs, isGone } = result;
  const byId = new Map(due.map((event) => [event._id, event]));
  const ends: EndedSends & { attempts: LoggedAttempt[] } = { ended: [], again: [], attempts: [] };
  for (const { eventId, end, ...seen } of outcomes) {
    const event = byId.get(eventId);
    if (!event) continue;
    const { attempts = 0 } = sendTo(event, to) ?? {};
    const next = end === 'retry' ? nextTry(attempts, waitMs, now) : null;
    const isKept = isGone !== undefined && end !== 'sent';
    if (!isKept && next) ends.again.push({ eventId, ...next });
    else if (!isKept && end !== 'waits') ends.ended.push(eventId);
    ends.attempts.push({
      at: now,
      eventId,
      type: event.type,
      end: loggedEnd(end, isKept, next !== null),
      ...seen,
    });
  }
  return ends;
}

function loggedEnd(end: EventOutcome['end'], isKept: boolean, hasNext: boolean): LoggedAttempt['end'] {
  if (isKept) return 'refused';
  return end === 'retry' && !hasNext ? 'given-up' : end;
}

/**
 * Null after the last attempt. A longer delay that the peer asks for counts as no attempt; a shorter one, such as 0 with
 * each answer, changes nothing.
 */
function nextTry(attempts: number, waitMs: number | undefined, now: Date) {
  const delay = EVENT_DELAYS_MS[attempts];
  if (waitMs !== undefined && waitMs > (delay ?? 0)) return { nextAt: after(now, waitMs), attempts };
  if (delay === undefined) return null;
  return { nextAt: after(now, delayAt(EVENT_DELAYS_MS, attempts)), attempts: attempts + 1 };
}

/** The destination fails if it took none of a round's events. One that refuses an event alone does not fail. */
export function learnt(state: PassState, { outcomes, waitMs, isGone, proven }: DestinationResult, now: Date) {
  const tried = outcomes.filter(({ end }) => end !== 'waits');
  const failure = tried.findLast(({ end }) => end === 'retry');
  const isSlow = tried.some(({ durationMs }) => durationMs > SLOW_MS);
  const next: PassState = {
    ...state,
    ...(isSlow ? { slowUntil: after(now, SLOW_FOR_MS) } : {}),
    ...(proven ? { proven } : {}),
    ...(waitMs === undefined ? {} : { notBefore: after(now, Math.max(waitMs, SECOND)) }),
  };
  if (isGone !== undefined) return { ...next, pause: { at: now, by: 'gone' as const, reason: isGone } };
  if (tried.some(({ end }) => end === 'sent'))
    return { ...next, failures: 0, failingSince: undefined, lastReason: undefined, lastSentAt: now };
  return failure ? failed(next, failure.reason ?? '', now) : next;
}

/** A delay that the peer asks for shortens none of ours. After a day of failures it is paused. */
function failed(state: PassState, reason: string, now: Date): PassState {
  const { failures, failingSince = now } = state;
  const backOff = after(now, delayAt(BACK_OFF_MS, failures));
  const notBefore = state.notBefore && state.notBefore > backOff ? state.notBefore : backOff;
  const isLong = now.getTime() - failingSince.getTime() >= PAUSED_AFTER_MS;
  const isOver = isLong && failures + 1 >= PAUSED_AFTER_FAILURES;
  const pause = isOver ? { at: now, by: 'failures' as const, reason } : undefined;
  return { ...state, failures: failures + 1, failingSince, lastReason: reason, notBefore, pause };
}
