import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { after, SECOND } from '../clock.ts';
import type { Claimed } from './after-end.ts';
import { claimNextVote, endLostAttempts } from './attempt-records.ts';
import { type Standing, standingAfter } from './breaker.ts';
import type { DrainEnd, Draining, DrainLimits } from './draining.ts';
import { releaseLeftVotes, releaseWaitingVotes } from './leave-line.ts';
import { type Listener, listenerState } from './listener.ts';
import { giveLeaseBack, renewLease, takeLease } from './listener-lease.ts';
import { logEnd, logStanding } from './log-ends.ts';
import { openOrExplain, ourFault } from './our-fault.ts';
import { type Outcome, outcome } from './outcomes.ts';
import { recordPatiently } from './record-patiently.ts';
import { MOST_AT_ONCE } from './schedule.ts';
import type { OpenedListener } from './send-vote.ts';
import { countWaiting } from './waiting-votes.ts';

/** When too many tests are under way, an unreachable listener asks again after this long. */
const NEXT_TURN_MS = 2 * SECOND;

/** While attempts are under way and no vote is due, new ones are looked for so soon, then ever later. */
const FIRST_LOOK_MS = 50;
const LAST_LOOK_MS = SECOND;

/** How often the lease is renewed and the listener's settings are read again. */
const RENEW_MS = SECOND;

/**
 * Sends a listener's due votes until none is due: in order of voting, at most four at once, one at a time while
 * the listener is unreachable. A lease in MongoDB makes sure that only one worker does this for a listener
 * (design rule 3). Never throws for anything a listener does.
 *
 * @throws the driver's error when MongoDB fails; whatever was under way is found again by its lease
 */
export async function drainListener(
  given: Draining,
  serverId: ObjectId,
  limits: DrainLimits,
): Promise<DrainEnd> {
  const owner = `${given.processId}:${new ObjectId().toHexString()}`;
  const asOf = given.clock.now();
  const listener = await takeLease(given, serverId, owner);
  if (listener === 'busy') return { kind: 'busy' };
  if (!listener) {
    await releaseLeftVotes(given, serverId, asOf);
    return { kind: 'gone' };
  }
  const named = { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() };
  const deps = { ...given, log: given.log.child(named) };
  const opened = await openOrExplain(deps, listener);
  const drain = new Drain(deps, owner, { listener, opened }, limits);
  try {
    return await drain.run();
  } finally {
    await drain.close();
  }
}

/** One worker's hold on one listener: its lease, its attempts under way and how it stands. */
class Drain {
  readonly #deps: Draining;
  readonly #owner: string;
  readonly #limits: DrainLimits;
  readonly #underWay = new Set<Promise<void>>();
  #listener: Listener;
  #opened: OpenedListener;
  #renewedAt = performance.now();
  #lastDeliveredAt: Date | undefined;
  /** Changes of the listener's standing are written one after the other. */
  #written: Promise<unknown> = Promise.resolve();
  /** The first fault of ours in an attempt; it ends the drain. */
  #fault: unknown = null;

  constructor(
    deps: Draining,
    owner: string,
    { listener, opened }: { listener: Listener; opened: OpenedListener },
    limits: DrainLimits,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#limits = limits;
    this.#listener = listener;
    this.#opened = opened;
  }

