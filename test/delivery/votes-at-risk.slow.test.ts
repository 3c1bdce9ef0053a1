import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { resumeListener, showListener } from '../../src/delivery/change-listener.ts';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { listenerReason } from '../../src/delivery/diagnosis/listener-reason.ts';
import { endLostAttempts } from '../../src/delivery/drain/lost-attempts.ts';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { createVoteSender, type SendVote } from '../../src/delivery/send-vote.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { type DeliveryBench, deliveryBenchesOfFile, drainHere } from '../support/delivering.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import {
  closing,
  type KnownListener,
  keyLine,
  nuVotifier,
  OTHER,
  RIGHT,
  start,
  TOKEN,
  votifierPlus,
} from './known-listeners.ts';

const deliveryBench = deliveryBenchesOfFile();

const NAMES = ['Steve', 'Alex', 'Kai', 'Zoe', 'Noor'];

/** Functions that show the votes and the listener of a bench. */
function seen({ deps, serverId, clock, drain }: DeliveryBench) {
  return {
    listener: async () => {
      const shown = await showListener(deps, serverId);
      if (!shown) throw new Error('no listener');
      return shown;
    },
    deliveries: async () => {
      const votes = await deps.votes.find({ serverId }).sort({ _id: 1 }).toArray();
      return votes.map(({ delivery }) => delivery);
    },
    test: () => diagnoseListener({ ...deps, send: createVoteSender(deps.config) }, serverId),
    drainFor: async (hours: number) => {
      for (let hour = 0; hour < hours; hour += 1) {
        await drain();
        clock.move(HOUR);
      }
    },
  };
}

const statesOf = (deliveries: { state: string }[]) => deliveries.map(({ state }) => state);
const all = (state: string, count = NAMES.length) => Array.from({ length: count }, () => state);

/** A first wait of 200 ms stands for one of 5 s; then come 600 and 1,200 ms. */
const FAST = { LISTENER_TIMEOUT_MS: '200' };
const MS_PER_SECOND = 40;
const fastBench = deliveryBenchesOfFile(FAST);

/** A server with a listener that the test can replace, like a plugin that is restarted with other settings. */
async function pluginBench(
  settings: Parameters<DeliveryBench['set']>[0],
  first: KnownListener,
  open = deliveryBench,
) {
  const bench = await open();
  /** `frames`: how many whole frames it took, whether it rewarded the player or not. */
  const plugin = { now: first, frames: 0 };
  const port = await start({
    greeting: (challenge) => plugin.now.greeting(challenge),
    take(received, challenge) {
      const answer = plugin.now.take(received, challenge);
      if (answer) plugin.frames += 1;
      return answer;
    },
  });
  await bench.set({ port, ...settings });
  return { ...bench, ...seen(bench), plugin, port };
}

const V1 = { protocol: 'votifier-v1', secret: keyLine(RIGHT) } as const;

