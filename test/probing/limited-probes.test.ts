import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { checkServer, checkTakenServer } from '../../src/probing/check-server.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { listServer, type ProbingBench, probingBench } from './probing-bench.ts';

async function probeAll({ deps, checkDeps }: ProbingBench) {
  await takeDueServers(deps);
  const claimed = await deps.servers.find({ 'probe.claim': { $ne: null } }).toArray();
  const checks = [];
  for (const { _id } of claimed) checks.push(await checkTakenServer(checkDeps, _id));
  await deps.queues['probe-servers'].obliterate({ force: true });
  return checks.map(({ kind }) => kind);
}

it('a probe beyond the limit is made within a minute, and the server’s state is unchanged', async () => {
  const bench = await probingBench({ DESTINATION_LIMIT: '1' });
  const other = await listServer(bench.deps, bench.gameServer.port + 1);
  expect((await probeAll(bench)).toSorted()).toEqual(['limited', 'recorded']);
  const now = bench.clock.now();
  const servers = await bench.deps.servers.find({ _id: { $in: [bench.serverId, other] } }).toArray();
  const limited = servers.find(({ probe }) => probe.checkedAt === null);
  expect(limited?.probe).toMatchObject({ status: 'unknown', failures: 0, claim: null });
  // Its first regular probe may be due earlier.
  expect(limited?.probe.nextAt?.getTime()).toBeGreaterThan(now.getTime());
  expect(limited?.probe.nextAt?.getTime()).toBeLessThanOrEqual(after(now, MINUTE).getTime());
});

it('a server that is online is probed at its planned times, whatever else is limited', async () => {
  const bench = await probingBench({ DESTINATION_LIMIT: '1' });
  expect(await probeAll(bench)).toEqual(['recorded']);
  for (let n = 0; n < 3; n += 1) {
    bench.clock.move(10);
    await bench.deps.servers.updateOne(
      { _id: bench.serverId },
      { $set: { 'probe.nextAt': bench.clock.now() } },
    );
    expect(await probeAll(bench)).toEqual(['recorded']);
  }
  expect((await bench.server()).probe.status).toBe('online');
});

it('an operator’s check by hand is not limited', async () => {
  const bench = await probingBench({ DESTINATION_LIMIT: '1' });
  await bench.gameServer.stop();
  for (let n = 0; n < 3; n += 1) {
    expect(await checkServer(bench.checkDeps, await bench.server())).toMatchObject({ kind: 'recorded' });
  }
});

it.each([
  ['silent', 'q3a'],
  ['closed', 'minecraft'],
])('an address that is %s is not a failure while another one was not queried', async (kind, game) => {
  const bench = await probingBench({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8,::1/128' });
  await bench.gameServer.stop();
  const { port } = bench.gameServer;
  if (kind === 'silent') {
    const socket = createSocket('udp4').bind(port, '127.0.0.1');
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
  }
  const asked: string[] = [];
  const ask = createAsk(bench.deps.config, {
    lookup: async () => [{ address: '127.0.0.1' }, { address: '::1' }],
  });
  const askWith = (allowed: number) => {
    asked.length = 0;
    const target = { game, host: 'two.example', port, queryPort: port };
    return ask(target, undefined, async (address) => asked.push(address) <= allowed);
  };
  expect(await askWith(1)).toMatchObject({ ok: false, failure: 'outgoing-limited' });
  expect(asked).toEqual(['127.0.0.1', '::1']);
  expect(await askWith(2)).not.toMatchObject({ failure: 'outgoing-limited' });
});
