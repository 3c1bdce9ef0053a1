import { type CommandStartedEvent, ObjectId, type WithId } from 'mongodb';
import { expect, it, onTestFinished, test } from 'vitest';
import { statusAt } from '../../src/history/current-status.ts';
import { addressesOf } from '../../src/history/server-addresses.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { checkServer, checkTakenServer } from '../../src/probing/check-server.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { addServer, editServer } from '../../src/servers/listed-servers.ts';
import type { Server } from '../../src/servers/server.ts';
import { BedrockServer } from '../support/fake-game-servers.ts';
import { type ProbingBench, probingBench } from './probing-bench.ts';

type Pair = ProbingBench & { bedrock: BedrockServer };

/** A listed Java server with a second address, where a Bedrock server or Geyser answers. */
async function pair(said: Partial<BedrockServer['said']> = {}, secondAddress = '127.0.0.1'): Promise<Pair> {
  const bench = await probingBench();
  const bedrock = new BedrockServer();
  bedrock.said = { ...bedrock.said, ...said };
  await bedrock.start();
  // It may be stopped already.
  onTestFinished(() => bedrock.stop().catch(() => {}));
  await editServer(bench.deps, bench.serverId, { secondAddress, secondPort: bedrock.port }, 'test');
  return { ...bench, bedrock };
}

/** One round: the server is taken if it is due, and checked. */
async function probe({ deps, checkDeps, serverId }: ProbingBench) {
  await takeDueServers(deps);
  const checked = await checkTakenServer(checkDeps, serverId);
  await deps.queues['probe-servers'].obliterate({ force: true });
  return checked;
}

/** Rounds of 6 minutes. */
async function rounds(bench: ProbingBench, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    bench.clock.move(6 * MINUTE);
    await probe(bench);
  }
}

const players = ({ current }: WithId<Server>) => [current.onlinePlayers, current.maxPlayers];

async function statuses(bench: ProbingBench) {
  const [server, now] = [await bench.server(), bench.clock.now()];
  return [statusAt(server, now), ...addressesOf(server, now).map(({ status }) => status)];
}

const JAVA = { motd: 'Harbour\nSurvival', version: 'Paper 1.21.4', online: 40, max: 200 };

test.each([
  ['Geyser behind Velocity passes on the counts', { motd: 'Geyser', online: 40, max: 200 }, [40, 200]],
  ['the same counts, asked a moment apart', { motd: 'Geyser', online: 42, max: 200 }, [42, 200]],
  [
    'Geyser passes on the message, and tells its own sessions',
    { motd: 'Harbour', online: 6, max: 100 },
    [40, 200],
  ],
  [
    'Geyser standalone passes on nothing, on the same machine',
    { motd: 'Geyser', online: 6, max: 100 },
    [40, 200],
  ],
  ['another server on the same machine has more players', { motd: 'Sky', online: 90, max: 100 }, [130, 300]],
  ['another server on the same machine has no limit', { motd: 'Sky', online: 90, max: 0 }, [130, 0]],
])('%s', async (_case, said, expected) => {
  const bench = await pair(said);
  bench.gameServer.said = JAVA;
  await probe(bench);
  const server = await bench.server();
  expect(players(server)).toEqual(expected);
  expect(server.current).toMatchObject({ motd: JAVA.motd, version: JAVA.version });
  expect(await bench.samples()).toMatchObject([{ status: 'online', onlinePlayers: expected[0] }]);
  expect(addressesOf(server, bench.clock.now())).toMatchObject([
    { edition: 'java', status: 'online', onlinePlayers: 40 },
    { edition: 'bedrock', status: 'online', onlinePlayers: said.online },
  ]);
});

it('adds the players of two servers that share nothing', async () => {
  const bench = await pair({ motd: 'Sky', online: 6, max: 100 });
  bench.gameServer.said = JAVA;
  // The fakes are on one machine, so the Bedrock server answers under another loopback address.
  const { ask } = bench.checkDeps;
  const elsewhere: typeof ask = async (target, ...rest) => {
    const probe = await ask(target, ...rest);
    return probe.ok && target.game === 'mbe' ? { ...probe, ip: '127.9.9.9' } : probe;
  };
  bench.checkDeps.ask = elsewhere;
  await probe(bench);
  expect(players(await bench.server())).toEqual([46, 300]);
});

it('does not know the number of players when Java Edition hides it, and takes that of Java when Bedrock has none', async () => {
  const bench = await pair({ motd: 'Sky', online: 6, max: 100 });
  bench.gameServer.status = { description: 'Harbour', version: { name: '1.21.4' }, players: {} };
  await probe(bench);
  expect((await bench.server()).current).toMatchObject({ onlinePlayers: 0, playersHidden: true });
  expect(addressesOf(await bench.server(), bench.clock.now())).toMatchObject([
    { status: 'online', onlinePlayers: null },
    { status: 'online', onlinePlayers: 6 },
  ]);
});

