import { expect, test, vi } from 'vitest';
import { writeVotes } from '../../../src/import-export/import-votes.ts';
import { after, DAY, HOUR, SECOND } from '../../../src/platform/clock.ts';
import { checkVote } from '../../../src/votes/cast/cooldown.ts';
import { ImportedCooldowns, MARK, SETTLED_MS } from '../../../src/votes/cast/imported-cooldowns.ts';
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
    mayBlock: () => importedCooldowns.mayBlock(deps.clock.now()),
    knows: (what: boolean) =>
      vi.waitUntil(() => importedCooldowns.mayBlock(deps.clock.now()) === what, EVENTUALLY),
  };
}

test('while no import has announced a cooldown, a player who has voted costs one read', async () => {
  const { web, serverId, knows } = await processAndServer();
  await castVote(web, { serverId, username: 'Steve', tokenId: null });
  await knows(false);
  const commands = vi.spyOn(web.votes.db, 'command');
  expect((await checkVote(web, serverId, 'Steve')).hasVoted).toBe(true);
  expect(commands.mock.calls.filter(([{ find }]) => find === 'votes')).toHaveLength(1);
});

test('an import blocks the player in a process that knew of none, before its votes are written', async () => {
  const { deps, web, serverId, knows, mayBlock, later } = await processAndServer();
  // Two days ago Steve voted here, an hour ago at the other listing.
  await castVote(web, { serverId, username: 'Steve', tokenId: null });
  await deps.votes.updateMany({}, { $set: { votedAt: after(deps.clock.now(), -2 * DAY) } });
  await knows(false);
  const votedAt = after(deps.clock.now(), -HOUR);
  await writeVotes(deps, [{ serverId, username: 'Steve', votedAt }]);
  expect(await deps.importMarks.findOne({ _id: MARK })).toMatchObject({
    cooldownsEndAt: after(votedAt, DAY),
  });
  later(6 * SECOND);
  mayBlock();
  await knows(true);
  expect(await checkVote(web, serverId, 'Steve')).toMatchObject({ hasVoted: true, votedAt });
});

test('a process that cannot read the mark for ten seconds makes both reads', async () => {
  const { deps, knows, mayBlock, later } = await processAndServer();
  await knows(false);
  vi.spyOn(deps.importMarks, 'findOne').mockRejectedValue(new Error('no MongoDB'));
  later(9 * SECOND);
  expect(mayBlock()).toBe(false);
  later(2 * SECOND);
  expect(mayBlock()).toBe(true);
});

/** The pauses of 20 seconds that have begun; each ends when the test calls it. */
function pausesOfImports(): (() => void)[] {
  const begun: (() => void)[] = [];
  const real = globalThis.setTimeout;
  const hold = (end: () => void, ms?: number) => {
    if (ms !== SETTLED_MS) return real(end, ms);
    begun.push(end);
    return real(() => undefined, 0);
  };
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(hold as never);
  return begun;
}

test('each import waits before it writes, also one that finds the mark of an import that died', async () => {
  const { deps, serverId } = await processAndServer();
  const pauses = pausesOfImports();
  const votedAt = after(deps.clock.now(), -HOUR);
  const importing = (username: string) =>
    writeVotes({ ...deps, importedCooldowns: new ImportedCooldowns(deps.importMarks) }, [
      { serverId, username, votedAt },
    ]);
  const died = importing('Steve');
  await vi.waitUntil(() => pauses.length === 1, EVENTUALLY);
  const again = importing('Alex');
  await vi.waitUntil(() => pauses.length === 2, EVENTUALLY);
  expect(await deps.votes.countDocuments()).toBe(0);
  for (const end of pauses) end();
  await Promise.all([died, again]);
  expect(await deps.votes.countDocuments()).toBe(2);
});

test('an import waits once, however many of its batches have recent votes', async () => {
  const { deps, serverId } = await processAndServer();
  const pauses = pausesOfImports();
  const importer = { ...deps, importedCooldowns: new ImportedCooldowns(deps.importMarks) };
  const now = deps.clock.now();
  const batch = (username: string, ms: number) =>
    writeVotes(importer, [{ serverId, username, votedAt: after(now, -ms) }]);
  const first = batch('Steve', 2 * HOUR);
  await vi.waitUntil(() => pauses.length === 1, EVENTUALLY);
  pauses[0]?.();
  await first;
  await batch('Alex', HOUR);
  expect(pauses).toHaveLength(1);
  expect(await deps.importMarks.findOne()).toMatchObject({
    cooldownsEndAt: after(now, DAY - HOUR),
  });
});

test('an import of old votes announces nothing and does not wait', async () => {
  const { deps, serverId } = await processAndServer();
  const waiting = { ...deps, importedCooldowns: new ImportedCooldowns(deps.importMarks) };
  await writeVotes(waiting, [{ serverId, username: 'Steve', votedAt: after(deps.clock.now(), -2 * DAY) }]);
  expect(await deps.importMarks.countDocuments()).toBe(0);
});
