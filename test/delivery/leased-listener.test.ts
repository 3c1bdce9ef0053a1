import { expect, it } from 'vitest';
import { newAttempt } from '../../src/delivery/drain/attempt-record.ts';
import { LeasedListener } from '../../src/delivery/drain/leased-listener.ts';
import { openListener } from '../../src/delivery/send-vote.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import type { Batcher } from '../../src/platform/batching/batcher.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { deliveryBench } from '../support/delivering.ts';

/** A listener whose lease the test owns. */
async function leasedBench() {
  const bench = await deliveryBench();
  const { deps, serverId } = bench;
  const owner = 'this test';
  const lease = { owner, until: after(new Date(), MINUTE) };
  await deps.listeners.updateOne({ serverId }, { $set: { lease } });
  const stored = () => deps.listeners.findOne({ serverId });
  const listener = await stored();
  if (!listener) throw new Error('no listener');
  const open = (found: typeof listener) => openListener(deps.secrets, found);
  const leasedWith = (batcher: Batcher) =>
    new LeasedListener(
      { ...deps, batcher, open },
      { owner, since: performance.now(), facts: Promise.resolve([null, false]) },
      listener,
      open(listener),
    );
  return { ...bench, stored, leasedWith };
}

it('a change of a listener that could not be stored does not prevent later changes', async () => {
  const { deps, clock, stored, leasedWith } = await leasedBench();
  let isAway = true;
  const batcher: Batcher = {
    ...deps.batcher,
    load: (...asked) => (isAway ? Promise.reject(new Error('connection lost')) : deps.batcher.load(...asked)),
  };
  const leased = leasedWith(batcher);
  const until = after(clock.now(), MINUTE);
  await expect(leased.limit({ until, by: 'account' })).rejects.toThrow('connection lost');
  isAway = false;
  await leased.limit({ until, by: 'destination' });
  expect((await stored())?.limited).toMatchObject({ by: 'destination' });
});

it('a test vote that the listener takes during a lease shows that its settings work', async () => {
  const { deps, serverId, cast, clock, leasedWith } = await leasedBench();
  const vote = await cast('Nobody');
  const leased = leasedWith(deps.batcher);
  const attempt = newAttempt('here', leased.now, { test: false }, clock.now());
  const judged = () =>
    leased.judgeRefusal({ vote, attempt }, outcome('http-not-found', 'written'), async () => null);
  expect(await judged()).toMatchObject({ class: 'configuration' });
  const tested = { at: clock.now(), code: 'acknowledged' } as const;
  await deps.listeners.updateOne({ serverId }, { $set: { tested } });
  await leased.renew(0);
  expect(await judged()).toMatchObject({ code: 'vote-refused', class: 'vote-only' });
});

it('a refused vote waits if Tallyport could not send the challenge, and the next refusal sends another one', async () => {
  const { deps, serverId, cast, clock, leasedWith } = await leasedBench();
  const vote = await cast('Nobody');
  const proven = [{ address: '127.0.0.1', at: clock.now(), by: 'acknowledgement' as const }];
  await deps.listeners.updateOne(
    { serverId },
    { $set: { proven, acknowledgedAt: clock.now() }, $inc: { revision: 1 } },
  );
  const leased = leasedWith(deps.batcher);
  await leased.renew(0);
  const attempt = newAttempt('here', leased.now, { test: false }, clock.now());
  const judged = (challenge: () => Promise<ReturnType<typeof outcome> | null>) =>
    leased.judgeRefusal({ vote, attempt }, outcome('http-not-found', 'written'), challenge);
  for (const code of ['stopped-before-written', 'outgoing-limited', 'our-fault'] as const)
    expect(await judged(async () => outcome(code, 'none'))).toMatchObject({ code, class: 'none' });
  await expect(judged(() => Promise.reject(new Error('connection lost')))).rejects.toThrow('connection lost');
  expect(await judged(async () => null)).toMatchObject({ class: 'vote-only' });
});
