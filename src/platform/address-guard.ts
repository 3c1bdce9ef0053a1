import { isIP, isIPv6 } from 'node:net';
import os from 'node:os';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { t } from '../language/t.ts';
import { AppError, CodedError } from './app-error.ts';
import type { Config } from './config.ts';
import { embeddedIpv4 } from './embedded-ipv4.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Why no connection to a host can or may be opened. `dns-not-found`: the name has no address; `dns-timeout`: the name
 * servers did not answer in time; `address-refused`: the operator refuses one of its addresses, or one of them is in no
 * allowed range and is not public, or belongs to this machine; `stopped`: the caller's signal stopped the look-up.
 */
export type AddressFailure = 'dns-not-found' | 'dns-timeout' | 'address-refused' | 'stopped';

export class AddressError extends CodedError<AddressFailure> {}

/** The input is not a host. The message is a sentence for the user who entered it. */
export class HostError extends AppError {}

/**
 * Ports of remote shells and mail. No game server or vote listener uses them, and attackers try to reach them through
 * other machines. Settings refuse these ports too: otherwise each delivery attempt would be a connection to them.
 */
const REFUSED_PORTS: ReadonlySet<number> = new Set([22, 25, 465, 587]);

export function isRefusedPort(port: number): boolean {
  return REFUSED_PORTS.has(port);
}

/** If an address is in both, it is refused. */
export type AddressRanges = Pick<Config, 'ALLOWED_PRIVATE_RANGES' | 'REFUSED_RANGES'>;

/** A warning about an IP address that `checkAddress` refuses. A host name is checked at each connection. */
export function hostWarning(host: string, ranges: AddressRanges): string | null {
  if (isIP(host) === 0) return null;
  try {
    checkAddress(host, host, ranges);
    return null;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return `${error.message}: nothing is sent to it unless the operator opens its range (ALLOWED_PRIVATE_RANGES, REFUSED_RANGES).`;
  }
}

/**
 * Checks one address of a host (design rule 11). Returns the address in its canonical form. If an IPv6 address leads to
 * an IPv4 one (NAT64, 6to4), that one decides: name servers of networks without IPv4 make such addresses (DNS64).
 *
 * @throws {AddressError} `address-refused` when no connection to the address may be opened
 */
export function checkAddress(host: string, answer: string, ranges: AddressRanges): string {
  const address = ipaddr.parse(answer);
  const embedded = embeddedIpv4(address);
  const decisive = embedded ?? address;
  const isIn = (networks: AddressRanges['REFUSED_RANGES'], whole: Address) =>
    networks.some((range) => isWithin(decisive, range) || isWithin(whole, range));
  const named = host === answer ? host : `${host} has the address ${answer}, which`;
  const leads = embedded ? `leads to ${embedded}, which ` : '';
  const refuse = (why: string): never => {
    throw new AddressError('address-refused', `${named} ${leads}${why}`);
  };
  if (isIn(ranges.REFUSED_RANGES, ipaddr.process(answer)))
    refuse('is an address that the operator refuses (REFUSED_RANGES)');
  if (isIn(ranges.ALLOWED_PRIVATE_RANGES, address)) return address.toString();
  if (!isPublic(decisive)) refuse(`is not a public address (${rangeName(decisive)})`);
  if (CLOUD_INTERNAL.has(decisive.toString())) refuse('is not a public address (cloud-internal)');
  if (isOwn(decisive) || isOwn(address)) refuse('is an address of this machine itself');
  return address.toString();
}

/** Public addresses of internal services of a cloud: Azure's virtual IP for DNS, agent and metadata. */
const CLOUD_INTERNAL: ReadonlySet<string> = new Set(['168.63.129.16']);

function isOwn(address: Address): boolean {
  const own = Object.values(os.networkInterfaces()).flat();
  return own.some((one) => one && ipaddr.process(one.address).toString() === address.toString());
}

/** The only block from which IANA allocates public IPv6 addresses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is public. ipaddr.js calls an address `unicast` when it is in none of the special ranges: private,
 * loopback, link-local, shared (CGNAT), multicast, broadcast, documentation, benchmarking, reserved, and for IPv6 also
 * Teredo. IPv4-mapped and IPv4-compatible addresses, and NAT64 ones with a prefix of local use, are outside
 * `GLOBAL_UNICAST`, so they are not public either.
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
 * Parses the host that an owner enters. `resolveAddress` checks its addresses at each connection.
 *
 * @returns a name in lower-case ASCII (international names in Punycode) without a final dot, or an IP address in one
 *   spelling
 * @throws {HostError} with a sentence that says what is wrong
 */
export function parseHost(text: string): string {
  const host = text.trim();
  const bare = /^\[(.*)\]$/.exec(host)?.[1] ?? host;
  if (bare !== host && !isIPv6(bare)) throw new HostError(t('Use square brackets only for an IPv6 address.'));
  if (isIP(bare) && !bare.includes('%')) return ipaddr.parse(bare).toString();

  refuseInvalidHost(host);
  const name = domainToASCII(host.replace(/\.$/, ''));
  const labels = name.split('.');
  if (name.length > LONGEST_HOST)
    throw new HostError(t('A host has at most {max} characters.', { max: LONGEST_HOST }));
  if (isIP(name) || isNumber(lastLabel(host))) {
    throw new HostError(t('Write an IPv4 address as four decimal numbers, like 203.0.113.7.'));
  }
  if (!labels.every((label) => LABEL.test(label))) {
    throw new HostError(t('“{host}” is not a host name: write it like play.example.org.', { host }));
  }
  return name;
}

function refuseInvalidHost(host: string): void {
  if (host === '') throw new HostError(t('The host is empty.'));
  if (host.length > LONGEST_HOST)
    throw new HostError(t('A host has at most {max} characters.', { max: LONGEST_HOST }));
  if (/[\s\p{C}]/u.test(host))
    throw new HostError(t('A host has no white space and no invisible characters.'));
  if (host.includes('://'))
    throw new HostError(t('Enter the host alone, without “://” and the text before it.'));
  if (/[/?#@\\]/.test(host)) throw new HostError(t('Enter the host alone, without a path or a user name.'));
  if (/^(\[.*\]|[^:]*):\d*$/.test(host))
    throw new HostError(t('Enter the host without a port: the port has its own field.'));
  if (host.includes('%'))
    throw new HostError(t('An IPv6 address with a zone (“%…”) works on one machine only.'));
}

function lastLabel(host: string): string {
  return host.normalize('NFKC').replace(/\.$/, '').split('.').at(-1) ?? '';
}

/** Whether a label is a number. A host that ends in a number is an IPv4 address in an old form, such as `127.1`. */
function isNumber(label: string): boolean {
  return /^(\d+|0x[0-9a-f]*)$/i.test(label);
}