  async run(): Promise<DrainEnd> {
    const { servers, log } = this.#deps;
    const { serverId } = this.#listener;
    for (const claimed of await endLostAttempts(this.#deps, serverId)) {
      log.warn({ event: 'delivery.lost', voteId: claimed.vote._id.toString() });
      await this.#noteEnd(claimed, outcome('lease-ran-out', 'none'), this.#deps.config.LEASE_MS);
    }
    const server = await servers.findOne({ _id: serverId }, { projection: { name: 1, removedAt: 1 } });
    if (!server || server.removedAt) {
      await releaseWaitingVotes(this.#deps, serverId, 'server-removed');
      return { kind: 'gone' };
    }
    this.#deps.onBegin?.(server.name);
    const end = await this.#sendDueVotes();
    await Promise.all(this.#underWay);
    if (this.#fault) throw this.#fault;
    return typeof end === 'object' ? end : this.#unreachable(server.name, end);
  }

  /** Gives the lease back once nothing is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    await giveLeaseBack(this.#deps, this.#listener.serverId, this.#owner, this.#lastDeliveredAt);
  }

  /** Why it stopped; for an unreachable listener, why it is not tested now. */
  async #sendDueVotes(): Promise<DrainEnd | 'tested-later' | 'too-many-tests'> {
    const { clock } = this.#deps;
    const began = performance.now();
    let look = FIRST_LOOK_MS;
    for (;;) {
      if (this.#fault) throw this.#fault;
      if (this.#limits.stop.aborted) return { kind: 'stopped' };
      if (performance.now() - began > this.#limits.budgetMs) return { kind: 'more' };
      if (!(await this.#renew())) return { kind: 'busy' };

      const state = listenerState(this.#listener);
      const { nextTestAt } = this.#listener.breaker;
      if (state === 'paused') return { kind: 'paused' };
      const test = state === 'unreachable';
      if (this.#underWay.size >= (test ? 1 : MOST_AT_ONCE)) {
        await Promise.race(this.#underWay);
        continue;
      }
      if (test && nextTestAt && clock.now() < nextTestAt) return 'tested-later';
      const { tests } = this.#deps;
      if (test && tests && tests.underWay >= tests.most) return 'too-many-tests';

      // Before the claim: the lease it takes begins no earlier than this.
      const claimedAt = performance.now();
      const { relayedAt } = this.#limits;
      const claimed = await claimNextVote(this.#deps, this.#listener, { test, relayedAt });
      if (claimed) {
        this.#start(claimed, claimedAt);
        look = FIRST_LOOK_MS;
      } else if (this.#underWay.size > 0) {
        await this.#anEndWithin(look);
        look = Math.min(2 * look, LAST_LOOK_MS);
      } else return { kind: 'idle' };
    }
  }

  /** The end of an attempt, awaited no longer than `ms`: votes that are cast meanwhile must not wait for it. */
  async #anEndWithin(ms: number): Promise<void> {
    const ended = new AbortController();
    const looking = pause(ms, undefined, { signal: ended.signal }).catch(() => undefined);
    await Promise.race([...this.#underWay, looking]);
    ended.abort();
  }

  /** Renews the lease and reads the settings again, now and then; false when the lease is lost. */
  async #renew(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_MS) return true;
    const renewed = await renewLease(this.#deps, this.#listener.serverId, this.#owner);
    if (!renewed?._id.equals(this.#listener._id)) return false;
    this.#renewedAt = now;
    this.#follow(renewed);
    return true;
  }

  /** Takes over changed settings. While they stand, nobody but the holder of the lease changes the standing. */
  #follow(listener: Listener): void {
    if (listener.revision === this.#listener.revision) return;
    this.#opened = this.#deps.open(listener);
    this.#listener = listener;
  }

  #start(claimed: Claimed, claimedAt: number): void {
    const { tests } = this.#deps;
    const tested = claimed.attempt.test ? 1 : 0;
    if (tests) tests.underWay += tested;
    const attempt = this.#attempt(claimed, claimedAt)
      .catch((error: unknown) => {
        this.#fault ??= error;
      })
      .finally(() => {
        if (tests) tests.underWay -= tested;
        this.#underWay.delete(attempt);
      });
    this.#underWay.add(attempt);
  }

  async #attempt(claimed: Claimed, claimedAt: number): Promise<void> {
    const end = await this.#send(claimed, claimedAt);
    const durationMs = performance.now() - claimedAt;
    const hurry = this.#limits.waitNoLonger;
    const stands = await recordPatiently(this.#deps, claimed, end, durationMs, hurry);
    if (stands) await this.#noteEnd(claimed, end, durationMs);
  }

  async #send(claimed: Claimed, claimedAt: number): Promise<Outcome> {
    const { config, log, send } = this.#deps;
    try {
      return await send(this.#opened, claimed.vote, {
        signal: this.#limits.stop,
        waitSignal: this.#limits.waitNoLonger,
        // A process that was stopped and goes on must not send what another has taken over.
        mayWrite: (answerMs) => performance.now() - claimedAt + answerMs < config.LEASE_MS,
      });
    } catch (error) {
      log.error({ event: 'delivery.our_fault', voteId: claimed.vote._id.toString(), error: String(error) });
      return ourFault(error);
    }
  }

  /** Logs and counts an end and lets it change how the listener stands, if its settings are still the same. */
  async #noteEnd(claimed: Claimed, end: Outcome, durationMs: number): Promise<void> {
    const { listeners, log, clock, config, onEnd } = this.#deps;
    const { vote, attempt } = claimed;
    onEnd?.(claimed, end, durationMs);
    if (end.class === 'delivered') this.#lastDeliveredAt = clock.now();
    logEnd(log, claimed, end, durationMs);
    if (attempt.revision !== this.#listener.revision) return;
    const before: Standing = {
      breaker: this.#listener.breaker,
      pause: this.#listener.pause ?? null,
      voteFaults: this.#listener.voteFaults,
      released: this.#listener.released ?? null,
    };
    const standing = standingAfter(
      before,
      { ...end, test: attempt.test },
      clock.now(),
      config.BREAKER_SCHEDULE,
    );
    if (standing === before) return;
    // In memory at once: the other attempts under way must not be judged by the older standing.
    this.#listener = { ...this.#listener, ...standing };
    logStanding(log, before, standing, vote._id.toString());
    // Not a listener that was removed and set again, and not one that another worker has taken over.
    const ours = { _id: this.#listener._id, serverId: vote.serverId, 'lease.owner': this.#owner };
    this.#written = this.#written.then(() =>
      listeners.updateOne({ ...ours, revision: attempt.revision }, { $set: standing }),
    );
    await this.#written;
  }

  async #unreachable(server: string, why: 'tested-later' | 'too-many-tests'): Promise<DrainEnd> {
    const { breaker, serverId } = this.#listener;
    const now = this.#deps.clock.now();
    return {
      kind: 'unreachable',
      server,
      waiting: await countWaiting(this.#deps.votes, serverId),
      nextTestAt:
        why === 'too-many-tests' ? after(now, NEXT_TURN_MS) : (breaker.nextTestAt ?? after(now, SECOND)),
      since: breaker.openSince ?? now,
      code: breaker.code ?? 'unreachable',
    };
  }
}
