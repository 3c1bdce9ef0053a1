import type { ObjectId } from 'mongodb';
import { after, MINUTE, SECOND } from '../platform/clock.ts';
import { UnsealError } from '../platform/secrets.ts';
import { type LoggedAttempt, logAttempts } from './attempt-log.ts';
import type { EventsDeps } from './deps.ts';
import type { DestinationResult, SendHow, SendToDestination } from './destination.ts';
import { sendToDiscord } from './discord/discord-destination.ts';
import {
  dropOldestEvents,
  findDueEvents,
  nextDueAt,
  recordEnds,
  removeWaitingEvents,
} from './event-sends.ts';
import { sendOverHttp } from './http-destination.ts';
import { mailPaused } from './mail-paused.ts';
import { endsOf, learnt } from './pass-outcomes.ts';
import { resolveEvents } from './resolve-events.ts';
import type { SlowPlaces } from './slow-places.ts';
import type { Subscription, SubscriptionType } from './subscription.ts';
import {
  endPass,
  isStillLeased,
  type Leased,
  moveNextPass,
  type PassState,
  takeSubscription,
} from './subscription-lease.ts';

export const DESTINATIONS: Record<SubscriptionType, SendToDestination> = {
  http: sendOverHttp,
  discord: sendToDiscord,
};

/** Then no attempt of a pass begins; other destinations get the place. */
const PASS_MS = 5 * SECOND;

/** Longer than an attempt over HTTP that begins at the last moment. */
const LONGEST_PASS_MS = PASS_MS + 16 * SECOND;

/** If the worker dies before it has recorded their outcomes, they are sent again with the same ids. */
const MOST_A_ROUND: Record<SubscriptionType, number> = { http: 24, discord: 200 };

/** The operator may set the lost key meanwhile. */
const UNREADABLE_MS = 10 * MINUTE;

export type PassResult = {
  /** `more`: events are due. `waits`, `busy`, `no-place`: they may be sent from `again` on. */
  end: 'removed' | 'paused' | 'busy' | 'no-place' | 'waits' | 'idle' | 'more';
  again?: Date;
  type?: SubscriptionType;
  attempts: LoggedAttempt[];
  dropped: number;
};

/** `stop`: no attempt begins. `waitNoLonger`: attempts end. */
type PassHow = { stop: AbortSignal; waitNoLonger: AbortSignal; places: SlowPlaces };

/** Sends what is due to one subscription (docs/adr/0151-events-and-subscriptions.md). */
export async function sendEvents(deps: EventsDeps, _id: ObjectId, how: PassHow): Promise<PassResult> {
  const found = await deps.subscriptions.findOne({ _id });
  if (!found) return { end: 'removed', attempts: [], dropped: 0 };
  const now = deps.clock.now();
  const isWaiting = found.notBefore !== undefined && found.notBefore > now;
  if (found.pause || isWaiting) {
    const dropped = await drop(deps, found);
    const again = found.pause ? undefined : found.notBefore;
    await moveNextPass(deps, found, again ?? null);
    const result = { type: found.type, attempts: [], dropped };
    return again ? { ...result, end: 'waits', again } : { ...result, end: 'paused' };
  }
  const isTroubled = found.failures > 0 || (found.slowUntil !== undefined && found.slowUntil > now);
  if (isTroubled && !how.places.take()) {
    // Others are found first if jobs were lost.
    const again = soon(now);
    await moveNextPass(deps, found, again);
    return { type: found.type, attempts: [], dropped: 0, end: 'no-place', again };
  }
  try {
    const dropped = isTroubled ? await drop(deps, found) : 0;
    const result = { type: found.type, attempts: [], dropped };
    const leased = await takeSubscription(deps, found);
    if (!leased) return { ...result, end: 'busy', again: soon(now) };
    const pass = await runPass(deps, leased, how);
    return { ...pass, dropped: dropped + (pass.end === 'more' ? await drop(deps, leased) : 0) };
  } finally {
    if (isTroubled) how.places.giveBack();
  }
}

/** Not all at the same moment. */
function soon(now: Date): Date {
  return after(now, SECOND + Math.random() * SECOND);
}

async function drop(deps: EventsDeps, subscription: Subscription): Promise<number> {
  const dropped = await dropOldestEvents(deps, subscription._id);
  if (dropped > 0) deps.log.warn({ event: 'events.dropped', ...idsOf(subscription), dropped });
  return dropped;
}

function idsOf({ _id, serverId }: Pick<Subscription, '_id' | 'serverId'>) {
  return { subscriptionId: _id.toHexString(), serverId: serverId.toHexString() };
}

