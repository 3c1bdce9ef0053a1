import { join } from 'node:path';
import { freePort } from '../../../src/own-services/free-port.ts';
import { MONGOD } from '../../../src/own-services/mongod.ts';
import { REDIS } from '../../../src/own-services/redis-server.ts';
import type { ServiceKind } from '../../../src/own-services/service-process.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { killing, stopping } from '../inject.ts';
import { service } from '../process-control.ts';
import type { ServiceOptions, StormService } from './storm-service.ts';

/** One mongod. Each process reaches it through a proxy of its own. */
export function startLoneMongod(options: ServiceOptions): Promise<StormService> {
  const addressOf = (port: number) => `${MONGOD.address(port)}/storm?directConnection=true`;
  return startLone(MONGOD, options, { name: 'mongod', requests: 'mongodb', addressOf });
}

/** One Redis. Each process reaches it through a proxy of its own. */
export function startLoneRedis(options: ServiceOptions): Promise<StormService> {
  return startLone(REDIS, options, { name: 'redis', requests: 'chunks', addressOf: REDIS.address });
}

async function startLone(
  kind: ServiceKind,
  { binary, folder, died }: ServiceOptions,
  {
    name,
    requests,
    addressOf,
  }: { name: string; requests: 'mongodb' | 'chunks'; addressOf: (port: number) => string },
): Promise<StormService> {
  const port = await freePort();
  const node = service(kind, { binary, dir: join(folder, name), port }, died);
  const lines: FaultProxy[] = [];
  await node.start();
  return {
    address: addressOf(port),
    async connect() {
      const line = await startFaultProxy(port, requests);
      lines.push(line);
      return { address: addressOf(line.port), line: () => line };
    },
    faults: { [`kill-${name}`]: killing(() => node), [`stop-${name}`]: stopping(() => node) },
    async mend() {
      node.resume();
      await Promise.all([node.start(), ...lines.map((line) => line.restore())]);
    },
    async close() {
      await Promise.all(lines.map((line) => line.close()));
      await node.kill();
    },
  };
}
