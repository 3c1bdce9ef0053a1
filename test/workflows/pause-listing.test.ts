import { expect, it } from 'vitest';
import { statusAt } from '../../src/history/current-status.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Ask } from '../../src/probing/ask.ts';
import { checkServer, checkTakenServer } from '../../src/probing/check-server.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import {
  checkPausedServer,
  duePauses,
  pauseListing,
  resumeDueListing,
  resumeListing,
} from '../../src/workflows/pause-listing.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { type ProbingBench, probingBench } from '../probing/probing-bench.ts';

const BY = 'olivia@example.org';

async function probe({ deps, checkDeps, serverId }: ProbingBench) {
  await takeDueServers(deps);
  const checked = await checkTakenServer(checkDeps, serverId);
  await deps.queues['probe-servers'].obliterate({ force: true });
  return checked;
}

const status = async (bench: ProbingBench) => statusAt(await bench.server(), bench.clock.now());
const audit = async ({ deps, serverId }: ProbingBench) =>
  (
    await deps.auditLog
      .find({ serverId, action: /^pause\./ })
      .sort({ _id: 1 })
      .toArray()
  ).map(({ action, by }) => `${action} by ${by}`);

/** A server that was probed and is online. */
async function online(): Promise<ProbingBench> {
  const bench = await probingBench();
  await probe(bench);
  return bench;
}

it('a pause stops the probes and makes the status unknown; its end makes the server due at once', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  const until = after(clock.now(), 10 * DAY);
  const begun = await pauseListing(deps, serverId, { until, text: ' Season over ' }, BY);
  expect(begun).toEqual({
    kind: 'paused',
    pause: { at: clock.now(), until, text: 'Season over' },
    isNew: true,
  });
  expect(await status(bench)).toBe('unknown');
  clock.move(HOUR);
  // An edit resets the probe state, and the server is not probed even so.
  await editServer(deps, serverId, { queryPort: 25_566 }, BY);
  await editServer(deps, serverId, { queryPort: null }, BY);
  expect(await takeDueServers(deps)).toBe(0);

  expect(await resumeListing(deps, serverId, BY)).toMatchObject({ text: 'Season over' });
  expect(await status(bench)).toBe('unknown');
  expect(await probe(bench)).toMatchObject({ kind: 'recorded', end: 'answered' });
  expect(await status(bench)).toBe('online');
  expect(await resumeListing(deps, serverId, BY)).toBeNull();
  expect(await audit(bench)).toEqual([`pause.begin by ${BY}`, `pause.end by ${BY}`]);
});

it('a short pause does not let the status of before return', async () => {
  const bench = await online();
  await pauseListing(bench.deps, bench.serverId, {}, BY);
  bench.clock.move(SECOND);
  await resumeListing(bench.deps, bench.serverId, BY);
  expect(await status(bench)).toBe('unknown');
});

it('the result of a probe that was under way is void', async () => {
  const bench = await online();
  const { deps, serverId, checkDeps } = bench;
  bench.clock.move(6 * MINUTE);
  await takeDueServers(deps);
  const ask: Ask = async (...asked) => {
    const answer = await checkDeps.ask(...asked);
    await pauseListing(deps, serverId, {}, BY);
    return answer;
  };
  expect(await checkTakenServer({ ...checkDeps, ask }, serverId)).toEqual({ kind: 'void' });
  expect(await bench.samples()).toHaveLength(1);
});

it('does not begin while the server is offline, while a check has failed, and before the check after an edit', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  const refusal = async () => (await pauseListing(deps, serverId, {}, BY)).kind;
  await bench.gameServer.stop();
  clock.move(6 * MINUTE);
  await probe(bench);
  expect(await refusal()).toBe('not-known');
  for (let failures = 0; failures < 3; failures += 1) {
    clock.move(6 * MINUTE);
    await probe(bench);
  }
  expect(await status(bench)).toBe('offline');
  expect(await refusal()).toBe('offline');
  // No fresh check: the outage is not over.
  clock.move(2 * DAY);
  expect(await status(bench)).toBe('unknown');
  expect(await refusal()).toBe('offline');
  // An edit clears the outage, and the address is the same.
  await editServer(deps, serverId, { queryPort: 25_566 }, BY);
  expect(await refusal()).toBe('not-known');
  expect((await bench.server()).listingPause).toBeUndefined();
});

