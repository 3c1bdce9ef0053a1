import type { UUID } from 'mongodb';
import { after, MINUTE } from '../platform/clock.ts';
import type { Listener, ListenerFetch } from './listener.ts';
import { type OutcomeCode, outcomeOf } from './outcomes.ts';

/**
 * The state of a listener, as its owner sees it. `unverified`: an HTTP listener that has not answered a challenge with
 * the same challenge yet. The next vote or test sends a challenge first.
 */
export type ListenerState = 'active' | 'unverified' | 'paused' | 'unreachable';

/** The fields that `listenerState` and `isForgotten` read. */
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

/** If a game server does not fetch for this long while votes wait, its owner is notified. */
export const FORGOTTEN_AFTER_MS = 10 * MINUTE;
export const FORGOTTEN_AFTER_MINUTES = FORGOTTEN_AFTER_MS / MINUTE;

/** Whether a listener that fetches and is not paused has made no take for `FORGOTTEN_AFTER_MS`. */
export function isForgotten(
  { protocol, pause, fetched, updatedAt }: Pick<Listener, 'protocol' | 'pause' | 'fetched' | 'updatedAt'>,
  now: Date,
): boolean {
  if (protocol !== 'fetch' || pause) return false;
  return now.getTime() - lastCalled({ fetched, updatedAt }).getTime() > FORGOTTEN_AFTER_MS;
}

/** Whether nobody has fetched a listener's votes (`isForgotten`) although votes have been open for as long. */
export function isNeglected(
  listener: Parameters<typeof isForgotten>[0],
  queuedAt: Date | null,
  now: Date,
): boolean {
  return queuedAt !== null && now > after(queuedAt, FORGOTTEN_AFTER_MS) && isForgotten(listener, now);
}

/** The time of the newest take of a listener that fetches, or of the newest change of its settings if that is later. */
export function lastCalled({
  fetched,
  updatedAt,
}: {
  fetched?: ListenerFetch | undefined;
  updatedAt: Date;
}): Date {
  return fetched && fetched.at > updatedAt ? fetched.at : updatedAt;
}

/**
 * Whether a listener is an HTTP listener that has not proved since its last change of address that it accepts votes. If
 * it has no field `proven` (older versions), a delivered vote counts as proof.
 */
export function isUnverified({
  protocol,
  proven,
  lastDeliveredAt,
}: Pick<Listener, 'protocol' | 'proven' | 'lastDeliveredAt'>): boolean {
  if (protocol !== 'http') return false;
  return proven ? proven.length === 0 : !lastDeliveredAt;
}

/**
 * Whether a listener has taken a vote with its current settings, so that its token or key counts as right. In Votifier
 * v1, `sent-not-confirmed` counts too. Without `acknowledgedAt` (older versions), the last delivery decides.
 */
export function hasTakenVotes({
  acknowledgedAt,
  lastDeliveredAt,
  updatedAt,
}: Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>): boolean {
  if (acknowledgedAt !== undefined) return acknowledgedAt !== null;
  return !!lastDeliveredAt && lastDeliveredAt >= updatedAt;
}

/**
 * When a listener last took a vote with its current settings, and whether it confirmed the vote (null: unknown, from an
 * older version). Null if it has taken none.
 */
export function lastDelivery(
  listener: Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'lastDeliveryConfirmed' | 'updatedAt'>,
): { at: Date; confirmed: boolean | null } | null {
  const { lastDeliveredAt, lastDeliveryConfirmed } = listener;
  if (!lastDeliveredAt || !hasTakenVotes(listener)) return null;
  return { at: lastDeliveredAt, confirmed: lastDeliveryConfirmed ?? null };
}

/**
 * The id of the first vote with a name beyond ASCII that was sent to a Votifier v1 listener with its current settings.
 * The name of this vote, and such names of later votes, may arrive mangled. Null if there is no such vote.
 */
export function firstBeyondAscii({
  protocol,
  beyondAscii,
  updatedAt,
}: Partial<Pick<Listener, 'protocol' | 'beyondAscii' | 'updatedAt'>>): UUID | null {
  const isOfSettings = beyondAscii && updatedAt && beyondAscii.at >= updatedAt;
  return protocol === 'votifier-v1' && isOfSettings ? beyondAscii.voteId : null;
}

/** The lowest step for a Votifier v2 or HTTP listener that has taken no vote with its current settings. */
const FIRST_ANSWER_STEP = 1;

/**
 * The step of `answerTimeoutMs` that says how long to wait for the next answer. If a new listener's handler is slow, a
 * short first wait would send its first vote twice (docs/adr/0123-votes-at-risk.md). This does not apply to Votifier
 * v1: such a listener takes a vote and closes at once.
 */
export function nextAnswerStep(
  listener: Pick<Listener, 'protocol' | 'answerStep' | 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>,
): number {
  const { protocol } = listener;
  const answerStep = listener.answerStep ?? 0;
  const isNew = protocol !== 'votifier-v1' && !hasTakenVotes(listener);
  return isNew ? Math.max(answerStep, FIRST_ANSWER_STEP) : answerStep;
}

/** The outcome of the last test vote; null if the settings have changed since. */
function testOf({ tested, updatedAt }: Pick<Listener, 'tested' | 'updatedAt'>): OutcomeCode | null {
  return tested && tested.at >= updatedAt ? tested.code : null;
}

/** Whether a listener has taken a vote, or acknowledged a test vote, with its current settings. */
export function hasAcknowledged(
  listener: Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt' | 'tested'>,
): boolean {
  return hasTakenVotes(listener) || testOf(listener) === 'acknowledged';
}

/**
 * Whether a Votifier v1 listener has confirmed votes (`{"status":"ok"}`) with its current settings. If it then closes
 * without an answer, it did not take the vote or its plugin failed (docs/adr/0123-votes-at-risk.md).
 */
export function confirmsVotes(
  listener: Pick<
    Listener,
    'protocol' | 'acknowledgedAt' | 'lastDeliveredAt' | 'lastDeliveryConfirmed' | 'updatedAt' | 'tested'
  >,
): boolean {
  if (listener.protocol !== 'votifier-v1') return false;
  const test = testOf(listener);
  // In v1, a test vote ends as `closed-without-answer` only if the listener had confirmed a vote before.
  const isTestConfirmed = test === 'acknowledged' || test === 'closed-without-answer';
  return isTestConfirmed || lastDelivery(listener)?.confirmed === true;
}

/**
 * Whether a listener's current settings work. The newer event decides: the last vote that it took, or the last test
 * vote. `untested`: with these settings it has taken no vote, and no test vote had a result.
 */
export function settingsProof(
  listener: Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt' | 'tested'>,
): 'works' | 'failed' | 'untested' {
  const { tested, updatedAt, lastDeliveredAt } = listener;
  const taken = hasTakenVotes(listener);
  const test = tested && tested.at >= updatedAt ? tested : null;
  const testClass = test ? outcomeOf(test.code).class : 'none';
  // If Tallyport itself failed: the test says nothing about the settings.
  if (!test || testClass === 'none') return taken ? 'works' : 'untested';
  if (testClass === 'delivered') return 'works';
  return taken && lastDeliveredAt && lastDeliveredAt > test.at ? 'works' : 'failed';
}

/** The fields that `settingsProof` reads. */
export const PROOF_FIELDS = { acknowledgedAt: 1, lastDeliveredAt: 1, updatedAt: 1, tested: 1 } as const;
