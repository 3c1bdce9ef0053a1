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
  return networkAround(address, { ipv4: 32, ipv6: 64 });
}

/**
 * The wider network of an address: the first 48 bits of an IPv6 address. One person may have all 65,536 /64 networks of
 * a /48 and could use a new one for each request. For IPv4 it is the address itself, as in `networkOf`.
 */
export function widerNetworkOf(address: string): string {
  return networkAround(address, { ipv4: 32, ipv6: 48 });
}

/** An IPv6 /48 has this many times the limit of a network, because a provider may share it among customers. */
export const WIDER_NETWORK_FACTOR = 4;

/** The networks for which a request counts: its own, and its wider one, if it is another, with `factor` times the limit. */
export function networksOf(address: string): { network: string; factor: number }[] {
  const [network, wider] = [networkOf(address), widerNetworkOf(address)];
  const own = { network, factor: 1 };
  return wider === network ? [own] : [own, { network: wider, factor: WIDER_NETWORK_FACTOR }];
}

export function subnetOf(address: string): string {
  return networkAround(address, { ipv4: 24, ipv6: 64 });
}

/** Usually belongs to one provider. */
export function neighbourhoodOf(address: string): string {
  return networkAround(address, { ipv4: 16, ipv6: 32 });
}

/** The first bits of an address; an IPv4 address with all its bits is written without `/32`. */
function networkAround(address: string, bits: { ipv4: 16 | 24 | 32; ipv6: 32 | 48 | 64 }): string {
  const parsed = parse(address);
  if (!parsed) return NO_NETWORK;
  if (parsed instanceof ipaddr.IPv6) {
    const masked = parsed.parts.map((part, index) => (index < bits.ipv6 / 16 ? part : 0));
    return `${new ipaddr.IPv6(masked)}/${bits.ipv6}`;
  }
  if (bits.ipv4 === 32) return parsed.toString();
  return `${parsed.octets.map((octet, index) => (index < bits.ipv4 / 8 ? octet : 0)).join('.')}/${bits.ipv4}`;
}

/** An IPv6 address that leads to an IPv4 one counts as that. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const plain = plainAddress(address);
  if (plain === null) return null;
  const parsed = ipaddr.parse(plain);
  return embeddedIpv4(parsed) ?? parsed;
}
