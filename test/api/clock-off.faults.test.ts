import { expect, onTestFinished, test } from 'vitest';
import { HOUR } from '../../src/platform/clock.ts';
import { startApp } from '../support/start-app.ts';
import { startWeb } from '../support/web-process.ts';

test('a process whose clock is an hour ahead does not change a player’s 24 hours', async () => {
  const right = await startApp();
  onTestFinished(() => right.close());
  const server = await right.addServer();
  const { url: ahead } = await startWeb({ ...right.env, CLOCK_OFFSET_MS: String(25 * HOUR) });
  expect((await right.vote(server, 'Steve')).status).toBe(200);
  const [again, other] = [await right.vote(server, 'Steve', {}, ahead), await right.vote(server, 'Steve')];
  expect([again.status, other.status]).toEqual([503, 429]);
  expect(await right.deps.votes.countDocuments({ serverId: server.serverId })).toBe(1);
});
