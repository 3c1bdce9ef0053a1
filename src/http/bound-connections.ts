import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Config } from '../platform/config.ts';
import { plainAddress } from '../platform/limits/client-address.ts';
import type { Logger } from '../platform/log.ts';
import { isInRange, parseNetwork } from '../votes/blocks/network-range.ts';
import { CONNECTION_LIMITS, limitConnections } from './limit-connections.ts';

/** Limits connections in total and per client address; not for a trusted proxy, whose address many clients share. */
export function boundConnections(
  app: FastifyInstance,
  { config, log }: { config: Pick<Config, 'CONNECTIONS_PER_ADDRESS' | 'TRUST_PROXY'>; log: Logger },
): void {
  const stop = limitConnections(app.server, {
    limits: { ...CONNECTION_LIMITS, perAddress: config.CONNECTIONS_PER_ADDRESS },
    isProxy: proxyTest(config.TRUST_PROXY),
    log,
  });
  app.addHook('onClose', async () => stop());
}

/** If `TRUST_PROXY` is a number, every address is a proxy. */
function proxyTest(trust: Config['TRUST_PROXY']): (address: string) => boolean {
  if (typeof trust === 'number') return () => true;
  const ranges = (trust || []).flatMap((range) => parseNetwork(range) ?? []);
  if (ranges.length === 0) return () => false;
  return (text) => {
    const plain = plainAddress(text);
    if (plain === null) return false;
    const address = ipaddr.parse(plain);
    return ranges.some((range) => isInRange(address, range));
  };
}
