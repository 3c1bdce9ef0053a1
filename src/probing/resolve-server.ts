import { isIP, isIPv4 } from 'node:net';
import { type Game, queryPorts } from '../games/games.ts';
import { AddressError, isRefusedPort } from '../platform/address-guard.ts';
import { within } from '../platform/deadline.ts';
import { type ResolveOptions, resolveAddress, resolverFor } from '../platform/resolve-address.ts';
import type { Target } from './ask.ts';

/** As node:dns returns it. */
export type SrvRecord = { name: string; port: number; priority: number; weight: number };

/** Each look-up follows the system's rules if it is absent. */
export type Lookups = {
  lookup?: ResolveOptions['lookup'];
  srv?: (name: string) => Promise<SrvRecord[]>;
};

export type Found = {
  /** As the owner entered it, or of the SRV record. */
  host: string;
  /** The first of each family, IPv4 before IPv6, because few games support IPv6. */
  addresses: string[];
  /** The ports are tried in this order. */
  ports: number[];
};

/** Minecraft's client looks up an SRV record only for it. */
const MINECRAFT_PORT = 25_565;

/** It leaves time for the rest of the check. */
const SRV_TIMEOUT_MS = 1_500;

/** @throws {AddressError} when the name does not resolve, or its addresses or ports are refused */
export async function resolveServer(
  target: Target,
  game: Game,
  { srv, ...options }: Omit<ResolveOptions, 'lookup'> & Lookups,
): Promise<Found> {
  const began = performance.now();
  const record = mayHaveSrv(target, game) ? await srvRecord(target.host, options.signal, srv) : undefined;
  // The owner of a name could lead Tallyport to a mail server, for example.
  if (record && isRefusedPort(record.port)) {
    throw new AddressError(
      'address-refused',
      `The SRV record of ${target.host} names the port ${record.port}`,
    );
  }
  const ports = record ? [record.port] : queryPorts(target, game);
  if (ports.length === 0) {
    throw new AddressError(
      'address-refused',
      `No server of ${game.name} is queried at the port ${target.port}`,
    );
  }
  const host = record?.name ?? target.host;
  const timeoutMs = Math.ceil(options.timeoutMs - (performance.now() - began));
  const answers = await resolveAddress(host, { ...options, timeoutMs });
  const addresses = [answers.find(isIPv4), answers.find((answer) => !isIPv4(answer))];
  return {
    host,
    addresses: addresses.filter((address) => address !== undefined),
    ports,
  };
}

function mayHaveSrv({ host, port, queryPort }: Target, { protocol }: Game): boolean {
  return protocol === 'minecraftvanilla' && port === MINECRAFT_PORT && queryPort === null && isIP(host) === 0;
}

async function srvRecord(
  host: string,
  signal: AbortSignal | undefined,
  srv: Lookups['srv'],
): Promise<SrvRecord | undefined> {
  const resolver = resolverFor(SRV_TIMEOUT_MS);
  const stop = () => resolver.cancel();
  signal?.addEventListener('abort', stop);
  try {
    const resolve = srv ?? ((name) => resolver.resolveSrv(name));
    const records = await within(SRV_TIMEOUT_MS, resolve(`_minecraft._tcp.${host}`));
    const [first] = records
      .filter(({ name }) => name !== '' && name !== '.')
      .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
    return first;
  } catch {
    // Most names have no SRV record: the name itself is used.
    return undefined;
  } finally {
    signal?.removeEventListener('abort', stop);
    resolver.cancel();
  }
}
