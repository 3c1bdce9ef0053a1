import ipaddr from 'ipaddr.js';
import { embeddedIpv4 } from '../embedded-ipv4.ts';
import { plainAddress } from './client-address.ts';

/** The network of all clients whose address is not valid. They share its limits. */
export const NO_NETWORK = 'unknown';

/**
 * The network to which a limit on an address applies: an IPv4 address itself, or the first 64 bits of an IPv6 address.
 * A subscriber has a whole /64 (RFC 6177) and could use a new address for each request.
 */
export function networkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return NO_NETWORK;
  return parsed instanceof ipaddr.IPv6 ? prefixOf(parsed, 64) : parsed.toString();
}

/**
 * The wider network of an address: the first 48 bits of an IPv6 address. One person may have all 65,536 /64 networks of
 * a /48 and could use a new one for each request. For IPv4 it is the address itself, as in `networkOf`.
 */
export function widerNetworkOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return NO_NETWORK;
  return parsed instanceof ipaddr.IPv6 ? prefixOf(parsed, 48) : parsed.toString();
}

/** An IPv6 /48 has this many times the limit of a network, because a provider may share it among customers. */
export const WIDER_NETWORK_FACTOR = 4;

/** The networks for which a request counts: its own, and its wider one, if it is another, with `factor` times the limit. */
export function networksOf(address: string): { network: string; factor: number }[] {
  const [network, wider] = [networkOf(address), widerNetworkOf(address)];
  const own = { network, factor: 1 };
  return wider === network ? [own] : [own, { network: wider, factor: WIDER_NETWORK_FACTOR }];
}

/** The subnet of an address: its IPv4 /24 or its IPv6 /64. */
export function subnetOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return NO_NETWORK;
  if (parsed instanceof ipaddr.IPv6) return prefixOf(parsed, 64);
  return `${parsed.octets.slice(0, 3).join('.')}.0/24`;
}

/** The IPv4 /16 or IPv6 /32 around an address. It usually belongs to one provider. */
export function neighbourhoodOf(address: string): string {
  const parsed = parse(address);
  if (!parsed) return NO_NETWORK;
  if (parsed instanceof ipaddr.IPv6) return prefixOf(parsed, 32);
  return `${parsed.octets.slice(0, 2).join('.')}.0.0/16`;
}

/** An IPv6 address that leads to an IPv4 one counts as that. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const plain = plainAddress(address);
  if (plain === null) return null;
  const parsed = ipaddr.parse(plain);
  return embeddedIpv4(parsed) ?? parsed;
}

function prefixOf({ parts }: ipaddr.IPv6, bits: 32 | 48 | 64): string {
  const masked = parts.map((part, index) => (index < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(masked)}/${bits}`;
}