describe('a Votifier v1 listener that confirmed votes and now closes without an answer', () => {
  async function confirmed() {
    const bench = await pluginBench(V1, votifierPlus());
    await bench.cast('First');
    await bench.drain();
    expect(await bench.listener()).toMatchObject({ lastDeliveryConfirmed: true });
    return bench;
  }

  it.each([
    ['its key changed', votifierPlus({ pair: OTHER }), { secret: keyLine(OTHER) }],
    [
      'its plugin takes no v1 any more',
      votifierPlus({ v1: false }),
      { protocol: 'votifier-v2', secret: TOKEN },
    ],
    ['a plugin that takes the votes throws', votifierPlus({ throws: true }), null],
    ['another plugin is there', closing('2.9'), null],
  ] as const)('is paused, so its votes wait, and all arrive when it is corrected: %s', async (_, broken, mended) => {
    const bench = await confirmed();
    bench.plugin.now = broken;
    for (const name of NAMES) await bench.cast(name);
    await bench.drainFor(5);
    const held = await bench.deliveries();
    expect(statesOf(held)).toEqual(['delivered', ...all('waiting')]);
    for (const { ambiguousEnds, attempts } of held.slice(1)) {
      expect(ambiguousEnds).toBeLessThanOrEqual(2);
      for (const { code } of attempts) expect(code).toBe('closed-without-answer');
    }
    const listener = await bench.listener();
    expect(listener).toMatchObject({ state: 'paused', waiting: 5, unconfirmed: 0, sentNotConfirmed: 0 });
    expect(listenerReason(listener)).toMatchObject({
      code: 'closed-without-answer',
      cause: expect.stringMatching(/confirmed votes before/),
      advice: expect.stringMatching(/^Compare the public key.*; if it is right, look for an error .* log/),
    });

    bench.plugin.now = mended ? broken : votifierPlus();
    if (mended) await bench.set({ port: bench.port, ...V1, ...mended });
    else await resumeListener(bench.deps, bench.serverId, 'test');
    await bench.drain();
    expect(statesOf(await bench.deliveries())).toEqual(all('delivered', 6));
  });

  it('gets a single such vote again and takes the others', async () => {
    const bench = await confirmed();
    bench.plugin.now = votifierPlus({ throws: true });
    await bench.cast('Steve');
    await bench.drain();
    expect(await bench.deliveries()).toMatchObject([{}, { state: 'waiting', ambiguousEnds: 1 }]);
    bench.plugin.now = votifierPlus();
    await bench.cast('Alex');
    bench.clock.move(MINUTE);
    await bench.drain();
    expect(statesOf(await bench.deliveries())).toEqual(all('delivered', 3));
    expect(await bench.listener()).toMatchObject({ state: 'active', breaker: { failures: 0 } });
  });

  it('is recognised if it confirmed only a test vote; a later test vote has the same outcome as a vote', async () => {
    const bench = await pluginBench(V1, votifierPlus());
    expect(await bench.test()).toMatchObject({ confirmed: true });
    bench.plugin.now = votifierPlus({ pair: OTHER });
    for (let n = 0; n < 2; n += 1) {
      expect(await bench.test()).toMatchObject({
        outcome: 'ambiguous',
        fault: 'closed-without-answer',
        cause: expect.stringMatching(/confirmed votes before/),
      });
    }
    await bench.cast('Steve');
    await bench.drain();
    expect(await bench.deliveries()).toMatchObject([{ state: 'waiting' }]);
    expect(await bench.listener()).toMatchObject({ state: 'paused' });
  });

  it('is recognised if it confirmed a vote to a worker that has died, or to an earlier version', async () => {
    const bench = await confirmed();
    const { deps, serverId } = bench;
    // The document has only what the first acknowledgement stores, and no `acknowledgedAt`.
    await deps.listeners.updateOne({ serverId }, { $unset: { acknowledgedAt: 1 } });
    bench.plugin.now = votifierPlus({ pair: OTHER });
    await bench.cast('Steve');
    await bench.drain();
    expect(await bench.deliveries()).toMatchObject([{}, { state: 'waiting' }]);
  });

  it('is recognised before the worker begins with the next vote', async () => {
    const bench = await pluginBench(V1, votifierPlus());
    const { deps, serverId } = bench;
    for (const name of NAMES) await bench.cast(name);
    const send = createVoteSender(deps.config);
    const known: unknown[] = [];
    await drainHere(deps, serverId, {}, async (...given) => {
      known.push((await deps.listeners.findOne({ serverId }))?.lastDeliveryConfirmed);
      return send(...given);
    });
    expect(known).toEqual([undefined, true, true, true, true]);
  });

  it('is not one that never confirmed a vote with its current key', async () => {
    const bench = await confirmed();
    bench.plugin.now = closing('1.9');
    await bench.set({ port: bench.port, ...V1, secret: keyLine(OTHER) });
    for (const name of NAMES) await bench.cast(name);
    await bench.drain();
    expect(await bench.listener()).toMatchObject({ state: 'active', sentNotConfirmed: 5, waiting: 0 });
  });
});

