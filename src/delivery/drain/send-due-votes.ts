import type { Collection, ObjectId } from 'mongodb';
import { MAX_CONCURRENT_ATTEMPTS, maxSendingsOf, RENEW_MS } from '../../listeners/delivery-limits.ts';
import { queueOf } from '../../listeners/delivery-queues.ts';
import { listenerState } from '../../listeners/listener-state.ts';
import { SECOND } from '../../platform/clock.ts';
import { OPEN_WORK, type Vote } from '../../votes/vote.ts';
import { AttemptsUnderWay } from './attempts-under-way.ts';
import { isFreshVote } from './backlog-throttle.ts';
import type { DrainDeps, DrainOptions, DrainResult } from './drain.ts';
import type { LeasedListener } from './leased-listener.ts';
import { takeVotes } from './take-votes.ts';

/** While attempts run and no vote is due, the drain looks again, after longer and longer pauses. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = SECOND;

/** More votes that are waiting or being sent are a backlog. */
const BACKLOG_VOTES = 100;
/** Whether there is a backlog. */
const COUNTED_EVERY_MS = SECOND / 4;

/** Of a backlog. None are taken while more have no recorded outcome: a dead worker leaves at most twice as many. */
const LARGEST_TAKE = 64;

/** `endsAt`: on `performance.now()`. */
export type DrainLimits = DrainOptions & { endsAt: number };

/** `tested-later`: the breaker is open and the next test is not due yet. */
type Stop = DrainResult | { kind: 'tested-later' };

/** Until no vote is due or may be sent, and every attempt has ended. */
export async function sendDueVotes(
  deps: DrainDeps,
  leased: LeasedListener,
  limits: DrainLimits,
  accountId: string | null,
): Promise<Stop> {
  const attempts = new AttemptsUnderWay(deps, leased, { ...limits, accountId });
  try {
    return await takeAndSend(deps, leased, limits, attempts);
  } finally {
    await attempts.close();
  }
}

async function takeAndSend(
  deps: DrainDeps,
  leased: LeasedListener,
  limits: DrainLimits,
  attempts: AttemptsUnderWay,
): Promise<Stop> {
  const { queue, stop, relayedAt, endsAt } = limits;
  const sizes = new TakeSizes();
  let [takenCount, backlogCountedAt, lookMs] = [0, Number.NEGATIVE_INFINITY, FIRST_LOOK_MS];
  /** Votes that were cast a moment ago are no backlog, however many there are. */
  let isFresh = false;
  for (;;) {
    attempts.throwFirstError();
    if (stop.aborted) return { kind: 'stopped' };
    if (performance.now() > endsAt) return { kind: 'more' };
    if (!(await leased.renew())) return { kind: 'busy' };
    await attempts.giveBackUnsendable();
    const stopReason = whyStop(deps, leased, limits);
    if (stopReason?.kind === 'limited' && attempts.open > 0) {
      // A running attempt may prove the address: then the limit no longer applies.
      await attempts.changed(RENEW_MS);
      continue;
    }
    if (stopReason) return stopReason;
    // Counted when a tested listener begins to answer, or after four votes; then up to four times a second, because the
    // backlog grows if votes are cast faster than they are sent.
    const answers = queueOf(leased.now) === 'forward-votes' && queue !== 'drain-backlogs';
    const isCounted = performance.now() - backlogCountedAt < COUNTED_EVERY_MS;
    if (answers && !isCounted && (queue === 'test-listeners' || takenCount >= MAX_CONCURRENT_ATTEMPTS)) {
      if (await hasBacklog(deps.votes, leased.now.serverId)) return { kind: 'moved', to: 'drain-backlogs' };
      backlogCountedAt = performance.now();
    }
    if (answers && queue === 'test-listeners') return { kind: 'moved', to: 'forward-votes' };

    const able = mostToTake(leased, limits, attempts, sizes);
    if (able === 0) {
      await attempts.changed(RENEW_MS);
      continue;
    }
    const throttle = queue === 'drain-backlogs' && !isFresh ? deps.throttle : undefined;
    const grant = throttle?.take(able);
    if (grant && grant.waitMs > 0) {
      await attempts.changed(Math.min(grant.waitMs, RENEW_MS));
      continue;
    }
    const most = grant?.votes ?? able;
    const isUnderWay = attempts.open > 0;
    // Before the take: the leases of the attempts begin no earlier.
    const takenAt = performance.now();
    const test = listenerState(leased.now) === 'unreachable';
    const size = { most, atOnce: Math.max(0, MAX_CONCURRENT_ATTEMPTS - attempts.open) };
    const taken = await takeVotes(deps, leased.now, { test, relayedAt }, size, (votes) =>
      attempts.addToGiveBack(votes),
    );
    for (const one of taken) attempts.add(one, takenAt);
    if (grant) throttle?.giveBack(grant, taken.length);
    takenCount += taken.length;
    const takenVotes = taken.map(({ vote }) => vote);
    const now = deps.clock.now();
    isFresh = takenVotes.length > 0 && takenVotes.every((vote) => isFreshVote(vote, now));
    if (queue === 'forward-votes') deps.throttle?.note(takenVotes, now);
    if (taken.length > 0) {
      sizes.note(most, takenAt);
      lookMs = FIRST_LOOK_MS;
    }
    if (taken.length < most && attempts.open > 0) {
      // A vote that is cast meanwhile must not wait until an attempt ends.
      await attempts.changed(lookMs);
      lookMs = Math.min(2 * lookMs, LAST_LOOK_MS);
    } else if (taken.length === 0 && !isUnderWay) {
      return { kind: 'idle' };
    }
  }
}

