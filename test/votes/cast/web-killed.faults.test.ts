import { once } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MINUTE } from '../../../src/platform/clock.ts';
import { repairOpenCounters } from '../../../src/votes/repair-counters.ts';
import { voteFigures } from '../../../src/votes/vote-figures.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { startApp } from '../../support/start-app.ts';
import { startWeb } from '../../support/web-process.ts';

it('what a killed web process had not written yet is counted by the repair, two minutes later', async () => {
  const tallyport = await startApp();
  onTestFinished(() => tallyport.close());
  const { deps, clock } = tallyport;
  const servers = [await tallyport.addServer(), await tallyport.addServer()];
  const [dying, staying] = await Promise.all([startWeb(tallyport.env), startWeb(tallyport.env)]);
  const votesOf = (serverId: (typeof servers)[0]['serverId']) => deps.votes.countDocuments({ serverId });
  const countedOf = async (serverId: (typeof servers)[0]['serverId']) =>
    (await voteFigures(deps, serverId)).allTimeVotes;
  const uncounted = async () => {
    const found = servers.map(
      async ({ serverId }) => (await votesOf(serverId)) - (await countedOf(serverId)),
    );
    return (await Promise.all(found)).reduce((sum, votes) => sum + votes, 0);
  };

  const enough = new AbortController();
  onTestFinished(() => enough.abort());
  let players = 0;
  const cast = async (url: string) => {
    while (!enough.signal.aborted) {
      players += 1;
      const server = servers[players % 2];
      if (!server) throw new Error('no server');
      // Nobody answers at a process that was killed.
      const answer = await tallyport.vote(server, `Player${players}`, {}, url).catch(() => null);
      if (answer === null) return;
      // A busy machine refuses some; what is stored counts.
      expect([200, 503]).toContain(answer.status);
    }
  };
  const casts = [dying, dying, dying, dying, staying].map(({ url }) => cast(url));
  await vi.waitFor(async () => expect(await deps.votes.countDocuments()).toBeGreaterThan(200), EVENTUALLY);
  dying.child.kill('SIGKILL');
  await once(dying.child, 'exit');
  enough.abort();
  await Promise.all(casts);
  staying.child.kill('SIGTERM');
  expect(await staying.ended).toBe(0);
  // All that is missing is what the killed process had pending.
  expect(await uncounted()).toBeGreaterThanOrEqual(0);
  await repairOpenCounters(deps);
  clock.move(2 * MINUTE);
  await repairOpenCounters(deps);
  expect(await uncounted()).toBe(0);
  for (const { serverId } of servers) expect(await countedOf(serverId)).toBe(await votesOf(serverId));
}, 90_000);

it('a web process that is stopped writes what it has pending first', async () => {
  const tallyport = await startApp();
  onTestFinished(() => tallyport.close());
  const { deps } = tallyport;
  const server = await tallyport.addServer();
  const web = await startWeb(tallyport.env);
  const vote = (name: string) => tallyport.vote(server, name, {}, web.url);
  // A busy machine may refuse the first one.
  await vi.waitFor(async () => expect((await vote('First')).status).toBe(200), EVENTUALLY);
  const votes = Array.from({ length: 50 }, (_, i) => vote(`Player${i}`));
  const accepted = 1 + (await Promise.all(votes)).filter(({ status }) => status === 200).length;
  web.child.kill('SIGTERM');
  expect(await web.ended).toBe(0);
  expect((await voteFigures(deps, server.serverId)).allTimeVotes).toBe(accepted);
});
