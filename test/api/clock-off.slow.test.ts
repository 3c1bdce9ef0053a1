import { expect, onTestFinished, test } from 'vitest';
import { HOUR, SECOND } from '../../src/platform/clock.ts';
import { startApp } from '../support/start-app.ts';

const CLOCK_OFF = 'The clock of this process is wrong: try again in a few seconds.';
const REPORT = { online_players: 1, max_players: 2 };

/** A platform whose machine's clock is `ms` ahead of MongoDB's. */
async function depsAhead(ms: number) {
  const tallyport = await startApp({ CLOCK_OFFSET_MS: String(ms) });
  onTestFinished(() => tallyport.close());
  return { tallyport, server: await tallyport.addServer() };
}

test.each([
  HOUR,
  -HOUR,
  3 * SECOND,
  -3 * SECOND,
])('a process whose clock is %s ms ahead casts no vote and accepts no report', async (ms) => {
  const { tallyport, server } = await depsAhead(ms);
  const answers = await Promise.all([
    tallyport.vote(server, 'Steve'),
    tallyport.vote(server, 'Alex', { 'idempotency-key': 'key' }),
    tallyport.report(server, REPORT),
    tallyport.call(server, 'check-vote?username=Steve'),
  ]);
  for (const { status, headers, body } of answers) {
    expect([status, body, headers.get('retry-after')]).toMatchObject([
      503,
      { error: CLOCK_OFF, code: 'clock-wrong' },
      '5',
    ]);
  }
  const { votes, idempotencyKeys, statusSamples, servers } = tallyport.deps;
  const { serverId } = server;
  expect(await votes.countDocuments({ serverId })).toBe(0);
  expect(await idempotencyKeys.countDocuments({ serverId })).toBe(0);
  expect(await statusSamples.countDocuments({ serverId })).toBe(0);
  expect(await servers.findOne({ _id: serverId })).toMatchObject({ lastReport: null });
  // Endpoints that do not depend on the clock still answer.
  expect((await tallyport.call(server, 'info')).status).toBe(200);
  expect((await tallyport.call(server, 'reviews')).status).toBe(200);
});

test.each([SECOND, -SECOND])('a clock that is %s ms ahead is accepted', async (ms) => {
  const { tallyport, server } = await depsAhead(ms);
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
  expect((await tallyport.report(server, REPORT)).status).toBe(200);
  expect((await tallyport.call(server, 'check-vote?username=Steve')).body.has_voted).toBe(true);
});
