import ipaddr from 'ipaddr.js';

/**
 * Who is limited where an address is: the address itself, or the first 64 bits of an IPv6 one. Whoever has one of
 * those has all that begin with the same (RFC 6177), and would never come to an end of them.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  // An IPv4 address that is written as an IPv6 one is that IPv4 address.
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`;
}
