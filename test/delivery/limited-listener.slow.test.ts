import { UUID } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { resumeListener, showListener } from '../../src/delivery/change-listener.ts';
import { Destination } from '../../src/delivery/destination.ts';
import { diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { deadlineIn, dial } from '../../src/delivery/peer-connection.ts';
import { resendVotes } from '../../src/delivery/resend-votes.ts';
import { createVoteSender, type SendVote } from '../../src/delivery/send-vote.ts';
import { sweepDueWork } from '../../src/delivery/sweep.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { openOwnerApp, ownerFixture } from '../site/owner-fixture.ts';
import { deliveryBenchesOfFile, drainHere } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';

const deliveryBench = deliveryBenchesOfFile({ DESTINATION_LIMIT: '5', ACCOUNT_LIMIT: '5' });

async function limitedBench(env: Record<string, string> = {}) {
  const bench = await deliveryBench(env);
  bench.clock.stop(new Date());
  const castMany = async (count: number) => {
    const votes = [];
    for (let n = 0; n < count; n += 1) {
      votes.push(await bench.cast(`Player${n}`));
      bench.clock.move(1);
    }
    return votes;
  };
  return { ...bench, castMany };
}

it('a listener that acknowledges votes gets any number of them', async () => {
  const { castMany, drain, listener, deps, serverId } = await limitedBench();
  await castMany(20);
  expect(await drain()).toEqual({ kind: 'idle' });
  expect(listener.votes).toHaveLength(20);
  const found = await deps.listeners.findOne({ serverId });
  expect(found?.proven).toEqual([{ address: '127.0.0.1', at: expect.any(Date), by: 'acknowledgement' }]);
  expect(found?.limited).toBeNull();
});

it('a listener that only greets gets six times the allowance a minute, and each vote once', async () => {
  const { castMany, drain, listener, set, clock, vote } = await limitedBench();
  await set({ protocol: 'votifier-v1', secret: listener.publicKeyLine });
  const votes = await castMany(45);
  const until = new Date(clock.now().getTime() + MINUTE);
  expect(await drain()).toEqual({ kind: 'limited', until });
  const first = listener.votes.length;
  // The first votes were sent before the listener had greeted once.
  expect(first).toBeGreaterThanOrEqual(30);
  expect(first).toBeLessThanOrEqual(35);
  const last = votes.at(-1);
  if (!last) throw new Error('no vote');
  expect((await vote(last)).delivery).toMatchObject({ state: 'waiting', attemptCount: 0, attempts: [] });
  clock.move(MINUTE);
  expect(await drain()).toEqual({ kind: 'idle' });
  const names = (of: { username: string }[]) => of.map(({ username }) => username).toSorted();
  expect(names(listener.votes)).toEqual(names(votes));
});

it('a limited vote keeps its queue position, and timeline and listener say until when it waits', async () => {
  const { castMany, drain, listener, clock, vote, deps, serverId } = await limitedBench();
  listener.behaviour = { onConnect: 'close' };
  const votes = await castMany(20);
  for (let n = 0; n < 6; n += 1) {
    await drain();
    clock.move(SECOND);
    await deps.listeners.updateOne({ serverId }, { $set: { breaker: { failures: 0, tests: 0 } } });
    await deps.votes.updateMany({ serverId }, { $set: { 'delivery.nextAt': clock.now() } });
  }
  expect(listener.connections).toBe(5);
  const [, , , , , , sixth] = votes;
  if (!sixth) throw new Error('no vote');
  const shown = await showListener(deps, serverId);
  expect(shown).toMatchObject({ limited: { by: 'destination' }, pause: null });
  const until = shown?.limited?.until ?? new Date(0);
  const { status } = await voteTimeline(deps, await vote(sixth), shown, clock.now());
  expect(status).toMatchObject({ state: 'waiting', waitingFor: { kind: 'outgoing-limit', at: until } });

  // The sweep ignores the listener until then and wakes it afterwards, so Redis need not remember it.
  expect(await sweepDueWork(deps)).toMatchObject({ woken: 0 });
  listener.behaviour = {};
  clock.move(until.getTime() - clock.now().getTime());
  expect(await sweepDueWork(deps)).toMatchObject({ woken: 1 });
  await drain();
  expect(listener.votes).toHaveLength(20);
});

it('an acknowledgement ends the limit, so that the waiting votes are sent', async () => {
  const { castMany, drain, listener, deps, serverId } = await limitedBench({
    DESTINATION_LIMIT: '1',
    ACCOUNT_LIMIT: '1',
    LISTENER_TIMEOUT_MS: '8000',
    LEASE_MS: '34000',
  });
  // The listener took votes before, but its proof is too old or belongs to another address.
  const before = { lastDeliveredAt: new Date(), acknowledgedAt: new Date() };
  await deps.listeners.updateOne({ serverId }, { $set: before });
  await castMany(4);
  const limited = async () => (await deps.listeners.findOne({ serverId }))?.limited;
  listener.stall();
  const draining = drain();
  await vi.waitUntil(async () => listener.held === 1 && (await limited()), EVENTUALLY);
  listener.release();
  expect(await draining).toEqual({ kind: 'idle' });
  expect(listener.votes).toHaveLength(4);
  expect(await limited()).toBeNull();
});

it('an acknowledged test vote ends the limit, and so does a resume', async () => {
  const { deps, serverId, clock } = await limitedBench();
  const limited = { until: after(clock.now(), MINUTE), by: 'destination' as const };
  const limit = () => deps.listeners.updateOne({ serverId }, { $set: { limited } });
  const found = () => deps.listeners.findOne({ serverId });
  await limit();
  const send = createVoteSender(deps.config);
  expect(await diagnoseListener({ ...deps, send }, serverId)).toMatchObject({ outcome: 'delivered' });
  expect((await found())?.limited).toBeNull();
  await limit();
  await resumeListener(deps, serverId, 'test');
  expect((await found())?.limited).toBeNull();
});

it('a test that a limit left out is not said to be sent automatically', async () => {
  const { listener, deps, serverId } = await limitedBench();
  const unproven = {
    protocol: 'votifier-v2' as const,
    port: listener.port,
    proven: [],
    lastDeliveredAt: null,
  };
  const another = new Destination(deps, unproven, { accountId: null });
  while (await another.mayConnect('127.0.0.1'));
  const send = createVoteSender(deps.config);
  expect(await diagnoseListener({ ...deps, send }, serverId)).toMatchObject({
    outcome: 'none',
    fault: null,
    cause: expect.stringContaining('only so many connections a minute'),
    advice: 'Send the test vote again in a minute or two.',
  });
});

it('an attempt counts as limited, not as a failure of the listener, if a limit skipped one of its addresses', async () => {
  const { cast, listener, deps, serverId, vote, clock } = await limitedBench();
  // The port is occupied, so that nothing else listens on it at the dead address meanwhile.
  const { port } = listener;
  const waiting = await cast('Steve');
  const unproven = { protocol: 'votifier-v2' as const, port, proven: [], lastDeliveredAt: null };
  const healthy = new Destination(deps, unproven, { accountId: null });
  while (await healthy.mayConnect('127.0.0.1'));
  // A host with a healthy address, whose allowance is used up, and a dead address.
  const send: SendVote = async (_, __, { destination }) => {
    const dialled = await dial(
      ['127.0.0.1', '127.0.0.2'],
      port,
      deadlineIn(5 * SECOND),
      destination.mayConnect,
    );
    return typeof dialled === 'string' ? outcome(dialled, 'resolved') : outcome('our-fault', 'connected');
  };
  const until = new Date(clock.now().getTime() + MINUTE);
  expect(await drainHere(deps, serverId, {}, send)).toMatchObject({ until });
  expect((await vote(waiting)).delivery).toMatchObject({ state: 'waiting', attemptCount: 0, step: 0 });
  const found = await deps.listeners.findOne({ serverId });
  expect(found).toMatchObject({ limited: { by: 'destination', until }, breaker: { failures: 0 } });
});

it('a proof belongs to one address and port: another port begins without one, the same settings keep it', async () => {
  const { castMany, drain, set, deps, serverId } = await limitedBench();
  await castMany(1);
  await drain();
  const proven = async () => (await deps.listeners.findOne({ serverId }))?.proven;
  await set({ serviceName: 'Other' });
  expect(await proven()).toHaveLength(1);
  await set({ port: 8_192 });
  expect(await proven()).toEqual([]);
});

it('a proof expires after a week', async () => {
  const { cast, drain, listener, clock, deps, serverId } = await limitedBench();
  await cast('Alex');
  await drain();
  clock.move(8 * DAY);
  listener.behaviour = { onConnect: 'close' };
  await cast('Steve');
  for (let n = 0; n < 8; n += 1) {
    await deps.listeners.updateOne({ serverId }, { $set: { breaker: { failures: 0, tests: 0 } } });
    await deps.votes.updateMany({ serverId }, { $set: { 'delivery.nextAt': clock.now() } });
    await drain();
  }
  expect(listener.connections).toBe(1 + 5);
});

it('an owner resends at most 500 delivered votes of a server an hour; an operator any number', async () => {
  const bench = await ownerFixture(await openOwnerApp());
  const { deps, serverId, clock, post } = bench;
  clock.stop(new Date());
  const now = clock.now();
  const vote = await bench.cast('Steve');
  await bench.drain();
  const stored = await bench.vote(vote);
  const others = Array.from({ length: 502 }, (_, n) => ({
    ...stored,
    _id: new UUID(),
    username: `p${n}`,
    usernameKey: `p${n}`,
  }));
  await deps.votes.insertMany(others);
  const shown = new Date(now.getTime() + 1).toISOString();
  const refused = await post('/votes/resend', { state: 'delivered', shown });
  expect(refused.statusCode).toBe(429);
  expect(refused.body).toContain('500 votes queued again.');
  expect(Number(refused.headers['retry-after'])).toBe(3_600);
  expect(await deps.votes.countDocuments({ serverId, 'delivery.state': 'waiting' })).toBe(500);
  const left = await deps.votes.findOne({ serverId, 'delivery.state': 'delivered' });
  const one = await post(`/votes/${left?._id}/resend`, { twice: 'yes' });
  expect(one.statusCode).toBe(429);

  clock.move(HOUR);
  expect((await post(`/votes/${left?._id}/resend`, { twice: 'yes' })).statusCode).toBe(303);
  const range = { since: new Date(0), until: clock.now(), states: ['delivered' as const] };
  expect(await resendVotes(deps, serverId, range, 'operator')).toMatchObject({ resent: 2, more: false });
});
