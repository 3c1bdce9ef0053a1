import { describe, expect, it, vi } from 'vitest';
import {
  pauseListener,
  resumeListener,
  setListener,
  showListener,
} from '../../src/delivery/change-listener.ts';
import { HOUR, SECOND } from '../../src/platform/clock.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const deliveryBench = deliveryBenchesOfFile();

describe('Draining a listener', () => {
  it('delivers each waiting vote once, with its id, name and time', async () => {
    const bench = await deliveryBench();
    const cast = [];
    for (const name of ['Steve', 'Алексей', '🎮 Gamer', ' .BedrockUser'])
      cast.push(await bench.cast(name.trim()));

    expect(await bench.drain()).toEqual({ kind: 'idle' });

    // The votes go out over four connections, so they may arrive in any order.
    const { votes } = bench.listener;
    expect(votes).toHaveLength(4);
    const arrived = cast.map(({ _id }) => votes.find(({ uuid }) => uuid === _id.toString()));
    expect(arrived).toMatchObject([
      { username: 'Steve' },
      { username: 'Алексей' },
      { username: '🎮 Gamer' },
      { username: '.BedrockUser' },
    ]);
    expect(arrived.map((vote) => vote?.timestamp)).toEqual(cast.map((vote) => vote.votedAt.getTime()));
    for (const vote of cast) {
      const { delivery } = await bench.vote(vote);
      expect(delivery).toMatchObject({ state: 'delivered', attemptCount: 1, ends: { delivered: 1 } });
      expect(delivery.attempts).toMatchObject([
        { code: 'acknowledged', class: 'delivered', reached: 'acknowledged' },
      ]);
      expect(delivery).not.toHaveProperty('queuedAt');
      expect(delivery).not.toHaveProperty('leaseUntil');
    }
  });

  it('starts attempts in the order in which votes were cast', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' });
    await bench.cast('First');
    await bench.drain();
    bench.listener.votes.length = 0;
    const cast = [];
    for (const name of 'abcdefghij') cast.push(await bench.cast(name));
    bench.listener.stall();
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 4, EVENTUALLY);
    expect(bench.listener.votes.map(({ username }) => username).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    bench.listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    const startedAt = await Promise.all(
      cast.map(async (vote) => (await bench.vote(vote)).delivery.attempts[0]?.at.getTime() ?? 0),
    );
    expect(startedAt).toEqual(startedAt.toSorted((a, b) => a - b));
  });

  it('starts a vote that is cast while others still wait for their answers', async () => {
    const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '34000' });
    await bench.cast('First');
    await bench.drain();
    bench.listener.stall();
    await bench.cast('Alex');
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    await bench.cast('Steve');
    await vi.waitUntil(() => bench.listener.held === 2, { timeout: 4_000 });
    bench.listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
  });

  it('sends one vote at a time to a listener that has never taken one', async () => {
    const bench = await deliveryBench();
    bench.listener.stall();
    for (const name of ['Steve', 'Alex', 'Kai']) await bench.cast(name);
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    expect(await bench.deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(1);
    bench.listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(bench.listener.votes).toHaveLength(3);
  });

  it('records the attempt before anything is sent', async () => {
    const bench = await deliveryBench();
    const vote = await bench.cast('Steve');
    bench.listener.stall();
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 1, EVENTUALLY);
    const { delivery } = await bench.vote(vote);
    expect(delivery.state).toBe('sending');
    expect(delivery.attempts).toHaveLength(1);
    expect(delivery.attempts[0]).not.toHaveProperty('code');
    bench.listener.release();
    await draining;
    expect((await bench.vote(vote)).delivery.state).toBe('delivered');
  });

  it('never sends more than four votes at once, and only one worker drains a listener', async () => {
    const bench = await deliveryBench();
    await bench.cast('First');
    await bench.drain();
    bench.listener.votes.length = 0;
    for (let n = 0; n < 10; n += 1) await bench.cast(`player ${n}`);
    bench.listener.stall();
    const draining = bench.drain();
    await vi.waitUntil(() => bench.listener.held === 4, EVENTUALLY);
    expect(await bench.drain()).toEqual({ kind: 'busy' });
    expect(await bench.deps.votes.countDocuments({ 'delivery.state': 'sending' })).toBe(4);
    bench.listener.release();
    expect(await draining).toEqual({ kind: 'idle' });
    expect(new Set(bench.listener.votes.map((vote) => vote.username)).size).toBe(10);
    expect(bench.listener.votes).toHaveLength(10);
  });

  it('retries a vote by its schedule while the listener is down, and opens the breaker after three failures', async () => {
    const bench = await deliveryBench();
    await bench.listener.stop();
    const vote = await bench.cast('Steve');

    await bench.drain();
    const first = await bench.vote(vote);
    expect(first.delivery).toMatchObject({
      state: 'waiting',
      step: 1,
      attempts: [{ code: 'connection-refused' }],
    });
    const wait = (first.delivery.nextAt?.getTime() ?? 0) - bench.clock.now().getTime();
    expect(wait).toBeGreaterThan(3 * SECOND);
    expect(wait).toBeLessThanOrEqual(6 * SECOND);
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect((await bench.vote(vote)).delivery.attemptCount).toBe(1);

    bench.clock.move(7 * SECOND);
    await bench.drain();
    bench.clock.move(40 * SECOND);
    expect(await bench.drain()).toMatchObject({
      kind: 'unreachable',
      server: 'Alpha',
      waiting: 1,
      code: 'connection-refused',
    });
    expect(await showListener(bench.deps, bench.serverId)).toMatchObject({
      state: 'unreachable',
      waiting: 1,
    });

    await bench.listener.start();
    bench.clock.move(7 * SECOND);
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'delivered',
      attemptCount: 4,
      ends: { transient: 3, delivered: 1 },
    });
    expect(await showListener(bench.deps, bench.serverId)).toMatchObject({
      state: 'active',
      breaker: { failures: 0 },
    });
  });

  it('tests an unreachable listener with one vote at a time, which uses up no step and moves to the end of the queue', async () => {
    const bench = await deliveryBench();
    await bench.listener.stop();
    const votes = [];
    const names = [...'abcdefghijkl'];
    for (const name of names) votes.push(await bench.cast(name));
    await bench.drain();
    const attempts = () => bench.deps.votes.find({ 'delivery.attemptCount': { $gt: 0 } }).toArray();
    // Three failures open the breaker. Up to three other attempts can be running then.
    expect((await attempts()).length).toBeLessThanOrEqual(6);

    const before = await attempts();
    bench.clock.move(7 * SECOND);
    await bench.drain();
    const tested = await bench.deps.votes.find({ 'delivery.attempts.test': true }).toArray();
    expect(tested).toHaveLength(1);
    expect(tested[0]?.delivery.step).toBe(
      before.find(({ _id }) => _id.equals(tested[0]?._id ?? ''))?.delivery.step ?? 0,
    );

    await bench.listener.start();
    bench.clock.move(40 * SECOND);
    await bench.drain();
    const received = bench.listener.votes.map((vote) => vote.username);
    expect(received.toSorted()).toEqual(names);
    expect(received.at(-1)).toBe(tested[0]?.username);
  });

  it('a vote becomes unconfirmed after three ambiguous outcomes', async () => {
    const bench = await deliveryBench();
    await bench.cast('First');
    await bench.drain();
    bench.listener.votes.length = 0;
    bench.listener.behaviour = { onFrame: 'close' };
    const vote = await bench.cast('Steve');
    for (let n = 0; n < 3; n += 1) {
      await bench.drain();
      bench.clock.move(HOUR);
    }
    const { delivery } = await bench.vote(vote);
    expect(delivery).toMatchObject({ state: 'unconfirmed', ambiguousEnds: 3, ends: { ambiguous: 3 } });
    expect(delivery).not.toHaveProperty('queuedAt');
    await bench.drain();
    expect(bench.listener.votes).toHaveLength(3);
  });

  it('does not send a vote that was sent as often as its owner allows, even if the change of settings was interrupted', async () => {
    const bench = await deliveryBench();
    await bench.cast('First');
    await bench.drain();
    bench.listener.behaviour = { onFrame: 'close' };
    const vote = await bench.cast('Steve');
    await bench.drain();
    // As if the process had died right after it stored the settings.
    await bench.deps.listeners.updateOne(
      { serverId: bench.serverId },
      { $set: { maxSendings: 1 }, $inc: { revision: 1 } },
    );
    bench.clock.move(HOUR);
    await bench.drain();
    const { delivery } = await bench.vote(vote);
    expect(delivery).toMatchObject({ state: 'unconfirmed', ambiguousEnds: 1, attemptCount: 1 });
    expect(delivery).not.toHaveProperty('queuedAt');
    expect(bench.listener.votes).toHaveLength(2);
  });

  it('pauses a listener whose token is wrong, keeps its votes, and sends them after a change', async () => {
    const bench = await deliveryBench();
    const right = bench.listener.token;
    bench.listener.tokens = { default: 'another token altogether' };
    const votes = [await bench.cast('Steve'), await bench.cast('Alex')];
    expect(await bench.drain()).toEqual({ kind: 'paused' });
    const shown = await showListener(bench.deps, bench.serverId);
    expect(shown).toMatchObject({
      state: 'paused',
      waiting: 2,
      pause: { by: 'tallyport', code: 'bad-signature' },
    });
    expect(shown?.pause?.words).toMatch(/Signature is not valid/);

    await setListener(
      bench.deps,
      bench.serverId,
      {
        protocol: 'votifier-v2',
        host: '127.0.0.1',
        port: bench.listener.port,
        secret: 'another token altogether'.replaceAll(' ', '-'),
        serviceName: 'Tallyport',
      },
      'test',
    );
    bench.listener.tokens = { default: 'another-token-altogether' };
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    for (const vote of votes) expect((await bench.vote(vote)).delivery.state).toBe('delivered');
    expect(right).not.toBe('');
  });

  it('fails a single vote that the listener refuses, and pauses one that has taken none after five in a row', async () => {
    const bench = await deliveryBench();
    bench.listener.behaviour = {
      answer: '{"status":"error","cause":"CorruptedFrameException","error":"Username too long"}\n',
    };
    const votes = [];
    for (let n = 0; n < 7; n += 1) votes.push(await bench.cast(`player ${n}`));
    await bench.drain();
    const states = (await Promise.all(votes.map((vote) => bench.vote(vote)))).map(
      (vote) => vote.delivery.state,
    );
    expect(states.filter((state) => state === 'failed').length).toBeGreaterThanOrEqual(5);
    expect(await showListener(bench.deps, bench.serverId)).toMatchObject({
      state: 'paused',
      pause: { code: 'repeated-vote-faults' },
    });
  });

  it('does not pause a listener that has taken a vote, however many names it refuses in a row', async () => {
    const bench = await deliveryBench();
    await bench.cast('First');
    await bench.drain();
    bench.listener.behaviour = {
      answer: '{"status":"error","cause":"CorruptedFrameException","error":"Username too long"}\n',
    };
    const refused = [];
    for (let n = 0; n < 7; n += 1) refused.push(await bench.cast(`player ${n}`));
    await bench.drain();
    for (const vote of refused) expect((await bench.vote(vote)).delivery.state).toBe('failed');
    expect(await showListener(bench.deps, bench.serverId)).toMatchObject({ state: 'active', pause: null });
  });

  it('does not pause the listener if players use names that are too long for the game', async () => {
    const bench = await deliveryBench();
    bench.listener.behaviour = {
      answer: '{"status":"error","cause":"CorruptedFrameException","error":"Username too long"}\n',
    };
    const long = [];
    for (let n = 0; n < 7; n += 1) long.push(await bench.cast(`a name that no game has ${n}`));
    await bench.drain();
    bench.listener.behaviour = {};
    const usual = await bench.cast('Steve');
    await bench.drain();
    for (const vote of long) expect((await bench.vote(vote)).delivery).toMatchObject({ state: 'failed' });
    expect((await bench.vote(usual)).delivery).toMatchObject({ state: 'delivered' });
  });

  it('retries once, at once and on a new connection, when the challenge is refused', async () => {
    const bench = await deliveryBench();
    bench.listener.behaviour = { greeting: 'VOTIFIER 2 staleChallenge\n' };
    const vote = await bench.cast('Steve');
    await bench.drain();
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'waiting',
      attemptCount: 2,
      ends: { transient: 2 },
      step: 1,
    });
  });

  it('sends no vote while the owner pauses the listener, and sends all after a resume', async () => {
    const bench = await deliveryBench();
    await pauseListener(bench.deps, bench.serverId, 'test');
    const vote = await bench.cast('Steve');
    expect(await bench.drain()).toEqual({ kind: 'paused' });
    await resumeListener(bench.deps, bench.serverId, 'test');
    expect(await bench.drain()).toEqual({ kind: 'idle' });
    expect((await bench.vote(vote)).delivery.state).toBe('delivered');
  });

  it('gives back votes of which nothing was written when it stops, and does not count their attempts', async () => {
    const bench = await deliveryBench();
    bench.listener.behaviour = { onConnect: 'silence' };
    const vote = await bench.cast('Steve');
    const stop = new AbortController();
    const draining = bench.drain({ stop: stop.signal });
    await vi.waitUntil(() => bench.listener.connections === 1, EVENTUALLY);
    stop.abort();
    expect(await draining).toEqual({ kind: 'stopped' });
    const { delivery } = await bench.vote(vote);
    expect(delivery).toMatchObject({
      state: 'waiting',
      attemptCount: 0,
      step: 0,
      attempts: [{ class: 'none' }],
    });
  });

  it('records a lost attempt as ambiguous when its lease has expired by mongod’s clock', async () => {
    const bench = await deliveryBench();
    const vote = await bench.cast('Steve');
    await bench.deps.votes.updateOne({ serverId: bench.serverId, _id: vote._id }, [
      {
        $set: {
          'delivery.state': 'sending',
          'delivery.leaseUntil': { $subtract: ['$$NOW', 1] },
          'delivery.attemptCount': 1,
          'delivery.attempts': [
            {
              id: vote._id,
              at: '$votedAt',
              worker: 'a dead one',
              protocol: 'votifier-v2',
              revision: 1,
              test: false,
            },
          ],
        },
      },
      { $unset: 'delivery.nextAt' },
    ]);
    await bench.drain();
    expect((await bench.vote(vote)).delivery).toMatchObject({
      state: 'waiting',
      ambiguousEnds: 1,
      attempts: [{ code: 'lease-ran-out' }],
    });
  });
});
