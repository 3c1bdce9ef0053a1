import * as fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { pauseListener, removeListener, resumeListener } from '../../src/delivery/change-listener.ts';
import type { Taken } from '../../src/delivery/drain/attempt-record.ts';
import { endLostAttempts } from '../../src/delivery/drain/lost-attempts.ts';
import { recordOutcomes } from '../../src/delivery/drain/record-outcomes.ts';
import { takeVotes } from '../../src/delivery/drain/take-votes.ts';
import { expireVotes } from '../../src/delivery/leave-queue.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { NOT_ARRIVED, resendVotes } from '../../src/delivery/resend-votes.ts';
import { holdRestoredVote } from '../../src/delivery/restored-votes.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { REWARDS, rewardsOf } from '../../src/listeners/listener.ts';
import { OUTCOMES, type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { setRewards } from '../../src/listeners/rewards.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { ARRIVAL, arrivalOf } from '../../src/votes/arrival.ts';
import { checkClaim, claimVote } from '../../src/votes/claims/claim-vote.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

/** Answers of every class, and those that several rules name. `lost`: the process that sends the vote dies. */
const ANSWERS = [
  'acknowledged',
  'sent-not-confirmed',
  'connection-refused',
  'http-unavailable',
  'http-limited',
  'no-answer',
  'reset',
  'bad-signature',
  'vote-refused',
  'our-fault',
  'lost',
] as const satisfies (OutcomeCode | 'lost')[];
type AnswerOfPeer = (typeof ANSWERS)[number];

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('send'), answer: fc.constantFrom(...ANSWERS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('acknowledge-late') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('resend'), onlyOnce: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resend-range') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove-listener') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('set-listener'),
      rewards: fc.constantFrom(...REWARDS),
      maxSendings: fc.constantFrom(1, 2, 3),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause', 'resume', 'exclude', 'include') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('back-up', 'restore') }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What really happened to a vote, which no backup brings back. */
type Truth = {
  /** How often it arrived or may have arrived. */
  arrivals: number;
  /** The same without HTTP 429, which is most likely a refusal. */
  sendings: number;
  /** Whether an acknowledgement was recorded, and no restore has lost it since. */
  isKnownToHaveArrived: boolean;
  claims: number;
  /** Ends that count against the number of sendings, since a person last had the vote sent (`resends`). */
  countedEnds: number;
  resends: number;
};

function mayArrive(answer: AnswerOfPeer): boolean {
  if (answer === 'lost' || answer === 'http-unavailable' || answer === 'http-limited') return true;
  return OUTCOMES[answer].class === 'delivered' || OUTCOMES[answer].class === 'ambiguous';
}

/** One vote, the steps of its history, and the rules that hold after each of them. */
class History {
  readonly truth: Truth = {
    arrivals: 0,
    sendings: 0,
    isKnownToHaveArrived: false,
    claims: 0,
    countedEnds: 0,
    resends: 0,
  };
  backup: Vote | null = null;
  lost: Taken | null = null;
  readonly bench: DeliveryBench;
  readonly vote: Vote;

  constructor(bench: DeliveryBench, vote: Vote) {
    this.bench = bench;
    this.vote = vote;
  }

  stored = () => this.bench.vote(this.vote);
  listener = () => this.bench.deps.listeners.findOne({ serverId: this.bench.serverId });

  async take(step: Extract<Step, { answer: unknown }>): Promise<void> {
    const { deps, clock } = this.bench;
    const listener = await this.listener();
    if (!listener || listener.pause) return;
    const { nextAt } = (await this.stored()).delivery;
    if (nextAt && nextAt > clock.now()) clock.move(nextAt.getTime() - clock.now().getTime());
    const lease = { owner: 'this test', until: after(new Date(), HOUR) };
    const [taken] = await takeVotes(deps, { ...listener, lease }, { test: false }, { most: 1, atOnce: 1 });
    if (!taken) return;
    const max = listener.maxSendings ?? 3;
    expect(this.truth.countedEnds, 'ends that count, before one more sending').toBeLessThan(max);
    if (mayArrive(step.answer)) this.truth.arrivals += 1;
    if (mayArrive(step.answer) && step.answer !== 'http-limited') this.truth.sendings += 1;
    await this.end(taken, step.answer, max);
  }

  async end(taken: Taken, answer: AnswerOfPeer, max: number): Promise<void> {
    const { deps, serverId } = this.bench;
    const { truth } = this;
    const counts = answer === 'lost' || OUTCOMES[answer].class === 'ambiguous';
    if (counts || (max === 1 && answer === 'http-unavailable')) truth.countedEnds += 1;
    if (answer === 'lost') {
      const ended = [{ $set: { 'delivery.leaseUntil': { $subtract: ['$$NOW', 1] } } }];
      await deps.votes.updateOne({ serverId, _id: this.vote._id }, ended);
      await endLostAttempts(deps, serverId, null);
      this.lost = taken;
      return;
    }
    if (answer === 'acknowledged') truth.isKnownToHaveArrived = true;
    const result = outcome(answer, mayArrive(answer) ? 'written' : 'none');
    const ended = { taken, outcome: result, durationMs: 20, endedAt: this.bench.clock.now().getTime() };
    await recordOutcomes(deps, [ended]);
  }

  async acknowledgeLate(): Promise<void> {
    const { lost } = this;
    this.lost = null;
    if (!lost) return;
    const ended = {
      taken: lost,
      outcome: outcome('acknowledged', 'acknowledged'),
      durationMs: 9,
      endedAt: 0,
    };
    const [recorded] = await recordOutcomes(this.bench.deps, [ended]);
    if (recorded) this.truth.isKnownToHaveArrived = true;
  }

  async resend(onlyOnce: boolean): Promise<void> {
    const { deps } = this.bench;
    const { truth } = this;
    const wasTwice = truth.arrivals > 0 || truth.claims > 0;
    const resent = await resendVote(deps, this.vote._id, 'owner', { onlyOnce });
    if (resent.kind !== 'resent') return;
    if (wasTwice) expect(resent.mayArriveTwice, 'what a resend says').toBe(true);
    if (onlyOnce) expect(wasTwice, 'a vote that was resent as one that surely did not arrive').toBe(false);
  }

  async resendRange(): Promise<void> {
    const { deps, serverId, clock } = this.bench;
    const range = { since: new Date(0), until: after(clock.now(), MINUTE), states: NOT_ARRIVED };
    const player = this.vote.username;
    const resent = await resendVotes(deps, serverId, { ...range, player }, 'owner');
    if (!resent || resent.resent === 0) return;
    const { arrivals, claims } = this.truth;
    expect({ arrivals, claims }, 'a vote of a range that surely did not arrive').toEqual({
      arrivals: 0,
      claims: 0,
    });
  }

  async claim(): Promise<void> {
    const { deps, serverId } = this.bench;
    const rewards = rewardsOf(await this.listener());
    const { delivery } = await this.stored();
    const player = { serverId, username: this.vote.username };
    const claimed = await claimVote(deps, player, { tokenId: new ObjectId() });
    if (claimed.kind !== 'claimed') return;
    this.truth.claims += 1;
    expect(this.truth.claims, 'claims of one vote').toBe(1);
    if (rewards === 'both') return;
    expect(this.truth.arrivals, 'arrivals of a vote that was claimed').toBe(0);
    expect(rewards === 'claims' ? ['none', 'failed'] : ['none']).toContain(delivery.state);
  }

  async restore(): Promise<void> {
    const { deps, serverId, clock } = this.bench;
    if (!this.backup) return;
    const { delivery } = this.backup;
    const restored = { ...this.backup, delivery: { ...delivery } };
    holdRestoredVote(restored, clock.now());
    await deps.votes.replaceOne({ serverId, _id: this.vote._id }, restored);
    this.truth.isKnownToHaveArrived = (restored.delivery.codes?.acknowledged ?? 0) > 0;
    this.lost = null;
  }

  async run(one: Step): Promise<void> {
    const { deps, serverId, clock } = this.bench;
    const which = { serverId, _id: this.vote._id };
    clock.move(SECOND);
    switch (one.kind) {
      case 'send':
        return this.take(one as Extract<Step, { answer: unknown }>);
      case 'acknowledge-late':
        return this.acknowledgeLate();
      case 'resend':
        return this.resend('onlyOnce' in one && one.onlyOnce === true);
      case 'resend-range':
        return this.resendRange();
      case 'remove-listener':
        await removeListener(deps, serverId, 'owner');
        await sweepDueWork(deps);
        return;
      case 'set-listener': {
        const { rewards, maxSendings } = one as Extract<Step, { rewards: unknown }>;
        await this.bench.set({ maxSendings });
        await setRewards(deps, serverId, rewards, 'owner');
        return;
      }
      case 'claim':
        return this.claim();
      case 'expire':
        clock.move(3 * DAY + MINUTE);
        await deps.votes.updateOne({ ...which, 'delivery.expiresAt': { $exists: true } }, [
          { $set: { 'delivery.expiresAt': { $subtract: ['$$NOW', 1] } } },
        ]);
        await expireVotes(deps, serverId);
        return;
      case 'pause':
        await pauseListener(deps, serverId, 'owner');
        return;
      case 'resume':
        await resumeListener(deps, serverId, 'owner');
        return;
      case 'exclude':
        await deps.votes.updateOne(which, { $set: { excludedAt: clock.now() } });
        return;
      case 'include':
        await deps.votes.updateOne(which, { $unset: { excludedAt: '' } });
        return;
      case 'back-up':
        this.backup = await this.stored();
        return;
      case 'restore':
        return this.restore();
    }
  }

  async check(): Promise<void> {
    const { deps, serverId, clock } = this.bench;
    const { truth } = this;
    const vote = await this.stored();
    const arrival = arrivalOf(vote.delivery);
    // The owner also resends votes when the listener is set again: those that got no answer with an earlier token.
    const resends = vote.delivery.events.filter((event) => event.kind === 'resent').length;
    if (resends !== truth.resends) Object.assign(truth, { resends, countedEnds: 0 });
    const [computed] = await deps.votes
      .aggregate([{ $match: { serverId, _id: vote._id } }, { $project: { arrival: ARRIVAL } }])
      .toArray();
    expect(computed?.arrival, 'the expression').toBe(arrival);
    if (truth.arrivals > 0) expect(arrival).not.toBe('surely-not');
    if (truth.isKnownToHaveArrived) expect(arrival).toBe('arrived');
    const listener = await this.listener();
    if (rewardsOf(listener) !== 'both') {
      const { kind } = await checkClaim(deps, { serverId, username: vote.username });
      if (kind === 'unclaimed')
        expect(truth, 'a vote that can be claimed').toMatchObject({ arrivals: 0, claims: 0 });
    }
    const timeline = await voteTimeline(deps, vote, listener, clock.now());
    if (truth.sendings > 1 && !this.backup) expect(timeline.mayHaveArrivedTwice).toBe(true);
  }
}

it('what is known of a vote’s arrival holds through every history', async () => {
  const bench = await deliveryBench();
  bench.clock.stop(bench.clock.now());
  let players = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      await bench.deps.votes.deleteMany({ serverId: bench.serverId });
      await bench.set({ maxSendings: 3 });
      await setRewards(bench.deps, bench.serverId, 'push', 'owner');
      await resumeListener(bench.deps, bench.serverId, 'owner');
      players += 1;
      const history = new History(bench, await bench.cast(`player${players}`));
      for (const one of steps) {
        await history.run(one as Step);
        await history.check();
      }
    }),
    { numRuns: 60 },
  );
});