async function runPass(
  deps: EventsDeps,
  leased: Leased,
  { stop, waitNoLonger }: PassHow,
): Promise<Omit<PassResult, 'dropped'>> {
  const { clock } = deps;
  const until = performance.now() + PASS_MS;
  const how = {
    signal: AbortSignal.any([waitNoLonger, AbortSignal.timeout(LONGEST_PASS_MS)]),
    mayStart: () => !stop.aborted && performance.now() < until,
  };
  const { type, failures, failingSince, lastReason, lastSentAt, slowUntil, proven } = leased;
  let state: PassState = { failures, failingSince, lastReason, lastSentAt, slowUntil, proven, ...NO_END };
  const attempts: LoggedAttempt[] = [];
  let isIdle = false;
  while (how.mayStart() && !isIdle && !state.notBefore && !state.pause) {
    const known = state.proven ? { ...leased, proven: state.proven } : leased;
    const round = await sendRound(deps, known, state, how);
    attempts.push(...round.attempts);
    state = learnt(state, round.result, clock.now());
    isIdle = round.isLast;
    if (!isIdle && !(await isStillLeased(deps, leased))) break;
  }
  if (state.pause && (await isStillLeased(deps, leased))) await mailPaused(deps, leased, state.pause);
  const nextAt = state.pause ? null : later(await nextDueAt(deps, leased._id), state.notBefore);
  const end = await endPass(deps, leased, state, nextAt);
  if (end !== 'lost') await logAttempts(deps, leased, attempts);
  logPass(deps, leased, state, attempts);
  if (state.pause && end === 'stored') return { end: 'paused', type, attempts };
  if (state.notBefore) return { end: 'waits', again: state.notBefore, type, attempts };
  return { end: isIdle && end === 'stored' ? 'idle' : 'more', type, attempts };
}

/** A pause or a delay would have kept the pass from beginning. */
const NO_END = { notBefore: undefined, pause: undefined } as const;

type Sent = { result: DestinationResult; attempts: LoggedAttempt[]; isLast: boolean };

/** To a destination that fails, one event. `isLast`: no other event is due. */
async function sendRound(
  deps: EventsDeps,
  leased: Leased,
  { failures }: PassState,
  how: SendHow,
): Promise<Sent> {
  const { _id: to, type } = leased;
  const most = failures > 0 ? 1 : MOST_A_ROUND[type];
  const due = await findDueEvents(deps, to, most);
  const nothing = { result: { outcomes: [] }, attempts: [], isLast: true };
  if (due.length === 0) return nothing;
  const events = await resolveEvents(deps, due);
  if (events.length === 0) {
    // The server was removed; its subscriptions go too.
    await removeWaitingEvents(deps, to);
    return nothing;
  }
  const result = await sendOrWait(deps, leased, () => DESTINATIONS[type](deps, leased, events, how));
  const { attempts, ...ends } = endsOf({ to, due, result, now: deps.clock.now() });
  await recordEnds(deps, to, ends);
  return { result, attempts, isLast: due.length < most && result.outcomes.length === events.length };
}

async function sendOrWait(
  { log }: EventsDeps,
  subscription: Subscription,
  send: () => Promise<DestinationResult>,
): Promise<DestinationResult> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    log.error({ event: 'events.unreadable', ...idsOf(subscription), reason: error.message });
    return { outcomes: [], waitMs: UNREADABLE_MS };
  }
}

/** When the next pass may begin; null if no event waits. */
function later(dueAt: Date | null, notBefore: Date | undefined): Date | null {
  return dueAt && notBefore && dueAt < notBefore ? notBefore : dueAt;
}

function logPass({ log }: EventsDeps, leased: Leased, state: PassState, attempts: LoggedAttempt[]): void {
  if (attempts.length === 0) return;
  const { type } = leased;
  const sent = attempts.filter(({ end }) => end === 'sent').length;
  const { failures, lastReason, pause } = state;
  const line = { ...idsOf(leased), type, sent, attempts: attempts.length };
  if (failures === 0) log.info({ event: 'events.sent', ...line });
  else log.warn({ event: 'events.failed', ...line, failures, reason: lastReason });
  if (pause) log.warn({ event: 'events.paused', ...idsOf(leased), type, by: pause.by, reason: pause.reason });
}

const MOST_A_SEARCH = 1_000;

/** The subscriptions whose next pass is due, also of those whose jobs were lost. */
export function dueSubscriptions({ subscriptions, clock }: EventsDeps): Promise<ObjectId[]> {
  return subscriptions
    .find({ nextPassAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ nextPassAt: 1 })
    .limit(MOST_A_SEARCH)
    .map(({ _id }) => _id)
    .toArray();
}
