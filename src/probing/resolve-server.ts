import { isIP, isIPv4 } from 'node:net';
import { type Game, queryPorts } from '../games/games.ts';
import { AddressError, isRefusedPort } from '../platform/address-guard.ts';
import { within } from '../platform/deadline.ts';
import { type ResolveOptions, resolveAddress, resolverFor } from '../platform/resolve-address.ts';
import type { Target } from './ask.ts';

/** An SRV record as node:dns returns it. */
export type SrvRecord = { name: string; port: number; priority: number; weight: number };

/** How host names are resolved; if absent, by the system's rules. */
export type Lookups = {
  lookup?: ResolveOptions['lookup'];
  srv?: (name: string) => Promise<SrvRecord[]>;
};

/** The addresses and ports at which a server is queried. */
export type Found = {
  /** The host as the owner entered it, or the host of the SRV record. */
  host: string;
  /** The checked addresses to try: the first of each family, IPv4 before IPv6, because few games support IPv6. */
  addresses: string[];
  /** The query ports to try, in this order. */
  ports: number[];
};

/** Minecraft's client looks up an SRV record only if the port is this default. */
const MINECRAFT_PORT = 25_565;

/** The longest wait for the SRV record. It leaves time for the rest of the check. */
const SRV_TIMEOUT_MS = 1_500;

/**
 * Finds the addresses and ports at which to query a server.
 *
 * @throws {AddressError} when the name does not resolve, or its addresses or ports are refused
 */
export async function resolveServer(
  target: Target,
  game: Game,
  { srv, ...options }: Omit<ResolveOptions, 'lookup'> & Lookups,
): Promise<Found> {
  const began = performance.now();
  const record = mayHaveSrv(target, game) ? await srvRecord(target.host, options.signal, srv) : undefined;
  // The owner of a name controls its SRV record. It must not lead Tallyport to a mail server, for example.
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
    // If the name has no SRV record (most names have none), or if the look-up fails: the name itself is used.
    return undefined;
  } finally {
    signal?.removeEventListener('abort', stop);
    resolver.cancel();
  }
}
