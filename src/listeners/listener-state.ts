import type { UUID } from 'mongodb';
import { after, MINUTE } from '../platform/clock.ts';
import type { Listener } from './listener.ts';
import { type OutcomeCode, outcomeOf } from './outcomes.ts';

/** `unverified`: an HTTP listener that must answer a challenge before the next vote or test. */
export type ListenerState = 'active' | 'unverified' | 'paused' | 'unreachable';

/** What `listenerState` and `isForgotten` read. */
export const STATE_FIELDS = {
  protocol: 1,
  pause: 1,
  'breaker.openSince': 1,
  'proven.at': 1,
  lastDeliveredAt: 1,
  'fetched.at': 1,
  updatedAt: 1,
} as const;

export function listenerState(
  listener: Pick<Listener, 'pause' | 'breaker' | 'protocol' | 'proven' | 'lastDeliveredAt'>,
): ListenerState {
  if (listener.pause) return 'paused';
  if (listener.breaker.openSince) return 'unreachable';
  return isUnverified(listener) ? 'unverified' : 'active';
}

/** The owner of a game server that does not fetch for this long while votes wait is notified. */
export const FORGOTTEN_AFTER_MS = 10 * MINUTE;
export const FORGOTTEN_AFTER_MINUTES = FORGOTTEN_AFTER_MS / MINUTE;

type Fetching = Pick<Listener, 'protocol' | 'pause' | 'fetched' | 'updatedAt'>;

export function isForgotten(listener: Fetching, now: Date): boolean {
  if (listener.protocol !== 'fetch' || listener.pause) return false;
  return now.getTime() - lastCalled(listener).getTime() > FORGOTTEN_AFTER_MS;
}

/** Nobody has fetched although votes have been open for as long. */
export function isNeglected(listener: Fetching, queuedAt: Date | null, now: Date) {
  return queuedAt !== null && now > after(queuedAt, FORGOTTEN_AFTER_MS) && isForgotten(listener, now);
}

/** The newest take, or the newest change of settings if that is later. */
export function lastCalled({ fetched, updatedAt }: Pick<Listener, 'fetched' | 'updatedAt'>): Date {
  return fetched && fetched.at > updatedAt ? fetched.at : updatedAt;
}

/** The listener has not proved since its last change of address that it accepts votes. Older versions: no `proven`. */
export function isUnverified({
  protocol,
  proven,
  lastDeliveredAt,
}: Pick<Listener, 'protocol' | 'proven' | 'lastDeliveredAt'>): boolean {
  if (protocol !== 'http') return false;
  return proven ? proven.length === 0 : !lastDeliveredAt;
}

type Taking = Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>;

/**
 * With its current settings, so that its token or key counts as right. In Votifier v1, `sent-not-confirmed` counts too.
 * Older versions stored no `acknowledgedAt`.
 */
export function hasTakenVotes({ acknowledgedAt, lastDeliveredAt, updatedAt }: Taking): boolean {
  if (acknowledgedAt !== undefined) return acknowledgedAt !== null;
  return !!lastDeliveredAt && lastDeliveredAt >= updatedAt;
}

/** With the current settings. `confirmed` is null if an older version stored it. */
export function lastDelivery(
  listener: Taking & Pick<Listener, 'lastDeliveryConfirmed'>,
): { at: Date; confirmed: boolean | null } | null {
  const { lastDeliveredAt, lastDeliveryConfirmed } = listener;
  if (!lastDeliveredAt || !hasTakenVotes(listener)) return null;
  return { at: lastDeliveredAt, confirmed: lastDeliveryConfirmed ?? null };
}

/** The first vote since the change of settings whose name, like later ones beyond ASCII, may arrive mangled. */
export function firstBeyondAscii({
  protocol,
  beyondAscii,
  updatedAt,
}: Partial<Pick<Listener, 'protocol' | 'beyondAscii' | 'updatedAt'>>): UUID | null {
  const isOfSettings = beyondAscii && updatedAt && beyondAscii.at >= updatedAt;
  return protocol === 'votifier-v1' && isOfSettings ? beyondAscii.voteId : null;
}

const FIRST_ANSWER_STEP = 1;

/**
 * Of `answerTimeoutMs`. If a new listener's handler is slow, a short first wait would send its first vote twice
 * (docs/adr/0123-votes-at-risk.md). A Votifier v1 listener takes a vote and closes at once.
 */
export function nextAnswerStep(listener: Taking & Pick<Listener, 'protocol' | 'answerStep'>): number {
  const { protocol } = listener;
  const answerStep = listener.answerStep ?? 0;
  const isNew = protocol !== 'votifier-v1' && !hasTakenVotes(listener);
  return isNew ? Math.max(answerStep, FIRST_ANSWER_STEP) : answerStep;
}

type TakingOrTested = Taking & Pick<Listener, 'tested'>;

/** Null if the settings have changed since. */
function testOf({ tested, updatedAt }: Pick<Listener, 'tested' | 'updatedAt'>): OutcomeCode | null {
  return tested && tested.at >= updatedAt ? tested.code : null;
}

/** A vote or a test vote, with its current settings. */
export function hasAcknowledged(listener: TakingOrTested): boolean {
  return hasTakenVotes(listener) || testOf(listener) === 'acknowledged';
}

/**
 * A Votifier v1 listener that has confirmed votes with its current settings. If it then closes without an answer, it
 * did not take the vote or its plugin failed (docs/adr/0123-votes-at-risk.md).
 */
export function confirmsVotes(
  listener: TakingOrTested & Pick<Listener, 'protocol' | 'lastDeliveryConfirmed'>,
): boolean {
  if (listener.protocol !== 'votifier-v1') return false;
  const test = testOf(listener);
  // In v1, a test vote ends so only if the listener had confirmed a vote before.
  const isTestConfirmed = test === 'acknowledged' || test === 'closed-without-answer';
  return isTestConfirmed || lastDelivery(listener)?.confirmed === true;
}

/** Whether the current settings work, by the newer event: the last vote that was taken, or the last test vote. */
export function settingsProof(listener: TakingOrTested): 'works' | 'failed' | 'untested' {
  const { tested, updatedAt, lastDeliveredAt } = listener;
  const taken = hasTakenVotes(listener);
  const test = tested && tested.at >= updatedAt ? tested : null;
  const testClass = test ? outcomeOf(test.code).class : 'none';
  // If Tallyport itself failed, the test says nothing about the settings.
  if (!test || testClass === 'none') return taken ? 'works' : 'untested';
  if (testClass === 'delivered') return 'works';
  return taken && lastDeliveredAt && lastDeliveredAt > test.at ? 'works' : 'failed';
}

export const PROOF_FIELDS = { acknowledgedAt: 1, lastDeliveredAt: 1, updatedAt: 1, tested: 1 } as const;
