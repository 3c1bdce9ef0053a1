import { lookup as lookUp, Resolver } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import type { Config } from './config.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * - `dns-not-found`: the name has no address.
 * - `dns-timeout`: the name servers gave no answer in time.
 * - `address-refused`: an address of it is not a public one, or is this machine's own, and is not in an allowed
 *   range; or the operator refuses it.
 * - `stopped`: the caller's signal ended it.
 */
export type AddressFailure = 'dns-not-found' | 'dns-timeout' | 'address-refused' | 'stopped';

/** A host that must not, or cannot, be dialled. */
export class AddressError extends Error {
  readonly code: AddressFailure;

  constructor(code: AddressFailure, message: string) {
    super(message);
    this.name = 'AddressError';
    this.code = code;
  }
}

/** What was entered is not a host; the message is a sentence for the user who entered it. */
export class HostError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HostError';
  }
}

/**
 * Ports of remote shells and mail: never a game server or a vote listener, and a favourite of those who probe
 * through others. Settings refuse them too, not only tests: waiting votes could probe them as well.
 */
const REFUSED_PORTS: ReadonlySet<number> = new Set([22, 25, 465, 587]);

/** Whether nothing is ever set to, asked at or sent to `port`. */
export function isRefusedPort(port: number): boolean {
  return REFUSED_PORTS.has(port);
}

/** What the operator allows and refuses beyond the public addresses. What is refused is never allowed. */
export type AddressRanges = Pick<Config, 'ALLOWED_PRIVATE_RANGES' | 'REFUSED_RANGES'>;

export type ResolveOptions = {
  ranges: AddressRanges;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** All addresses of a name, by the rules of this machine (`/etc/hosts`, then DNS). */
  lookup?: ((name: string) => Promise<{ address: string }[]>) | undefined;
  /** Told when the name has been looked up, before its addresses are checked. */
  onResolved?: (() => void) | undefined;
};

/**
 * Finds the addresses of a host and checks every one of them (design rule 11). The caller dials one of these
 * addresses and never the name: a second look-up could answer differently (DNS rebinding).
 *
 * @param host - a host name or an IP address, in any spelling: odd ones (`127.1`, `0177.0.0.1`, `2130706433`)
 *   mean what the system's resolver makes of them, and it is that address which is checked
 * @returns one or more addresses, in the resolver's order of preference
 * @throws {AddressError} when there is none, or when a single one of them is refused: a name that mixes public
 *   and private addresses is an attack or a mistake, and either way not to be dialled
 */
export async function resolveAddress(host: string, options: ResolveOptions): Promise<string[]> {
  const answers = isIP(host) ? [host] : await resolveName(host, options);
  options.onResolved?.();
  const addresses = new Set(answers.map((answer) => checkAddress(host, answer, options.ranges)));
  if (addresses.size === 0) throw new AddressError('dns-not-found', `The host ${host} has no address`);
  return [...addresses];
}

/**
 * Why nothing will be sent to an address, as this environment allows it; null when nothing is known
 * against it. A name is not looked up: what it means is decided at each connection.
 */
export async function hostWarning(host: string, ranges: AddressRanges): Promise<string | null> {
  if (isIP(host) === 0) return null;
  try {
    await resolveAddress(host, { ranges, timeoutMs: 0 });
    return null;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return `${error.message}: nothing is sent to it unless the operator opens its range (ALLOWED_PRIVATE_RANGES, REFUSED_RANGES).`;
  }
}

async function resolveName(host: string, options: ResolveOptions): Promise<string[]> {
  const { timeoutMs, signal, lookup = (name) => askNameServers(name, resolver) } = options;
  if (signal?.aborted) throw new AddressError('stopped', 'The look-up was stopped');
  const resolver = resolverFor(timeoutMs);

  const { promise: gaveUp, reject: giveUp } = Promise.withResolvers<never>();
  const stop = () => giveUp(new AddressError('stopped', 'The look-up was stopped'));
  const timer = setTimeout(
    () =>
      giveUp(
        new AddressError('dns-timeout', `The name servers gave no answer for ${host} in ${timeoutMs} ms`),
      ),
    timeoutMs,
  );
  signal?.addEventListener('abort', stop);
  try {
    const answers = await Promise.race([lookup(host), gaveUp]);
    return answers.map(({ address }) => address);
  } catch (error) {
    throw error instanceof AddressError ? error : lookupError(host, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    resolver.cancel();
  }
}

/** One name server is waited for no longer, the first time, before the next one is asked. */
const LONGEST_ASKED_MS = 1_000;

/**
 * Makes a resolver for one look-up of at most `timeoutMs`: a name server that keeps silent leaves time for the
 * next ones. The caller keeps the time itself, since a resolver with many name servers takes longer, and cancels it.
 */
export function resolverFor(timeoutMs: number): Resolver {
  return new Resolver({
    timeout: Math.max(1, Math.min(LONGEST_ASKED_MS, Math.ceil(timeoutMs / 4))),
    tries: 2,
  });
}

/** The addresses of one family are waited for no longer once there are some of the other (RFC 8305, 3). */
const RESOLUTION_DELAY_MS = 300;

/**
 * All addresses of a name. Name servers are asked without a thread: a look-up that is given up is over, so dead
 * name servers of some hosts cannot hold up the others. The system's resolver, which has few threads, is left
 * with names of this machine's own network and with what no name server knows but `/etc/hosts` may.
 */
async function askNameServers(name: string, resolver: Resolver): Promise<{ address: string }[]> {
  if (!name.replace(/\.$/, '').includes('.')) return lookUp(name, { all: true });
  const found: string[][] = [];
  const queries = [resolver.resolve4(name), resolver.resolve6(name)].map(async (query, family) => {
    found[family] = await query;
  });
  const ends = Promise.allSettled(queries);
  const oneAnswered = Promise.any(queries).then(
    () => pause(RESOLUTION_DELAY_MS, undefined, { ref: false }),
    () => ends,
  );
  await Promise.race([ends, oneAnswered]);
  if (found.length > 0) return found.flat().map((address) => ({ address }));
  const silent = (await ends).find((end) => end.status === 'rejected' && NO_ANSWER.has(end.reason?.code));
  if (silent?.status === 'rejected') throw silent.reason;
  return lookUp(name, { all: true });
}

/** What the resolver says when the name servers, not the name, are at fault. */
const NO_ANSWER = new Set(['EAI_AGAIN', 'ETIMEOUT', 'ESERVFAIL', 'EREFUSED']);

function lookupError(host: string, error: unknown): AddressError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return NO_ANSWER.has(code)
    ? new AddressError('dns-timeout', `The name servers gave no answer for ${host} (${code})`)
    : new AddressError('dns-not-found', `The host ${host} has no address`);
}