it('is online by Bedrock alone, with its figures', async () => {
  const bench = await pair({ motd: 'Sky', version: '1.21.50', online: 6, max: 100 });
  await bench.gameServer.stop();
  await probe(bench);
  await rounds(bench, 3);
  const server = await bench.server();
  expect(await statuses(bench)).toEqual(['online', 'offline', 'online']);
  expect(players(server)).toEqual([6, 100]);
  expect(server.current).toMatchObject({ motd: 'Sky', version: '1.21.50' });
  expect(server.probe.latencyMs).toBe(server.second?.state.latencyMs);
  expect(server.probe).toMatchObject({ failures: 0, offlineSince: null });
  expect((await bench.samples()).every(({ status }) => status === 'online')).toBe(true);
});

it('is online by Java alone; Bedrock is offline after three failures, and back after one answer', async () => {
  const bench = await pair();
  await probe(bench);
  expect(await statuses(bench)).toEqual(['online', 'online', 'online']);
  await bench.bedrock.stop();
  await rounds(bench, 2);
  expect(await statuses(bench)).toEqual(['online', 'online', 'online']);
  await rounds(bench, 1);
  expect(await statuses(bench)).toEqual(['online', 'online', 'offline']);
  await bench.bedrock.start();
  await rounds(bench, 1);
  expect(await statuses(bench)).toEqual(['online', 'online', 'online']);
});

it('asks an address that is down for long less often, and at once when the other one fails', async () => {
  const bench = await pair();
  await bench.bedrock.stop();
  let asked = 0;
  const { ask } = bench.checkDeps;
  bench.checkDeps.ask = (target, ...rest) => {
    if (target.game === 'mbe') asked += 1;
    return ask(target, ...rest);
  };
  await rounds(bench, 30);
  expect(await statuses(bench)).toEqual(['online', 'online', 'offline']);
  expect((await bench.server()).second?.state.intervalSeconds).toBe(3_600);
  asked = 0;
  await rounds(bench, 30);
  // Three hours: once an hour, instead of thirty times.
  expect(asked).toBeGreaterThanOrEqual(2);
  expect(asked).toBeLessThanOrEqual(4);
  expect(await statuses(bench)).toEqual(['online', 'online', 'offline']);
  await bench.bedrock.start();
  await bench.gameServer.stop();
  await rounds(bench, 1);
  expect((await statuses(bench))[0]).toBe('online');
  expect((await statuses(bench))[2]).toBe('online');
});

it('is offline when both are, after three failures in a row, and back with one of them', async () => {
  const bench = await pair();
  await probe(bench);
  await bench.gameServer.stop();
  await rounds(bench, 4);
  expect(await statuses(bench)).toEqual(['online', 'offline', 'online']);
  await bench.bedrock.stop();
  bench.clock.move(6 * MINUTE);
  await probe(bench);
  expect((await bench.server()).probe.failures).toBe(1);
  // The quick retry is due after 30 s.
  bench.clock.move(31 * SECOND);
  await probe(bench);
  expect((await statuses(bench))[0]).toBe('online');
  await rounds(bench, 1);
  expect(await statuses(bench)).toEqual(['offline', 'offline', 'offline']);
  expect((await bench.samples()).at(-1)).toMatchObject({ status: 'offline', onlinePlayers: 0 });
  await bench.bedrock.start();
  await rounds(bench, 1);
  expect(await statuses(bench)).toEqual(['online', 'offline', 'online']);
});

it('counts no failure of one address while the canary fails, and never the whole server', async () => {
  const bench = await pair();
  await probe(bench);
  await bench.bedrock.stop();
  const { note } = bench.checkDeps.canary;
  bench.checkDeps.canary = { note, works: async () => false };
  await rounds(bench, 4);
  expect(await statuses(bench)).toEqual(['online', 'online', 'unknown']);
  expect((await bench.server()).second?.state.failures).toBe(0);
});

it('an address that Tallyport refuses to ask does not keep the failures of the other one from counting', async () => {
  const bench = await pair({}, '10.0.0.1');
  await probe(bench);
  expect(await statuses(bench)).toEqual(['online', 'online', 'unknown']);
  await bench.gameServer.stop();
  await rounds(bench, 3);
  expect((await statuses(bench))[0]).toBe('offline');
});

