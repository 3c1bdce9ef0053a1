import type { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { depsAt, listServer } from './samples.ts';

const REPORT = { onlinePlayers: 1, maxPlayers: 2 };

/** Gives a server a vote listener that is unreachable. */
async function unreachableListener(deps: AppDeps, serverId: ObjectId) {
  const settings = { protocol: 'votifier-v2', host: '127.0.0.1', port: 8_192, serviceName: 'T' } as const;
  const secret = new VotifierListener().token;
  const { _id } = await setListener(deps, serverId, { ...settings, secret }, 'test');
  const testedNext = async () => (await deps.listeners.findOne({ _id }))?.breaker.nextTestAt;
  return {
    testedNext,
    /** It has just failed a test. */
    async fail() {
      const now = deps.clock.now();
      const breaker = { failures: 3, tests: 4, openSince: now, nextTestAt: after(now, HOUR) };
      await deps.listeners.updateOne({ _id }, { $set: { breaker } });
      await deps.queues['test-listeners'].obliterate({ force: true });
    },
  };
}

it('tests an unreachable vote listener when a server reports again after over 15 minutes, and not before', async () => {
  const deps = await depsAt('2028-03-01T12:00:00Z');
  const { clock } = deps;
  const serverId = await listServer(deps);
  const listener = await unreachableListener(deps, serverId);
  const testedNow = async () => {
    await listener.fail();
    await reportStatus(deps, serverId, REPORT);
    return (await listener.testedNext())?.getTime() === clock.now().getTime();
  };
  expect(await testedNow()).toBe(true);
  expect(await deps.queues['test-listeners'].getWaitingCount()).toBe(1);
  clock.move(15 * MINUTE);
  expect(await testedNow()).toBe(false);
  expect(await deps.queues['test-listeners'].getWaitingCount()).toBe(0);
  clock.move(15 * MINUTE + 1);
  expect(await testedNow()).toBe(true);
  clock.move(MINUTE);
  expect(await testedNow()).toBe(false);
});

it('keeps the values that a report omits, also with concurrent reports', async () => {
  const deps = await depsAt('2028-03-01T12:00:00Z');
  const serverIds = await Promise.all(Array.from({ length: 5 }, () => listServer(deps)));
  const reportAll = (more: object) =>
    Promise.all(serverIds.map((serverId) => reportStatus(deps, serverId, { ...REPORT, ...more })));
  await reportAll({ motd: 'Welcome', version: '1.21', latencyMs: 12 });
  deps.clock.move(6 * MINUTE);
  expect(await reportAll({ version: '1.22' })).toMatchObject(serverIds.map(() => ({ kind: 'accepted' })));
  for (const _id of serverIds)
    expect((await deps.servers.findOne({ _id }))?.current).toMatchObject({
      motd: 'Welcome',
      version: '1.22',
      reportedLatencyMs: 12,
    });
});