function checkAddress(host: string, answer: string, ranges: AddressRanges): string {
  const address = ipaddr.parse(answer);
  const named = host === answer ? host : `${host} has the address ${answer}, which`;
  if (ranges.REFUSED_RANGES.some((range) => isWithin(ipaddr.process(answer), range))) {
    throw new AddressError(
      'address-refused',
      `${named} is an address that the operator refuses (REFUSED_RANGES)`,
    );
  }
  if (ranges.ALLOWED_PRIVATE_RANGES.some((range) => isWithin(address, range))) return address.toString();
  if (!isPublic(address)) {
    throw new AddressError('address-refused', `${named} is not a public address (${rangeName(address)})`);
  }
  if (CLOUD_INTERNAL.has(address.toString())) {
    throw new AddressError('address-refused', `${named} is not a public address (cloud-internal)`);
  }
  if (isOwn(address))
    throw new AddressError('address-refused', `${named} is an address of this machine itself`);
  return address.toString();
}

/**
 * Public by their range, and answered by the cloud that a machine stands in, never by the internet: Azure's connection server
 * (DNS, agent and metadata).
 */
const CLOUD_INTERNAL: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Whether an address is one of this machine's own, as its network interfaces have them. */
function isOwn(address: Address): boolean {
  const own = Object.values(os.networkInterfaces()).flat();
  return own.some((one) => one && ipaddr.process(one.address).toString() === address.toString());
}

/** IANA gives out IPv6 addresses for the public internet from this block only. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public internet. `unicast` is ipaddr.js's word for what is in none of the
 * special ranges: private, loopback, link-local, shared (CGNAT), multicast, broadcast, documentation,
 * benchmarking, reserved, and for IPv6 also those that carry an IPv4 address (6to4, Teredo). IPv4-mapped,
 * IPv4-compatible and NAT64 addresses are outside the global block.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(GLOBAL_UNICAST);
}

function isWithin(address: Address, [network, bits]: [Address, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

function rangeName(address: Address): string {
  const name = address.range();
  return name === 'unicast' ? 'reserved' : name;
}

const LONGEST_HOST = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads what an owner enters as a host: a host name or an IP address. Whether it may be dialled is decided
 * each time it is (`resolveAddress`), not here.
 *
 * @returns the host in one spelling: a name in lower-case ASCII (international names in Punycode) without a
 *   final dot, an IPv6 address without brackets
 * @throws {HostError} with a sentence that says what is wrong
 */
export function parseHost(text: string): string {
  const host = text.trim();
  const bare = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  if (bare !== host && !isIPv6(bare)) throw new HostError('Only an IPv6 address stands in square brackets.');
  if (isIP(bare) && !bare.includes('%')) return ipaddr.parse(bare).toString();

  refuseWhatIsNoHost(host);
  const name = domainToASCII(host.replace(/\.$/, ''));
  const labels = name.split('.');
  if (name.length > LONGEST_HOST) throw new HostError(`A host has at most ${LONGEST_HOST} characters.`);
  if (isIP(name) || isNumber(lastLabel(host))) {
    throw new HostError('Write an IPv4 address as four decimal numbers, like 203.0.113.7.');
  }
  if (!labels.every((label) => LABEL.test(label))) {
    throw new HostError(`«${host}» is not a host name: write it like play.example.org.`);
  }
  return name;
}

function refuseWhatIsNoHost(host: string): void {
  if (host === '') throw new HostError('The host is empty.');
  if (host.length > LONGEST_HOST) throw new HostError(`A host has at most ${LONGEST_HOST} characters.`);
  if (/[\s\p{C}]/u.test(host)) throw new HostError('A host has no white space and no invisible characters.');
  if (host.includes('://'))
    throw new HostError('Enter the host alone, without «://» and what stands before it.');
  if (/[/?#@\\]/.test(host)) throw new HostError('Enter the host alone, without a path or a user name.');
  if (/^(\[.*\]|[^:]*):\d*$/.test(host))
    throw new HostError('Enter the host without a port: the port has its own field.');
  if (host.includes('%'))
    throw new HostError('An IPv6 address with a zone («%…») is of use on one machine only.');
}

function lastLabel(host: string): string {
  return host.normalize('NFKC').replace(/\.$/, '').split('.').at(-1) ?? '';
}

/** The resolver takes a name that ends in a number for an IPv4 address in an old spelling. */
function isNumber(label: string): boolean {
  return /^(\d+|0x[0-9a-f]*)$/i.test(label);
}
