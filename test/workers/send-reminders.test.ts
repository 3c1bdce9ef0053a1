import { expect, test, vi } from 'vitest';
import { after, DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { listServer } from '../history/samples.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

test('the scheduler and a worker find a due reminder, and move that of a player who has voted meanwhile', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const server = await listServer(deps);
  const [earlier, newer] = [after(now, -DAY), after(now, -MINUTE)];
  const vote = storedVote(server, 'Steve', earlier);
  await deps.votes.insertMany([vote, storedVote(server, 'Steve', newer, { seq: 2 })]);
  const at = { usedAt: earlier, createdAt: earlier, dueAt: after(now, -SECOND) };
  const browser = { sealed: '', host: 'push.example.org', publicKey: '', language: 'en', timeZone: 'UTC' };
  await deps.reminders.insertOne({ _id: 'browser', ...browser, votes: [vote._id], failures: 0, ...at });
  await startWorker(deps.config, { args: ['send-reminders'] });
  await startScheduler(deps.config);
  await vi.waitFor(async () => {
    const { dueAt } = (await deps.reminders.findOne({ _id: 'browser' })) ?? {};
    // In the morning, if a day after the vote is in the silent hours.
    expect(dueAt?.getTime()).toBeGreaterThanOrEqual(after(newer, DAY).getTime());
  }, EVENTUALLY);
});