async function hasBacklog(votes: Collection<Vote>, serverId: ObjectId): Promise<boolean> {
  const open = { serverId, 'delivery.queuedAt': { $gt: new Date(0) } };
  const limit = BACKLOG_VOTES + 1;
  return (await votes.countDocuments(open, { hint: OPEN_WORK, limit })) === limit;
}

function whyStop(
  { clock }: DrainDeps,
  { now: listener }: LeasedListener,
  { queue }: DrainLimits,
): Stop | null {
  const { limited, breaker } = listener;
  if (listener.pause) return { kind: 'paused' };
  if (limited && clock.now() < limited.until) return { kind: 'limited', until: limited.until };
  if (queueOf(listener) === 'test-listeners' && queue !== 'test-listeners')
    return { kind: 'moved', to: 'test-listeners' };
  const testsLater = breaker.openSince && breaker.nextTestAt && clock.now() < breaker.nextTestAt;
  return testsLater ? { kind: 'tested-later' } : null;
}

/** One for each free slot. Of a backlog, more are taken, and they wait for a slot. */
function mostToTake(
  leased: LeasedListener,
  { queue }: DrainLimits,
  { open, unfinished }: AttemptsUnderWay,
  sizes: TakeSizes,
): number {
  const oneAtATime = queue === 'test-listeners' || listenerState(leased.now) === 'unverified';
  const free = Math.max(0, (oneAtATime ? 1 : MAX_CONCURRENT_ATTEMPTS) - open);
  // A taken vote that waits for a slot counts as sent if the worker dies: none if votes may be sent only once.
  if (queue !== 'drain-backlogs' || maxSendingsOf(leased.now) === 1) return free;
  return open <= LARGEST_TAKE ? sizes.next(unfinished) : 0;
}

/** The next are taken when half of the last ones are sent. The size doubles within a second, and halves otherwise. */
class TakeSizes {
  #size = MAX_CONCURRENT_ATTEMPTS;
  #at = Number.NEGATIVE_INFINITY;

  next(unfinished: number): number {
    if (unfinished > this.#size / 2) return 0;
    return performance.now() - this.#at < SECOND
      ? Math.min(2 * this.#size, LARGEST_TAKE)
      : Math.max(MAX_CONCURRENT_ATTEMPTS, Math.floor(this.#size / 2));
  }

  note(size: number, at: number): void {
    this.#size = Math.max(MAX_CONCURRENT_ATTEMPTS, size);
    this.#at = at;
  }
}
