import { expect, test, vi } from 'vitest';
import { writeVotes } from '../../../src/import-export/import-votes.ts';
import { after, DAY, HOUR, SECOND } from '../../../src/platform/clock.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { ImportedCooldowns, NEWEST_IMPORT } from '../../../src/votes/cast/imported-cooldowns.ts';
import { castVote } from '../../support/casting.ts';
import { EVENTUALLY } from '../../support/eventually.ts';
import { startApp } from '../../support/start-app.ts';

/** A web process of its own, whose monotonic clock the test moves. */
async function processAndServer() {
  const { deps, addServer } = await startApp();
  await deps.importMarks.deleteMany({});
  const { serverId } = await addServer();
  let moved = 0;
  const real = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + moved);
  const importedCooldowns = new ImportedCooldowns(deps.importMarks);
  const web = { ...deps, importedCooldowns };
  return {
    deps,
    serverId,
    web,
    clock,
    later: (ms: number) => {
      moved += ms;
    },
    mayRun: () => importedCooldowns.mayRun(deps.clock.now()),
    knows: (what: boolean) =>
      vi.waitUntil(() => importedCooldowns.mayRun(deps.clock.now()) === what, EVENTUALLY),
  };
}

test('while no import has announced a cooldown, a player who has voted costs one read', async () => {
  const { web, serverId, knows } = await processAndServer();
  await castVote(web, { serverId, username: 'Steve', tokenId: null });
  await knows(false);
  const reads = vi.spyOn(web.votes, 'findOne');
  expect((await checkVote(web, serverId, 'Steve')).hasVoted).toBe(true);
  expect(reads).toHaveBeenCalledTimes(1);
});

test('an import blocks the player in a process that knew of none, before its votes are written', async () => {
  const { deps, web, serverId, knows, mayRun, later } = await processAndServer();
  // Two days ago Steve voted here, an hour ago at the other listing.
  await castVote(web, { serverId, username: 'Steve', tokenId: null });
  await deps.votes.updateMany({}, { $set: { votedAt: after(deps.clock.now(), -2 * DAY) } });
  await knows(false);
  const votedAt = after(deps.clock.now(), -HOUR);
  await writeVotes(deps, [{ serverId, username: 'Steve', votedAt }]);
  expect(await deps.importMarks.findOne({ _id: NEWEST_IMPORT })).toMatchObject({
    cooldownsEndAt: after(votedAt, DAY),
  });
  later(6 * SECOND);
  mayRun();
  await knows(true);
  expect(await checkVote(web, serverId, 'Steve')).toMatchObject({ hasVoted: true, votedAt });
});

test('a process that cannot read the mark for ten seconds makes both reads', async () => {
  const { deps, knows, mayRun, later } = await processAndServer();
  await knows(false);
  vi.spyOn(deps.importMarks, 'findOne').mockRejectedValue(new Error('no MongoDB'));
  later(9 * SECOND);
  expect(mayRun()).toBe(false);
  later(2 * SECOND);
  expect(mayRun()).toBe(true);
});

test('an import of old votes announces nothing and does not wait', async () => {
  const { deps, serverId } = await processAndServer();
  const waiting = { ...deps, importedCooldowns: new ImportedCooldowns(deps.importMarks) };
  await writeVotes(waiting, [{ serverId, username: 'Steve', votedAt: after(deps.clock.now(), -2 * DAY) }]);
  expect(await deps.importMarks.countDocuments()).toBe(0);
});