it('does not begin when the game was emptied in an outage', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  await bench.gameServer.stop();
  for (let failures = 0; failures < 4; failures += 1) {
    clock.move(6 * MINUTE);
    await probe(bench);
  }
  await editServer(deps, serverId, { game: null }, BY);
  expect((await pauseListing(deps, serverId, {}, BY)).kind).toBe('not-known');
});

it('a server that reports can be paused while its report is valid', async () => {
  const bench = await probingBench();
  const { deps, serverId, clock } = bench;
  await editServer(deps, serverId, { game: null }, BY);
  await reportStatus(deps, serverId, { onlinePlayers: 3, maxPlayers: 10 });
  clock.move(16 * MINUTE);
  expect(await pauseListing(deps, serverId, {}, BY)).toEqual({ kind: 'not-known' });
  await reportStatus(deps, serverId, { onlinePlayers: 3, maxPlayers: 10 });
  expect(await pauseListing(deps, serverId, {}, BY)).toMatchObject({ kind: 'paused' });
  clock.move(6 * MINUTE);
  expect((await reportStatus(deps, serverId, { onlinePlayers: 5, maxPlayers: 10 })).kind).toBe('accepted');
  expect((await bench.server()).current.onlinePlayers).toBe(5);
  expect(await status(bench)).toBe('unknown');
  // The report of the pause does not count afterwards.
  clock.move(SECOND);
  await resumeListing(deps, serverId, BY);
  expect(await status(bench)).toBe('unknown');
  clock.move(6 * MINUTE);
  await reportStatus(deps, serverId, { onlinePlayers: 6, maxPlayers: 10 });
  expect(await status(bench)).toBe('online');
});

it('begins twice in 30 days, whoever presses and however often', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  const first = clock.now();
  for (let pauses = 0; pauses < 2; pauses += 1) {
    expect(await pauseListing(deps, serverId, {}, BY)).toMatchObject({ isNew: true });
    clock.move(DAY);
    await resumeListing(deps, serverId, BY);
    // Not again before the server was seen.
    expect(['not-known', 'too-many']).toContain((await pauseListing(deps, serverId, {}, 'cli')).kind);
    await probe(bench);
  }
  const nextAt = after(first, 30 * DAY);
  expect(await pauseListing(deps, serverId, {}, 'cli')).toEqual({ kind: 'too-many', nextAt });
  clock.set(nextAt);
  await probe(bench);
  expect(await pauseListing(deps, serverId, {}, BY)).toMatchObject({ isNew: true });
});

it('of ten presses at once, one begins the pause and the others change nothing of its beginning', async () => {
  const bench = await online();
  const { deps, serverId } = bench;
  const presses = await Promise.all(
    Array.from({ length: 10 }, () => pauseListing(deps, serverId, { text: 'Moving' }, BY)),
  );
  expect(presses.filter((press) => press.kind === 'paused' && press.isNew)).toHaveLength(1);
  bench.clock.move(HOUR);
  const ends = await Promise.all(Array.from({ length: 10 }, () => resumeListing(deps, serverId, BY)));
  expect(ends.filter(Boolean)).toHaveLength(1);
  expect((await bench.server()).earlierPauses).toHaveLength(1);
});

it('another press changes the date and the sentence, not the beginning', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  const at = clock.now();
  await pauseListing(deps, serverId, { text: 'Moving' }, BY);
  clock.move(HOUR);
  const until = after(at, DAY);
  expect(await pauseListing(deps, serverId, { until }, 'cli')).toEqual({
    kind: 'paused',
    pause: { at, until },
    isNew: false,
  });
  expect(await audit(bench)).toEqual([`pause.begin by ${BY}`, 'pause.change by cli']);
});

it.each([
  ['now', 0],
  ['in the past', -DAY],
  ['in two years', 731 * DAY],
])('a date of return %s is refused', async (_when, ms) => {
  const bench = await probingBench();
  const until = after(bench.clock.now(), ms);
  await expect(pauseListing(bench.deps, bench.serverId, { until }, BY)).rejects.toThrow(
    'The date of return must be later than now, and at most 366 days away.',
  );
});

