import ipaddr from 'ipaddr.js';

/** The well-known prefix. ipaddr.js has the prefix of local use, `64:ff9b:1::/48` (RFC 8215), in the same range. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The IPv4 address that an IPv6 address leads to: NAT64 with the well-known prefix `64:ff9b::/96` (RFC 6052), and 6to4
 * (RFC 3056). Null for other addresses, also for NAT64 with a prefix of local use, which nobody outside can read.
 */
export function embeddedIpv4(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | null {
  if (!(address instanceof ipaddr.IPv6)) return null;
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  return address.range() === '6to4' ? new ipaddr.IPv4(bytes.slice(2, 6)) : null;
}
