import { UUID } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { pauseListener, removeListener, showListener } from '../../src/delivery/change-listener.ts';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { createVoteSender } from '../../src/delivery/send-vote.ts';
import { sendTestVote } from '../../src/delivery/test-listener.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { putInState } from '../support/votes.ts';
import { startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps, type GameServer } from './game-server.ts';

it('queues a finished vote again, once, with a new schedule', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const cases = [
    { state: 'none', ends: {}, mayArriveTwice: false },
    { state: 'delivered', ends: { delivered: 1 }, mayArriveTwice: true },
    { state: 'unconfirmed', ends: { ambiguous: 3 }, mayArriveTwice: true },
    { state: 'failed', ends: { 'vote-only': 1 }, mayArriveTwice: false },
    { state: 'failed', ends: { transient: 12, ambiguous: 1 }, mayArriveTwice: true },
  ] as const;
  for (const [n, { state, ends, mayArriveTwice }] of cases.entries()) {
    const vote = await alpha.cast(`player ${n}`);
    await putInState(deps, vote, state, { ends, step: 3, ambiguousEnds: 2 });
    const answers = await Promise.all([1, 2, 3].map(() => resendVote(deps, vote._id, 'owner')));
    const resent = answers.filter(({ kind }) => kind === 'resent');
    expect(resent).toEqual([{ kind: 'resent', from: state, mayArriveTwice }]);
    expect(answers.filter(({ kind }) => kind === 'under-way')).toHaveLength(2);
    expect(await alpha.delivery(vote)).toMatchObject({
      state: 'waiting',
      step: 0,
      ambiguousEnds: 0,
      ends,
      events: [{ kind: 'resent' }],
    });
  }
  expect(await deps.auditLog.countDocuments({ action: 'vote.resend', by: 'owner' })).toBe(cases.length);

  await startWorker(deps.config);
  await vi.waitUntil(async () => (await alpha.count('delivered')) === cases.length, EVENTUALLY);
  expect(alpha.listener.votes).toHaveLength(cases.length);
});

it('does not resend a vote that is waiting or being sent, is too old, or has no listener', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const vote = await alpha.cast('Steve');
  for (const state of ['waiting', 'sending'] as const) {
    await putInState(deps, vote, state);
    expect(await resendVote(deps, vote._id, 'owner')).toEqual({ kind: 'under-way', state });
  }
  await putInState(deps, vote, 'failed');
  const late = { now: () => after(vote.votedAt, 30 * DAY) };
  expect(await resendVote({ ...deps, clock: late }, vote._id, 'owner')).toEqual({ kind: 'too-old' });
  await removeListener(deps, alpha.serverId, 'owner');
  expect(await resendVote(deps, vote._id, 'owner')).toEqual({ kind: 'no-listener' });
  expect(await resendVote(deps, new UUID(), 'owner')).toEqual({ kind: 'not-found' });
  expect(await alpha.delivery(vote)).toMatchObject({ state: 'failed', events: [] });
});

it('returns the outcome of a test vote in any state of the listener, and changes nothing but the stored outcome', async () => {
  const deps = await castingDeps();
  const alpha = await addGameServer(deps);
  const withSend = { ...deps, send: createVoteSender(deps.config) };
  const test = async ({ serverId }: GameServer) => {
    const listener = await deps.listeners.findOne({ serverId });
    return listener && sendTestVote(withSend, listener);
  };

  expect(await test(alpha)).toMatchObject({ code: 'acknowledged', durationMs: expect.any(Number) });
  expect(alpha.listener.votes).toMatchObject([{ username: 'TallyportTest' }]);

  await pauseListener(deps, alpha.serverId, 'owner');
  expect(await test(alpha)).toMatchObject({ code: 'acknowledged' });

  alpha.listener.tokens = { default: 'changed-in-the-plugin' };
  expect(await test(alpha)).toMatchObject({
    code: 'bad-signature',
    words: expect.stringContaining('Signature is not valid'),
  });
  const before = await showListener(deps, alpha.serverId);
  await alpha.listener.stop();
  for (let n = 0; n < 4; n += 1) expect(await test(alpha)).toMatchObject({ code: 'connection-refused' });
  expect(await showListener(deps, alpha.serverId)).toEqual({
    ...before,
    tested: { at: expect.any(Date), code: 'connection-refused' },
  });
  expect(before).toMatchObject({ state: 'paused', pause: { by: 'owner' }, breaker: { failures: 0 } });
  expect(await deps.votes.countDocuments({})).toBe(0);
});
