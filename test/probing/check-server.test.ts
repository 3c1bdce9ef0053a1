import { UUID } from 'mongodb';
import { expect, it } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { latencyAt, playersSource, sourceAt, statusAt } from '../../src/history/current-status.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { REACHABLE } from '../../src/listeners/listener.ts';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Ask } from '../../src/probing/ask.ts';
import { checkServer, checkTakenServer } from '../../src/probing/check-server.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { type ProbingBench, probingBench } from './probing-bench.ts';

/** One round: the server, if it is due, is claimed and checked. */
async function probe({ deps, checkDeps, serverId }: ProbingBench) {
  await takeDueServers(deps);
  const checked = await checkTakenServer(checkDeps, serverId);
  await deps.queues['probe-servers'].obliterate({ force: true });
  return checked;
}

/** The same bench, with an action during the query. */
function meanwhile(bench: ProbingBench, happens: () => Promise<unknown>): ProbingBench {
  const ask: Ask = async (...asked) => {
    const answer = await bench.checkDeps.ask(...asked);
    await happens();
    return answer;
  };
  return { ...bench, checkDeps: { ...bench.checkDeps, ask } };
}

it('records an answer: figures, state and a sample for the planned interval', async () => {
  const bench = await probingBench();
  bench.gameServer.said = { motd: 'Hello', version: '1.21', online: 7, max: 30 };
  expect(await probe(bench)).toMatchObject({ kind: 'recorded', end: 'answered' });
  const server = await bench.server();
  const now = bench.clock.now();
  expect(server.current).toMatchObject({ onlinePlayers: 7, maxPlayers: 30, motd: 'Hello', version: '1.21' });
  expect(server.current.checkedAt).toEqual(now);
  expect(statusAt(server, now)).toBe('online');
  expect(latencyAt(server, now)).toBeGreaterThanOrEqual(0);
  expect(await bench.samples()).toMatchObject([
    { at: now, source: 'probe', status: 'online', seconds: server.probe.claimSeconds, onlinePlayers: 7 },
  ]);
});

it('keeps the last figures through failures, and records when it was checked', async () => {
  const bench = await probingBench();
  await probe(bench);
  await bench.gameServer.stop();
  bench.clock.move(6 * MINUTE);
  expect(await probe(bench)).toMatchObject({ kind: 'recorded', end: 'failed' });
  const server = await bench.server();
  expect(server.current).toMatchObject({ onlinePlayers: 3, motd: 'A quiet place' });
  expect(server.current.checkedAt).toEqual(bench.clock.now());
  expect((await bench.samples()).at(-1)).toMatchObject({ status: 'unknown', reason: 'unconfirmed' });
});

it('keeps the last message and version when an answer has none', async () => {
  const bench = await probingBench();
  await probe(bench);
  bench.gameServer.said = { motd: '', version: '', online: 1, max: 1 };
  bench.clock.move(6 * MINUTE);
  await probe(bench);
  expect((await bench.server()).current).toMatchObject({
    motd: 'A quiet place',
    version: '1.21.4',
    maxPlayers: 1,
  });
});

const HIDDEN = { description: 'Quiet', version: { name: '1.21.4' }, players: {} };

it('is online with unknown players when the answer hides them, until it says a number again', async () => {
  const bench = await probingBench();
  await probe(bench);
  bench.gameServer.status = HIDDEN;
  bench.clock.move(6 * MINUTE);
  await probe(bench);
  const hiding = await bench.server();
  expect(statusAt(hiding, bench.clock.now())).toBe('online');
  expect(hiding.current).toMatchObject({
    onlinePlayers: 0,
    playersHidden: true,
    maxPlayers: 0,
    motd: 'Quiet',
  });
  expect((await bench.samples()).map(({ status, onlinePlayers }) => [status, onlinePlayers])).toEqual([
    ['online', 3],
    ['online', null],
  ]);
  bench.gameServer.status = undefined;
  bench.clock.move(6 * MINUTE);
  await probe(bench);
  expect((await bench.server()).current).toMatchObject({
    onlinePlayers: 3,
    playersHidden: false,
    maxPlayers: 20,
  });
});

it('keeps the number of a report for 15 minutes when the answer hides the players', async () => {
  const bench = await probingBench();
  bench.gameServer.status = HIDDEN;
  await probe(bench);
  const reports = { ...bench.deps, wakeListener: async () => undefined };
  await reportStatus(reports as never, bench.serverId, { onlinePlayers: 9, maxPlayers: 40 });
  const seen = [];
  for (const minutes of [6, 6, 6]) {
    bench.clock.move(minutes * MINUTE);
    await probe(bench);
    const { current } = await bench.server();
    seen.push([current.onlinePlayers, current.maxPlayers, current.playersHidden, current.playersSource]);
  }
  expect(seen).toEqual([
    [9, 40, false, 'reports'],
    [9, 40, false, 'reports'],
    [0, 0, true, 'probes'],
  ]);
});

