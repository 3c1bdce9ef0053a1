import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  pauseListener,
  removeListener,
  resumeListener,
  setListener,
} from '../../src/delivery/change-listener.ts';
import { healthAfter } from '../../src/delivery/drain/breaker.ts';
import { forgetAttempts } from '../../src/delivery/forget-attempts.ts';
import { rotateSecret, setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { testUnreachableListener } from '../../src/delivery/test-unreachable.ts';
import type { OlderAttempts } from '../../src/delivery/timeline/older-attempts.ts';
import { statusText } from '../../src/delivery/timeline/status-text.ts';
import type { AttemptEvent, VoteTimeline } from '../../src/delivery/timeline/timeline-event.ts';
import { causeText } from '../../src/delivery/timeline/timeline-texts.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { MOST_ATTEMPT_DETAILS, type Vote } from '../../src/votes/vote.ts';
import { type DeliveryBench, deliveryBenchesOfFile } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const deliveryBench = deliveryBenchesOfFile();

const FIRST_SENDING = {
  answerStep: 0,
  neededStep: 0,
  protocol: 'votifier-v2',
  isLastSending: false,
} as const;

let bench: DeliveryBench;

beforeEach(async () => {
  bench = await deliveryBench();
});

async function timeline(vote: Vote): Promise<VoteTimeline> {
  const { deps, serverId, clock } = bench;
  const listener = await deps.listeners.findOne({ serverId });
  return voteTimeline(deps, await bench.vote(vote), listener, clock.now());
}

async function attemptsOf(vote: Vote): Promise<AttemptEvent[]> {
  const { events } = await timeline(vote);
  return events.filter((event): event is AttemptEvent => event.kind === 'attempt');
}

const causesOf = async (vote: Vote) => (await attemptsOf(vote)).map(({ wokenBy }) => wokenBy);

/** The status text of the vote, without times. */
const dots = () => '…';
const words = async (vote: Vote) => {
  const { status, mayHaveArrivedTwice } = await timeline(vote);
  return statusText(status, { on: dots, next: dots }, false, { mayHaveArrivedTwice });
};

/** Changes the settings as an owner does. */
function setAnew(port = bench.listener.port): Promise<unknown> {
  const settings = {
    protocol: 'votifier-v2' as const,
    host: '127.0.0.1',
    port,
    secret: bench.listener.token,
    serviceName: 'Tallyport',
  };
  return setListener(bench.deps, bench.serverId, settings, 'owner');
}

/** Three failed attempts: the listener is unreachable, and the vote waits for a test. */
async function failThrice(): Promise<void> {
  await bench.listener.stop();
  for (let n = 0; n < 3; n += 1) {
    await bench.drain();
    bench.clock.move(40 * SECOND);
  }
}

describe('An attempt says what started it', () => {
  it('the vote itself, then its schedule, then tests of the unreachable listener', async () => {
    const vote = await bench.cast('Steve');
    await failThrice();
    await bench.drain();
    await bench.listener.start();
    bench.clock.move(40 * SECOND);
    await bench.drain();
    expect(await causesOf(vote)).toEqual(['cast', 'schedule', 'schedule', 'listener-test', 'listener-test']);
    expect((await timeline(vote)).status).toMatchObject({ state: 'delivered', confirmed: true });
  });

  it('the return of an unreachable listener, for votes that did not test it', async () => {
    await bench.cast('Steve');
    await failThrice();
    const first = await bench.cast('Alex');
    bench.clock.move(SECOND);
    const second = await bench.cast('Kim');
    await bench.listener.start();
    await bench.drain();
    // Cast after the listener was back, so it did not wait for the listener.
    bench.clock.move(SECOND);
    const third = await bench.cast('Zoe');
    await bench.drain();
    // The vote that has been due for longest tests the listener: the one before waits for its retry.
    expect(await causesOf(first)).toEqual(['listener-test']);
    expect(await causesOf(second)).toEqual(['listener-back']);
    expect(await causesOf(third)).toEqual(['cast']);
  });

  it('the return of the game server, which moved the test to an earlier time', async () => {
    const vote = await bench.cast('Steve');
    await failThrice();
    await bench.drain();
    await testUnreachableListener(bench.deps, bench.serverId);
    await bench.drain();
    // The next test is planned by the schedule again.
    bench.clock.move(HOUR);
    await testUnreachableListener(bench.deps, bench.serverId);
    await bench.drain();
    expect((await causesOf(vote)).slice(3)).toEqual(['listener-test', 'server-returned', 'listener-test']);
  });

  it('the schedule, when a test was moved to an earlier time and then postponed by an error of Tallyport', () => {
    const now = bench.clock.now();
    const breaker = { failures: 3, tests: 1, openSince: now, nextTestAt: now } as const;
    const before = { breaker: { ...breaker, hastenedBy: 'server-returned' as const }, pause: null };
    const { breaker: next } = healthAfter(
      { ...before, voteFaults: 0, released: null, acknowledgedAt: now, answerStep: 0 },
      { ...outcome('our-fault', 'none'), test: true, ...FIRST_SENDING },
      now,
      [SECOND],
    );
    expect(next).toEqual({ ...breaker, nextTestAt: expect.any(Date) });
  });

  it('a resume, for votes that waited for it and for votes that waited for their own retry', async () => {
    const { deps, serverId } = bench;
    await bench.listener.stop();
    const early = await bench.cast('Steve');
    await bench.drain();
    await pauseListener(deps, serverId, 'owner');
    const held = await bench.cast('Alex');
    bench.clock.move(SECOND);
    await resumeListener(deps, serverId, 'owner');
    await bench.listener.start();
    await bench.drain();
    expect(await causesOf(early)).toEqual(['cast', 'resume']);
    expect(await causesOf(held)).toEqual(['resume']);
  });

  it('changed settings, if the listener was unreachable before', async () => {
    const vote = await bench.cast('Steve');
    await failThrice();
    const held = await bench.cast('Alex');
    await bench.listener.start();
    await setAnew();
    await bench.drain();
    expect((await causesOf(vote)).at(-1)).toBe('settings-changed');
    expect(await causesOf(held)).toEqual(['settings-changed']);
  });

  it('not changed settings or a resume, if the listener was neither paused nor unreachable', async () => {
    const { deps, serverId } = bench;
    const vote = await bench.cast('Steve');
    await setAnew();
    await resumeListener(deps, serverId, 'owner');
    await bench.drain();
    expect(await causesOf(vote)).toEqual(['cast']);
  });

  it('not changed settings, if the listener is paused by its owner', async () => {
    const { deps, serverId } = bench;
    await pauseListener(deps, serverId, 'owner');
    const vote = await bench.cast('Steve');
    bench.clock.move(SECOND);
    await setAnew();
    expect((await deps.listeners.findOne({ serverId }))?.released).toBeNull();
    await resumeListener(deps, serverId, 'owner');
    await bench.drain();
    expect(await causesOf(vote)).toEqual(['resume']);
  });

  it('the refused challenge', async () => {
    bench.listener.behaviour = { greeting: 'VOTIFIER 2 staleChallenge\n' };
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect(await causesOf(vote)).toEqual(['cast', 'challenge-retry']);
  });

  it('the attempt before, whose vote was given back when a worker stopped', async () => {
    bench.listener.behaviour = { onConnect: 'silence' };
    const vote = await bench.cast('Steve');
    const stop = new AbortController();
    const draining = bench.drain({ stop: stop.signal });
    await vi.waitUntil(() => bench.listener.connections === 1, EVENTUALLY);
    stop.abort();
    await draining;
    bench.listener.behaviour = {};
    await bench.drain();
    expect(await causesOf(vote)).toEqual(['cast', 'given-back']);
    expect((await attemptsOf(vote)).map(({ number }) => number)).toEqual([null, 1]);
  });

  it('a resend, and who made it', async () => {
    const vote = await bench.cast('Steve');
    await bench.drain();
    bench.clock.move(SECOND);
    await resendVote(bench.deps, vote._id, 'owner');
    await bench.drain();
    expect(await causesOf(vote)).toEqual(['cast', 'resend']);
    const { events, mayHaveArrivedTwice } = await timeline(vote);
    expect(events.map(({ kind }) => kind)).toEqual(['accepted', 'attempt', 'resent', 'attempt']);
    expect(events[2]).toMatchObject({ by: 'owner', from: 'delivered', mayArriveTwice: true });
    expect(mayHaveArrivedTwice).toBe(true);
    expect(await words(vote)).toBe(
      'Delivered on … and confirmed by the listener. It may have arrived more than once.',
    );
  });

  it('the sweep, if the job of a vote was lost, but not for retries, which the sweep always finds', async () => {
    await bench.listener.stop();
    const lost = await bench.cast('Steve');
    bench.clock.move(SECOND);
    const relayedAt = bench.clock.now();
    bench.clock.move(SECOND);
    const later = await bench.cast('Alex');
    await bench.drain({ relayedAt });
    await bench.listener.start();
    bench.clock.move(7 * SECOND);
    await bench.drain({ relayedAt: bench.clock.now() });
    expect(await attemptsOf(lost)).toMatchObject([
      { wokenBy: 'cast', relayed: true },
      { wokenBy: 'schedule', relayed: false },
    ]);
    expect((await attemptsOf(later))[0]).toMatchObject({ wokenBy: 'cast', relayed: false });
    expect((await attemptsOf(lost)).map(causeText)).toEqual(['the vote, found by the sweep', 'its schedule']);
  });

  it('nothing, if the vote is older than the record of causes', async () => {
    const vote = await bench.cast('Steve');
    const { votes } = bench.deps;
    await votes.updateOne({ serverId: bench.serverId, _id: vote._id }, { $unset: { 'delivery.dueBy': '' } });
    await bench.drain();
    expect((await bench.vote(vote)).delivery.attempts[0]).not.toHaveProperty('wokenBy');
    expect((await attemptsOf(vote)).map(causeText)).toEqual([null]);
  });

  it('and a delivered vote waits for nothing', async () => {
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect((await bench.vote(vote)).delivery).not.toHaveProperty('dueBy');
  });
});

describe('A waiting vote says what it waits for', () => {
  it('the votes that were cast before it', async () => {
    const votes = [await bench.cast('Steve'), await bench.cast('Alex'), await bench.cast('Zoe')];
    const ahead = await Promise.all(votes.map(async (vote) => (await timeline(vote)).status));
    expect(ahead).toMatchObject([0, 1, 2].map((count) => ({ state: 'waiting', ahead: count })));
    expect(await words(votes[2] as Vote)).toBe('Waiting in the queue, with 2 votes before it. It expires ….');
  });

  it('the votes before it, counted up to a hundred, from the index alone', async () => {
    const first = await bench.cast('Steve');
    const last = await bench.cast('Alex');
    const { deps } = bench;
    const { delivery, ...rest } = await bench.vote(first);
    const copies = Array.from({ length: 400 }, (_, n) => ({
      ...rest,
      _id: crypto.randomUUID() as never,
      usernameKey: `player ${n}`,
      delivery,
    }));
    await deps.votes.insertMany(copies);
    const { db } = deps.mongo;
    await db.command({ profile: 2 });
    expect((await timeline(last)).status).toMatchObject({ ahead: 100 });
    await db.command({ profile: 0 });
    const [scan] = await db
      .collection('system.profile')
      .find({ ns: /\.votes$/, 'command.filter.$or': { $exists: true } })
      .toArray();
    expect(scan?.docsExamined).toBeLessThanOrEqual(110);
    expect(scan?.keysExamined).toBeLessThanOrEqual(310);
    expect(await words(last)).toContain('at least 100 votes before it');
  });

  it('its own retry, then the test of the listener, and why', async () => {
    const vote = await bench.cast('Steve');
    await bench.listener.stop();
    await bench.drain();
    expect(await words(vote)).toBe('Waiting for its next attempt, …. It expires ….');
    bench.clock.move(40 * SECOND);
    await bench.drain();
    bench.clock.move(40 * SECOND);
    await bench.drain();
    expect(await words(vote)).toBe(
      'Waiting for the listener, which is unreachable. Next test …. The machine answers, but nothing listens at this address and port, or a firewall rejects the connection. It expires ….',
    );
  });

  it('a resume, until its listener is removed', async () => {
    const { deps, serverId } = bench;
    await pauseListener(deps, serverId, 'owner');
    const vote = await bench.cast('Steve');
    expect(await words(vote)).toMatch(/^Waiting until the listener is resumed\. Its owner paused it\./);
    await deps.listeners.deleteOne({ serverId });
    expect(await words(vote)).toMatch(/^The listener was removed, so the vote leaves the queue\./);
    await removeListener(deps, serverId, 'owner');
  });
});

describe('A vote whose delivery has ended says how', () => {
  it('sent and not confirmed, with Votifier v1', async () => {
    const settings = {
      protocol: 'votifier-v1' as const,
      host: '127.0.0.1',
      port: bench.listener.port,
      secret: bench.listener.publicKeyLine,
      serviceName: 'Tallyport',
    };
    await setListener(bench.deps, bench.serverId, settings, 'owner');
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect((await timeline(vote)).status).toMatchObject({ state: 'delivered', confirmed: false });
    expect(await words(vote)).toBe(
      'Sent on …, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.',
    );
  });

  it('refused, with the listener’s message', async () => {
    bench.listener.behaviour = {
      answer: '{"status":"error","cause":"CorruptedFrameException","error":"Username too long"}\n',
    };
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect((await timeline(vote)).status).toMatchObject({ state: 'failed', why: 'refused' });
    expect(await attemptsOf(vote)).toMatchObject([
      {
        number: 1,
        end: {
          code: 'name-too-long',
          class: 'vote-only',
          words: expect.stringContaining('Username too long'),
        },
      },
    ]);
    expect(await words(vote)).toBe(
      'The listener takes no player name of this length. It can be sent again until ….',
    );
  });

  it('removed from the queue when the listener was removed', async () => {
    const vote = await bench.cast('Steve');
    await removeListener(bench.deps, bench.serverId, 'owner');
    expect((await timeline(vote)).status).toEqual({ state: 'none', why: 'listener-removed' });
    expect((await bench.vote(vote)).delivery).not.toHaveProperty('dueBy');
    expect((await timeline(vote)).events.map(({ kind }) => kind)).toEqual(['accepted', 'listener-removed']);
  });

  it('a running attempt has no outcome yet; an attempt that a newer one replaced never gets one', async () => {
    bench.listener.stall();
    const vote = await bench.cast('Steve');
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    expect(await attemptsOf(vote)).toMatchObject([{ end: null, underWay: true }]);
    const which = { serverId: bench.serverId, _id: vote._id };
    await bench.deps.votes.updateOne(which, { $set: { 'delivery.state': 'delivered' } });
    expect(await attemptsOf(vote)).toMatchObject([{ end: null, underWay: false }]);
    bench.listener.release();
    await draining;
  });
});

describe('Attempts whose details are no longer stored', () => {
  /** Four attempts more than are stored: refused connections, then attempts without an answer. */
  async function manyAttempts(): Promise<{ vote: Vote; moments: Date[] }> {
    const vote = await bench.cast('Steve');
    const moments: Date[] = [];
    bench.clock.stop(bench.clock.now());
    await bench.listener.stop();
    for (let n = 0; n < MOST_ATTEMPT_DETAILS + 4; n += 1) {
      if (n === 2) {
        await bench.listener.start();
        bench.listener.behaviour = { onConnect: 'close' };
      }
      moments.push(bench.clock.now());
      await bench.drain();
      bench.clock.move(15 * MINUTE);
    }
    return { vote, moments };
  }

  const older = async (vote: Vote) =>
    (await timeline(vote)).events.find((event): event is OlderAttempts => event.kind === 'older-attempts');

  it('are summarised: how many, when, and their outcomes', async () => {
    const { vote, moments } = await manyAttempts();
    expect(await older(vote)).toEqual({
      kind: 'older-attempts',
      at: moments[3],
      count: 4,
      firstAt: moments[0],
      lastAt: moments[3],
      ends: { transient: 4 },
      codes: { 'connection-refused': 2, 'closed-before-greeting': 2 },
    });
    const attempts = await attemptsOf(vote);
    expect(attempts).toHaveLength(MOST_ATTEMPT_DETAILS);
    expect(attempts[0]).toMatchObject({ number: 5, at: moments[4] });

    // The same after the details of the other attempts are deleted.
    const { votedAt } = vote;
    await forgetAttempts(bench.deps, dayOf(new Date(votedAt.getTime() + 91 * DAY)));
    expect(await older(vote)).toMatchObject({
      count: 24,
      firstAt: moments[0],
      lastAt: moments[23],
      codes: { 'connection-refused': 2, 'closed-before-greeting': 22 },
    });
  });

  it('have no first attempt if it was not recorded', async () => {
    const { vote } = await manyAttempts();
    const which = { serverId: bench.serverId, _id: vote._id };
    await bench.deps.votes.updateOne(which, { $unset: { 'delivery.older': '', 'delivery.codes': '' } });
    await bench.drain();
    expect(await older(vote)).toMatchObject({
      count: 5,
      firstAt: null,
      lastAt: expect.any(Date),
      ends: { transient: 5 },
      codes: null,
    });
  });
});

it('Pausing, resuming and a new secret change what they name and nothing else', async () => {
  const { deps, serverId, clock } = bench;
  await setHttpListener(deps, serverId, { url: 'https://example.org/$votes', serviceName: 'T' }, 'owner');
  const before = await deps.listeners.findOne({ serverId });
  const rotated = await rotateSecret(deps, serverId, 'owner');
  expect(await deps.listeners.findOne({ serverId })).toEqual({
    ...before,
    revision: (before?.revision ?? 0) + 1,
    sealedSecret: expect.any(String),
    previousSecret: { sealed: before?.sealedSecret, until: rotated?.previousValidUntil },
  });
  expect((await deps.listeners.findOne({ serverId }))?.sealedSecret).not.toBe(before?.sealedSecret);
  clock.stop(clock.now());
  const paused = await pauseListener(deps, serverId, 'owner');
  expect(paused?.pause).toEqual({ at: clock.now(), by: 'owner' });
  const resumed = await resumeListener(deps, serverId, 'owner');
  expect(resumed).toMatchObject({ pause: null, breaker: { failures: 0, tests: 0 }, voteFaults: 0 });
  expect(resumed?.released).toEqual({ by: 'resume', at: clock.now() });
});
