import { ObjectId, type WithId } from 'mongodb';
import { onTestFinished } from 'vitest';
import type { StatusSample } from '../../src/history/status-sample.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { createCanary } from '../../src/probing/canary.ts';
import type { CheckDeps } from '../../src/probing/check-server.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { Server } from '../../src/servers/server.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

/** A platform with a stopped clock, one listed server and the game server behind it. */
export type ProbingBench = {
  deps: AppDeps;
  clock: StoppedClock;
  checkDeps: CheckDeps;
  gameServer: JavaServer;
  serverId: ObjectId;
  server(): Promise<WithId<Server>>;
  samples(): Promise<StatusSample[]>;
};

/** A game server, stopped when the test ends. */
export async function startGameServer(): Promise<JavaServer> {
  const gameServer = new JavaServer();
  await gameServer.start();
  onTestFinished(() => gameServer.stop());
  return gameServer;
}

/** Opens a separate platform; only the test probes. */
export async function probingBench(env: Record<string, string> = {}): Promise<ProbingBench> {
  // A recent time: samples older than 35 days expire.
  const clock = stoppedClock(after(new Date(), -10 * MINUTE));
  const opened = await testDeps({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', ...env });
  const deps = { ...opened, clock };
  const gameServer = await startGameServer();
  const ask = createAsk(deps.config);
  const serverId = await listServer(deps, gameServer.port);
  return {
    deps,
    clock,
    checkDeps: { ...deps, ask, canary: createCanary({ ...deps, ask }) },
    gameServer,
    serverId,
    async server() {
      const server = await deps.servers.findOne({ _id: serverId });
      if (!server) throw new Error('not listed');
      return server;
    },
    samples: () => deps.statusSamples.find({ serverId }).sort({ at: 1 }).toArray(),
  };
}

/** Lists a Minecraft server on this machine. */
export async function listServer(deps: AppDeps, port: number, game = 'minecraft'): Promise<ObjectId> {
  const added = { name: 'Alpha Craft', address: '127.0.0.1', port, game };
  return new ObjectId((await addServer(deps, added, 'test')).serverId);
}