it('counts a job that runs twice once, also at the same time', async () => {
  const bench = await probingBench();
  await takeDueServers(bench.deps);
  const ends = await Promise.all([1, 2, 3].map(() => checkTakenServer(bench.checkDeps, bench.serverId)));
  expect(ends.map(({ kind }) => kind).toSorted()).toEqual(['recorded', 'void', 'void']);
  expect(await checkTakenServer(bench.checkDeps, bench.serverId)).toEqual({ kind: 'void' });
  expect(await bench.samples()).toHaveLength(1);
});

it('voids a check after a later claim, an edit or a removal', async () => {
  const bench = await probingBench();
  const { deps, clock, serverId } = bench;
  const late = meanwhile(bench, async () => {
    clock.move(10 * MINUTE);
    await takeDueServers(deps);
  });
  expect(await probe(late)).toEqual({ kind: 'void' });

  clock.move(10 * MINUTE);
  await bench.gameServer.stop();
  const edited = meanwhile(bench, () => editServer(deps, serverId, { port: 4 }, 'test'));
  expect(await probe(edited)).toEqual({ kind: 'void' });
  expect((await bench.server()).probe).toMatchObject({ failures: 0, claim: null, nextAt: clock.now() });
  expect(await checkServer(edited.checkDeps, await bench.server())).toMatchObject({ kind: 'recorded' });

  const removed = meanwhile(bench, () => removeServer(deps, serverId, 'test'));
  expect(await probe(removed)).toEqual({ kind: 'void' });
  expect(await bench.samples()).toMatchObject([{ seconds: 0 }]);
});

it('makes an edited server due at once and resets its failures', async () => {
  const bench = await probingBench();
  await bench.gameServer.stop();
  for (let i = 0; i < 3; i += 1) await checkServer(bench.checkDeps, await bench.server());
  expect(statusAt(await bench.server(), bench.clock.now())).toBe('offline');
  await bench.gameServer.start();
  await editServer(bench.deps, bench.serverId, { queryPort: bench.gameServer.port }, 'test');
  expect((await bench.server()).probe).toMatchObject({ status: 'unknown', failures: 0 });
  expect(await probe(bench)).toMatchObject({ end: 'answered' });
});

it('counts both a check by hand and a probe that end at the same time', async () => {
  const bench = await probingBench();
  await bench.gameServer.stop();
  const both = meanwhile(bench, async () => {
    await checkServer(bench.checkDeps, await bench.server());
  });
  expect(await probe(both)).toMatchObject({ kind: 'recorded', end: 'failed' });
  expect((await bench.server()).probe).toMatchObject({ failures: 2, failuresByHand: 1 });
});

it('queries once more, at once, when an answer is broken', async () => {
  const bench = await probingBench();
  const { checkDeps, gameServer } = bench;
  let asked = 0;
  const ask: Ask = (...target) => {
    gameServer.manner = asked++ === 0 ? { closeAfter: 5 } : {};
    return checkDeps.ask(...target);
  };
  expect(await probe({ ...bench, checkDeps: { ...checkDeps, ask } })).toMatchObject({ end: 'answered' });
  expect(asked).toBe(2);
});

it('does not let an older probe overwrite the figures of a newer report', async () => {
  const bench = await probingBench();
  const { deps, clock, serverId } = bench;
  const reported = meanwhile(bench, async () => {
    clock.move(SECOND);
    await reportStatus(deps, serverId, { onlinePlayers: 11, maxPlayers: 50, version: 'new' });
  });
  await probe(reported);
  expect((await bench.server()).current).toMatchObject({
    onlinePlayers: 11,
    maxPlayers: 50,
    version: 'new',
  });
  clock.move(6 * MINUTE);
  await probe(bench);
  expect((await bench.server()).current).toMatchObject({ onlinePlayers: 3, maxPlayers: 20 });
});

it('records the source of the current figures, also when a report arrives during a probe', async () => {
  const bench = await probingBench();
  const { deps, clock, serverId } = bench;
  const players = async () => playersSource(await bench.server());
  expect(await players()).toBe('probes');
  const reported = meanwhile(bench, async () => {
    clock.move(SECOND);
    await reportStatus(deps, serverId, { onlinePlayers: 1_000_000, maxPlayers: 50 });
    clock.move(SECOND);
  });
  await probe(reported);
  expect((await bench.server()).current.onlinePlayers).toBe(1_000_000);
  expect(await players()).toBe('reports');
  clock.move(6 * MINUTE);
  await probe(bench);
  expect(await players()).toBe('probes');
});

it('uses reports while no probe is answered, and probes from the first answer on', async () => {
  const bench = await probingBench();
  const { deps, clock, serverId } = bench;
  await bench.gameServer.stop();
  for (let i = 0; i < 3; i += 1) await checkServer(bench.checkDeps, await bench.server());
  await reportStatus(deps, serverId, { onlinePlayers: 2, maxPlayers: 5 });
  expect(sourceAt(await bench.server(), clock.now())).toBe('reports');
  expect(statusAt(await bench.server(), clock.now())).toBe('online');
  await bench.gameServer.start();
  await checkServer(bench.checkDeps, await bench.server());
  expect(sourceAt(await bench.server(), clock.now())).toBe('probes');
});