it('ends by its date, at that date, once, however late and often a worker looks', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  const from = clock.now();
  const until = after(from, DAY);
  await pauseListing(deps, serverId, { until }, BY);
  expect(await duePauses(deps)).toEqual([]);
  expect(await resumeDueListing(deps, serverId)).toBe(false);
  clock.set(after(until, 3 * HOUR));
  expect(await duePauses(deps)).toEqual([serverId]);
  const runs = await Promise.all(Array.from({ length: 5 }, () => resumeDueListing(deps, serverId)));
  expect(runs.filter(Boolean)).toHaveLength(1);
  expect(await duePauses(deps)).toEqual([]);
  expect(await bench.server()).toMatchObject({ earlierPauses: [{ from, until }] });
  expect((await bench.server()).listingPause).toBeUndefined();
  expect(await audit(bench)).toEqual([`pause.begin by ${BY}`, 'pause.end by tallyport']);
  expect(await probe(bench)).toMatchObject({ kind: 'recorded' });
});

it('a worker that has read an old date does not end a pause whose date was moved', async () => {
  const bench = await online();
  const { deps, serverId, clock } = bench;
  await pauseListing(deps, serverId, { until: after(clock.now(), HOUR) }, BY);
  const later = { ...deps, clock: { now: () => after(clock.now(), 2 * HOUR) } };
  const servers = new Proxy(deps.servers, {
    get(target, name, receiver) {
      if (name !== 'findOne') return Reflect.get(target, name, receiver);
      return async (...query: Parameters<typeof target.findOne>) => {
        const found = await target.findOne(...query);
        await pauseListing(deps, serverId, { until: after(clock.now(), DAY) }, BY);
        return found;
      };
    },
  });
  expect(await resumeDueListing({ ...later, servers }, serverId)).toBe(false);
  expect((await bench.server()).listingPause?.until).toEqual(after(clock.now(), DAY));
});

it('after its date a new pause can begin before a worker has ended the old one', async () => {
  const bench = await probingBench();
  const { deps, serverId, clock } = bench;
  // Never checked: nothing is known against it.
  await pauseListing(deps, serverId, { until: after(clock.now(), HOUR) }, BY);
  clock.move(2 * HOUR);
  expect(await pauseListing(deps, serverId, {}, BY)).toMatchObject({ isNew: true });
  expect((await bench.server()).earlierPauses).toHaveLength(1);
});

it('ends after a check if the server answers, and goes on if it does not', async () => {
  const bench = await online();
  const { deps, serverId, gameServer } = bench;
  const { ask } = bench.checkDeps;
  expect(await checkPausedServer({ ...deps, ask }, serverId, BY)).toEqual({ kind: 'not-paused' });
  await pauseListing(deps, serverId, {}, BY);
  await gameServer.stop();
  expect(await checkPausedServer({ ...deps, ask }, serverId, BY)).toMatchObject({ kind: 'no-answer' });
  expect((await bench.server()).listingPause).toBeDefined();
  await gameServer.start();
  expect(await checkPausedServer({ ...deps, ask }, serverId, BY)).toEqual({ kind: 'resumed' });
  expect((await bench.server()).listingPause).toBeUndefined();
});

it('a check by an operator in a pause neither ends it nor counts', async () => {
  const bench = await online();
  const { deps, serverId, checkDeps } = bench;
  await pauseListing(deps, serverId, {}, BY);
  bench.clock.move(HOUR);
  expect(await checkServer(checkDeps, await bench.server())).toMatchObject({ end: 'answered' });
  expect(await status(bench)).toBe('unknown');
  expect(await takeDueServers(deps)).toBe(0);
});

it('a removed server is neither paused nor resumed', async () => {
  const bench = await online();
  const { deps, serverId } = bench;
  await pauseListing(deps, serverId, { until: after(bench.clock.now(), HOUR) }, BY);
  await removeServer(deps, serverId, BY);
  bench.clock.move(2 * HOUR);
  expect(await duePauses(deps)).toEqual([]);
  expect(await resumeListing(deps, serverId, BY)).toBeNull();
  expect(await pauseListing(deps, serverId, {}, BY)).toEqual({ kind: 'not-listed' });
});