describe('a website that refuses votes', () => {
  async function siteBench() {
    const bench = await deliveryBench();
    const site = await startFakeHttpListener();
    const url = `http://127.0.0.1:${site.port}/votes`;
    await setHttpListener(bench.deps, bench.serverId, { url, serviceName: 'Tallyport' }, 'test');
    const answer = (...statuses: number[]) => {
      site.answer = (response) => void response.writeHead(statuses.shift() ?? 204).end('no');
    };
    const castAll = async () => {
      for (const name of NAMES) await bench.cast(name);
    };
    return { ...bench, ...seen(bench), site, answer, castAll };
  }

  it.each([
    [405, 'http-method-refused'],
    [400, 'http-votes-refused'],
  ])('is paused at the first %i if it never took a vote, and the votes wait', async (status, code) => {
    const bench = await siteBench();
    bench.answer(...Array.from({ length: 9 }, () => status));
    await bench.castAll();
    await bench.drainFor(3);
    expect(bench.site.received).toHaveLength(1);
    expect(statesOf(await bench.deliveries())).toEqual(all('waiting'));
    expect(await bench.listener()).toMatchObject({
      state: 'paused',
      pause: { code, words: `HTTP ${status} no` },
    });
    bench.answer();
    await resumeListener(bench.deps, bench.serverId, 'test');
    await bench.drain();
    expect(statesOf(await bench.deliveries())).toEqual(all('delivered'));
  });

  it.each([
    [405, 'http-method-refused'],
    [400, 'http-votes-refused'],
  ])('%i to votes and challenges after it took a vote: it is paused as %s, and the votes wait', async (status, code) => {
    const bench = await siteBench();
    await bench.cast('First');
    await bench.drain();
    bench.answer(...Array.from({ length: 9 }, () => status));
    bench.site.answerChallenge = (response) => void response.writeHead(status).end('no');
    await bench.castAll();
    await bench.drainFor(3);
    expect(statesOf(await bench.deliveries()).slice(1)).toEqual(all('waiting'));
    expect(await bench.listener()).toMatchObject({ state: 'paused', pause: { code } });
    bench.answer();
    await resumeListener(bench.deps, bench.serverId, 'test');
    await bench.drain();
    expect(await bench.listener()).toMatchObject({ state: 'active', waiting: 0, voteFaults: 0 });
  });

  it('is not paused if it refuses single votes', async () => {
    const bench = await siteBench();
    for (const [index, status] of [204, 400, 422, 404, 204].entries()) {
      bench.answer(status);
      await bench.cast(NAMES[index] ?? '');
      await bench.drain();
    }
    const states = ['delivered', 'failed', 'failed', 'failed', 'delivered'];
    expect(statesOf(await bench.deliveries())).toEqual(states);
    expect(await bench.listener()).toMatchObject({ state: 'active' });
  });

  it('is not paused if it took a test vote and refuses its first vote: only that vote fails', async () => {
    const bench = await siteBench();
    bench.answer(400);
    expect(await bench.test()).toMatchObject({
      outcome: 'configuration',
      fault: 'vote-refused',
      cause: expect.stringMatching(/acknowledged none with its current settings/),
    });
    expect(await bench.test()).toMatchObject({ outcome: 'delivered' });
    bench.answer(400);
    await bench.castAll();
    await bench.drain();
    expect(statesOf(await bench.deliveries())).toEqual(['failed', ...all('delivered', 4)]);
  });
});

