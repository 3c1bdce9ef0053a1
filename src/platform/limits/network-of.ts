import ipaddr from 'ipaddr.js';

/**
 * Who is limited where an address is: the address itself, or the first 64 bits of an IPv6 one. Whoever has one of
 * those has all that begin with the same (RFC 6177), and would never come to an end of them.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  // An IPv4 address that is written as an IPv6 one is that IPv4 address.
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? prefixOf(parsed, 64) : parsed.toString();
}

/**
 * The widest network that one holder may have: the first 48 bits of an IPv6 address, which are given to sites and, free
 * of charge, by tunnels (RFC 6177); else the same as `networkOf`.
 */
export function siteOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? prefixOf(parsed, 48) : parsed.toString();
}

function prefixOf({ parts }: ipaddr.IPv6, bits: 48 | 64): string {
  const kept = parts.map((part, index) => (index < bits / 16 ? part : 0));
  return `${new ipaddr.IPv6(kept)}/${bits}`;
}
