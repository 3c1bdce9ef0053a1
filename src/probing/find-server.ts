import { isIP, isIPv4 } from 'node:net';
import type { Game } from '../games/games.ts';
import {
  AddressError,
  isRefusedPort,
  type ResolveOptions,
  resolveAddress,
  resolverFor,
} from '../platform/address-guard.ts';
import { within } from '../platform/deadline.ts';
import type { Target } from './ask.ts';

/** An SRV record, as node:dns gives it. */
export type SrvRecord = { name: string; port: number; priority: number; weight: number };

/** How names are resolved; the machine's way by default. */
export type Lookups = {
  lookup?: ResolveOptions['lookup'];
  srv?: (name: string) => Promise<SrvRecord[]>;
};

/** Where a server is asked. */
export type Found = {
  /** As its owner, or the name's SRV record, calls it. */
  host: string;
  /** Checked addresses to try in turn: the first of each family, IPv4 before IPv6, which few games speak. */
  addresses: string[];
  /** Ports of queries to try in turn. */
  ports: number[];
};

/** Minecraft's client looks for an SRV record when no other port is given. */
const MINECRAFT_PORT = 25_565;

/** A name server that is silent about SRV records must leave time for the rest. */
const SRV_TIMEOUT_MS = 1_500;

/**
 * Finds out where a server is to be asked.
 *
 * @throws {AddressError}
 */
export async function findServer(
  target: Target,
  game: Game,
  { srv, ...options }: Omit<ResolveOptions, 'lookup'> & Lookups,
): Promise<Found> {
  const began = performance.now();
  const record = mayHaveSrv(target, game) ? await srvRecord(target.host, options.signal, srv) : undefined;
  // Whoever holds a name writes its records: they must not make us knock at a mail server's door.
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
      `No server of ${game.name} is asked at the port ${target.port}`,
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
    const ask = srv ?? ((name) => resolver.resolveSrv(name));
    const records = await within(SRV_TIMEOUT_MS, ask(`_minecraft._tcp.${host}`));
    const [first] = records
      .filter(({ name }) => name !== '' && name !== '.')
      .toSorted((a, b) => a.priority - b.priority || b.weight - a.weight);
    return first;
  } catch {
    // Most names have none, and a name server that cannot say is no reason not to ask the name itself.
    return undefined;
  } finally {
    signal?.removeEventListener('abort', stop);
    resolver.cancel();
  }
}

/**
 * The ports at which a server may answer queries, likeliest first: what its owner says, or else gamedig's rule
 * (lib/QueryRunner.js): a fixed port where players use the usual one, the port of players with the game's
 * offsets, the port of players itself. Ports that nothing of ours is sent to are left out.
 */
export function queryPorts({ port, queryPort }: Target, game: Game): number[] {
  if (queryPort !== null) return isRefusedPort(queryPort) ? [] : [queryPort];
  const fixed = port === game.port && game.fixedQueryPort !== null ? [game.fixedQueryPort] : [];
  const offset = game.queryPortOffsets.map((difference) => port + difference);
  const ports = [...fixed, ...offset, port].filter((candidate) => candidate >= 1 && candidate <= 65_535);
  return [...new Set(ports)].filter((candidate) => !isRefusedPort(candidate));
}