it('a check makes the same commands for one address as for two, and stores one sample', async () => {
  const bench = await pair();
  const client = bench.deps.mongo.connection.getClient();
  const commandsOf = async () => {
    const asked: string[] = [];
    const note = ({ commandName }: CommandStartedEvent) => asked.push(commandName);
    client.on('commandStarted', note);
    await probe(bench);
    client.off('commandStarted', note);
    bench.clock.move(6 * MINUTE);
    return asked;
  };
  // The first answer also tests a listener that was not reached.
  await commandsOf();
  const ofTwo = await commandsOf();
  await editServer(bench.deps, bench.serverId, { secondAddress: null }, 'test');
  await commandsOf();
  expect(await commandsOf()).toEqual(ofTwo);
  expect(await bench.samples()).toHaveLength(4);
});

it('a check by hand asks both and says what each answered', async () => {
  const bench = await pair({ online: 6 });
  await bench.gameServer.stop();
  const checked = await checkServer(bench.checkDeps, await bench.server());
  expect(checked).toMatchObject({
    kind: 'recorded',
    end: 'answered',
    each: { first: { ok: false, failure: 'connection-refused' }, second: { ok: true } },
  });
});

it('voids a check during which the second address changed', async () => {
  const bench = await pair();
  const { ask } = bench.checkDeps;
  const change = () => editServer(bench.deps, bench.serverId, { secondAddress: null }, 'test');
  bench.checkDeps.ask = async (...asked) => {
    const answer = await ask(...asked);
    if (asked[0].game === 'mbe') await change();
    return answer;
  };
  expect(await probe(bench)).toEqual({ kind: 'void' });
  expect(await bench.server()).not.toHaveProperty('second');
});

it('the second address of a Bedrock server is of Java Edition, with the usual port', async () => {
  const { deps } = await probingBench();
  const settings = { name: 'Both', address: 'bedrock.example.org', port: 19_132, game: 'mbe' };
  const { serverId } = await addServer(deps, { ...settings, secondAddress: 'Play.Example.org' }, 'test');
  const server = await deps.servers.findOne({ _id: new ObjectId(serverId) });
  expect(server?.second).toMatchObject({ address: 'play.example.org', port: 25_565 });
  expect(server && addressesOf(server, new Date())).toMatchObject([
    { edition: 'bedrock', address: 'bedrock.example.org', port: 19_132, status: 'unknown' },
    { edition: 'java', address: 'play.example.org', port: 25_565, status: 'unknown' },
  ]);
});

it('only Minecraft has a second address, and it goes before the game', async () => {
  const bench = await pair();
  const { deps, serverId } = bench;
  const settings = { name: 'Dust', address: 'tf.example.org', port: 27_015, game: 'teamfortress2' };
  const refused = expect.objectContaining({
    errors: { secondAddress: expect.stringContaining('Minecraft') },
  });
  await expect(addServer(deps, { ...settings, secondAddress: 'x.example.org' }, 'test')).rejects.toEqual(
    refused,
  );
  await expect(editServer(deps, serverId, { game: 'rust' }, 'test')).rejects.toThrow(
    'Remove the second address',
  );
  await editServer(deps, serverId, { secondAddress: null }, 'test');
  expect(await editServer(deps, serverId, { game: 'rust' }, 'test')).toMatchObject({ game: 'rust' });
});

it('adding a second address keeps the state of the server, and asks both at once', async () => {
  const bench = await probingBench();
  await probe(bench);
  const before = await bench.server();
  const after = await editServer(bench.deps, bench.serverId, { secondAddress: 'b.example.org' }, 'test');
  expect(after?.probe).toMatchObject({
    status: 'online',
    urgent: true,
    nextAt: bench.clock.now(),
    claim: null,
  });
  expect(after?.second?.firstState).toMatchObject({ status: 'online', checkedAt: before.probe.checkedAt });
  expect(after?.second?.state).toMatchObject({ status: 'unknown', checkedAt: null });
});

it('is offline when one address fails and the other one, offline already, is held back by a limit', async () => {
  const bench = await pair();
  await bench.bedrock.stop();
  await probe(bench);
  await rounds(bench, 3);
  expect(await statuses(bench)).toEqual(['online', 'online', 'offline']);
  const { ask } = bench.checkDeps;
  bench.checkDeps.ask = async (target, ...rest) =>
    target.game === 'mbe' ? { ok: false, failure: 'outgoing-limited', message: '' } : ask(target, ...rest);
  await bench.gameServer.stop();
  await rounds(bench, 4);
  // Nobody has asked the second one for long.
  expect(await statuses(bench)).toEqual(['offline', 'offline', 'unknown']);
});

it('keeps its second address whole if that is removed while another edit runs', async () => {
  const bench = await pair();
  const edits = [{ port: 25_570 }, { secondAddress: null }, { queryPort: 25_571 }];
  await Promise.all(edits.map((edit) => editServer(bench.deps, bench.serverId, edit, 'test')));
  const server = await bench.server();
  expect(server.second).toBeUndefined();
  expect(server).toMatchObject({ port: 25_570, queryPort: 25_571 });
});