it('is unknown and counts no failure while the canary fails', async () => {
  const bench = await probingBench({ CANARY_ADDRESSES: '127.0.0.1:1' });
  await probe(bench);
  await bench.gameServer.stop();
  for (let round = 0; round < 3; round += 1) {
    bench.clock.move(6 * MINUTE);
    expect(await probe(bench)).toMatchObject({ end: 'canary-failed' });
  }
  const server = await bench.server();
  expect(server.probe).toMatchObject({ status: 'unknown', failures: 0 });
  expect((await bench.samples()).slice(1)).toMatchObject(
    Array.from({ length: 3 }, () => ({ status: 'unknown', reason: 'canary' })),
  );
});

it('does not treat a server that was long offline, and then unknown, as last seen online', async () => {
  const bench = await probingBench();
  const noted: boolean[] = [];
  const { canary } = bench.checkDeps;
  const note: typeof canary.note = (id, check) => {
    noted.push(check.lastSeenOnline);
    canary.note(id, check);
  };
  const watched = { ...bench, checkDeps: { ...bench.checkDeps, canary: { ...canary, note } } };
  const fail = async (times: number) => {
    for (let i = 0; i < times; i += 1) {
      bench.clock.move(6 * MINUTE);
      await probe(watched);
    }
  };
  await probe(watched);
  await bench.gameServer.stop();
  await fail(3);
  expect((await bench.server()).probe.status).toBe('offline');
  bench.clock.move(4 * HOUR);
  await fail(2);
  expect((await bench.server()).probe).toMatchObject({ status: 'unknown', failures: 2 });
  await editServer(bench.deps, bench.serverId, { queryPort: bench.gameServer.port }, 'test');
  await checkServer(watched.checkDeps, await bench.server());
  expect(noted).toEqual([false, true, true, true, false, false, true]);
});

it('records nothing when the process stops in the middle of a check', async () => {
  const bench = await probingBench();
  bench.gameServer.manner = { silent: true };
  await takeDueServers(bench.deps);
  const stop = new AbortController();
  const checking = checkTakenServer(bench.checkDeps, bench.serverId, stop.signal);
  stop.abort();
  expect(await checking).toEqual({ kind: 'stopped' });
  expect((await bench.server()).probe).toMatchObject({ failures: 0, claim: expect.any(UUID) });
  expect(await bench.samples()).toEqual([]);
});

it('does not count servers that it refuses to query', async () => {
  const bench = await probingBench({ ALLOWED_PRIVATE_RANGES: '' });
  expect(await probe(bench)).toMatchObject({ end: 'not-asked', probe: { failure: 'address-refused' } });
  expect((await bench.server()).probe).toMatchObject({ status: 'unknown', failures: 0 });
  expect(await bench.samples()).toEqual([]);
});

it('tests an unreachable vote listener when its server is back, and does not test a paused one', async () => {
  const bench = await probingBench();
  const { deps, clock, serverId } = bench;
  const secret = new VotifierListener().token;
  const settings = { protocol: 'votifier-v2', host: '127.0.0.1', port: 8_192, secret } as const;
  const { _id } = await setListener(deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'test');
  const later = after(clock.now(), 10 * MINUTE);
  const breaker = { failures: 3, tests: 4, openSince: clock.now(), nextTestAt: later };
  const nextTestAt = async () => (await deps.listeners.findOne({ _id }))?.breaker.nextTestAt;
  await bench.gameServer.stop();
  await checkServer(bench.checkDeps, await bench.server());
  await bench.gameServer.start();

  await deps.listeners.updateOne({ _id }, { $set: { breaker, pause: { at: clock.now(), by: 'owner' } } });
  await checkServer(bench.checkDeps, await bench.server());
  expect(await nextTestAt()).toEqual(later);

  await bench.gameServer.stop();
  await checkServer(bench.checkDeps, await bench.server());
  await bench.gameServer.start();
  await deps.listeners.updateOne({ _id }, { $set: { pause: null } });
  await deps.queues['test-listeners'].obliterate({ force: true });
  await checkServer(bench.checkDeps, await bench.server());
  expect(await nextTestAt()).toEqual(clock.now());
  expect(await deps.queues['test-listeners'].getWaitingCount()).toBe(1);

  // It was unknown for hours, though it was online at its last probe.
  clock.move(4 * HOUR);
  await deps.listeners.updateOne(
    { _id },
    { $set: { breaker: { ...breaker, nextTestAt: after(clock.now(), HOUR) } } },
  );
  await checkServer(bench.checkDeps, await bench.server());
  expect(await nextTestAt()).toEqual(clock.now());

  await deps.listeners.updateOne({ _id }, { $set: { breaker: REACHABLE } });
  await checkServer(bench.checkDeps, await bench.server());
  expect(await nextTestAt()).toBeUndefined();
});