describe('a slow listener', () => {
  const slow = (seconds: number) => nuVotifier({ handler: { stallsFor: seconds * MS_PER_SECOND } });
  const codesOf = ({ attempts }: { attempts: { code?: string | null }[] }) =>
    attempts.map(({ code }) => code);

  it.each([
    [0, 0, ['acknowledged']],
    [7, 1, ['acknowledged']],
    [20, 2, ['no-answer', 'acknowledged']],
  ] as const)('of %i s, of a new listener: its first vote is sent again only beyond 15 s, and later ones once', async (seconds, step, codes) => {
    const bench = await pluginBench({ secret: TOKEN }, slow(seconds), fastBench);
    await bench.cast('Steve');
    await bench.drainFor(3);
    expect(codesOf((await bench.deliveries())[0] ?? { attempts: [] })).toEqual(codes);
    expect(await bench.listener()).toMatchObject({ state: 'active', answerStep: step });
    expect(bench.plugin.frames).toBe(codes.length);
    bench.plugin.frames = 0;
    for (const name of NAMES.slice(1)) await bench.cast(name);
    await bench.drain();
    expect(statesOf(await bench.deliveries())).toEqual(all('delivered'));
    expect(bench.plugin.frames).toBe(4);
  });

  it('that never ends, of a new listener: the first vote is sent twice, and all wait until it is mended', async () => {
    const bench = await pluginBench({ secret: TOKEN }, slow(1_000), fastBench);
    await bench.cast('Steve');
    await bench.drainFor(3);
    for (const name of NAMES.slice(1)) await bench.cast(name);
    await bench.drainFor(2);
    expect(statesOf(await bench.deliveries())).toEqual(all('waiting'));
    expect(bench.plugin.frames).toBe(2);
    expect(await bench.listener()).toMatchObject({
      state: 'paused',
      pause: { code: 'never-acknowledged' },
      waiting: 5,
      unconfirmed: 0,
    });
    bench.plugin.now = slow(0);
    await resumeListener(bench.deps, bench.serverId, 'test');
    await bench.drain();
    expect(statesOf(await bench.deliveries())).toEqual(all('delivered'));
  });

  it('that never ends, where many votes wait: two of them are sent once, and all wait', async () => {
    const bench = await pluginBench({ secret: TOKEN }, slow(1_000), fastBench);
    for (const name of NAMES) await bench.cast(name);
    await bench.drain();
    expect((await bench.deliveries()).map(codesOf)).toEqual([['no-answer'], ['no-answer'], [], [], []]);
    expect(await bench.listener()).toMatchObject({ state: 'paused', waiting: 5, unconfirmed: 0 });
  });

  it('never answers and gets each vote once only: one vote is used up', async () => {
    const bench = await pluginBench({ secret: TOKEN, maxSendings: 1 }, slow(1_000), fastBench);
    for (const name of NAMES) await bench.cast(name);
    await bench.drainFor(2);
    expect(statesOf(await bench.deliveries())).toEqual(['unconfirmed', ...all('waiting', 4)]);
  });

  it.each([
    [7, 1],
    [20, 2],
  ])('takes %i s and was fast before: later votes are rewarded once', async (seconds, step) => {
    const bench = await pluginBench({ secret: TOKEN }, slow(0), fastBench);
    await bench.cast('First');
    await bench.drain();
    bench.plugin.now = slow(seconds);
    await bench.cast('Steve');
    await bench.drainFor(3);
    expect(bench.plugin.frames).toBe(2 + step);
    expect(await bench.listener()).toMatchObject({ answerStep: step });
    bench.plugin.frames = 0;
    // Also after a pause and a resume, which change the revision.
    await resumeListener(bench.deps, bench.serverId, 'test');
    for (const name of NAMES.slice(1)) await bench.cast(name);
    await bench.drain();
    expect(bench.plugin.frames).toBe(4);
  });

  it('is recognised even if the first sending ended for another reason', async () => {
    const bench = await pluginBench({ secret: TOKEN }, slow(0), fastBench);
    await bench.cast('First');
    await bench.drain();
    bench.plugin.now = { ...slow(0), take: (received) => (received.length < 200 ? null : { ends: 'close' }) };
    await bench.cast('Steve');
    await bench.drain();
    bench.plugin.now = slow(7);
    bench.clock.move(MINUTE);
    await bench.drain();
    const codes = ['closed-without-answer', 'acknowledged'];
    expect((await bench.deliveries()).map(codesOf)[1]).toEqual(codes);
    expect(await bench.listener()).toMatchObject({ answerStep: 1 });
  });

  it('is recognised by a late acknowledgement, even after another worker has taken the lease', async () => {
    const bench = await pluginBench({ secret: TOKEN }, slow(0), fastBench);
    const { deps, serverId } = bench;
    await bench.cast('First');
    await bench.drain();
    bench.plugin.now = slow(7);
    const { _id } = await bench.cast('Steve');
    await deps.votes.updateOne({ serverId, _id }, { $set: { 'delivery.ambiguousEnds': 1 } });
    await drainHere(deps, serverId, {}, async (...given) => {
      const end = await createVoteSender(deps.config)(...given);
      // The worker was suspended: its leases expired, and another worker has taken over.
      await deps.votes.updateOne({ serverId, _id }, { $set: { 'delivery.leaseUntil': new Date(0) } });
      await endLostAttempts(deps, serverId, null);
      await deps.listeners.updateOne({ serverId }, { $set: { 'lease.owner': 'another worker' } });
      return end;
    });
    const [, late] = await bench.deliveries();
    expect(late).toMatchObject({ state: 'delivered', attempts: [{ lateAt: expect.any(Date) }] });
    const stored = await deps.listeners.findOne({ serverId });
    expect(stored).toMatchObject({ answerStep: 1, lease: { owner: 'another worker' } });
  });

  it('has a backlog: votes that were taken ahead get the longer wait too', async () => {
    const bench = await pluginBench({ secret: TOKEN }, slow(0), fastBench);
    const { deps, serverId } = bench;
    await bench.cast('First');
    await bench.drain();
    for (let n = 0; n < 40; n += 1) await bench.cast(`Player${n}`);
    let sent = 0;
    let isKnown = false;
    const stepsSince: (number | undefined)[] = [];
    // The tenth vote alone is not answered in time: the breaker stays closed, and others were taken with it.
    const send: SendVote = async (_target, _vote, { answerStep }) => {
      sent += 1;
      if (sent === 10) return outcome('no-answer', 'written');
      isKnown ||= ((await deps.listeners.findOne({ serverId }))?.answerStep ?? 0) > 0;
      if (isKnown) stepsSince.push(answerStep);
      return outcome('acknowledged', 'acknowledged');
    };
    await drainHere(deps, serverId, { queue: 'drain-backlogs' }, send);
    bench.clock.move(HOUR);
    await drainHere(deps, serverId, {}, send);
    expect(stepsSince.length).toBeGreaterThan(20);
    // Three may have begun beside the tenth.
    expect(stepsSince.filter((step) => step === 0).length).toBeLessThanOrEqual(3);
    expect(statesOf(await bench.deliveries())).toEqual(all('delivered', 41));
  });

  it('is a new website: its votes get the longer wait too', async () => {
    const bench = await fastBench();
    const site = await startFakeHttpListener();
    const url = `http://127.0.0.1:${site.port}/votes`;
    await setHttpListener(bench.deps, bench.serverId, { url, serviceName: 'Tallyport' }, 'test');
    site.answer = async (response) => {
      await setTimeout(7 * MS_PER_SECOND);
      response.writeHead(204).end();
    };
    await bench.cast('Steve');
    const { drainFor, deliveries } = seen(bench);
    await drainFor(2);
    expect((await deliveries()).map(codesOf)).toEqual([['acknowledged']]);
  });
});
