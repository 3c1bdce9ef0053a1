import ipaddr from 'ipaddr.js';

/** A range of addresses of one family. IPv4-mapped IPv6 addresses belong to their IPv4 range. */
export type NetworkRange = { address: ipaddr.IPv4 | ipaddr.IPv6; bits: number };

/** In an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`), this many bits come before the IPv4 address. */
const MAPPED_BITS = 96;

/**
 * Ranges with fewer bits need a confirmation. An IPv4 /16 has 65,536 addresses; an IPv6 /32 usually belongs to one
 * provider.
 */
const NARROW = { ipv4: 16, ipv6: 32 } as const;

/**
 * Reads an address or a range in CIDR notation: `203.0.113.7`, `2001:db8::/32`. Bits after the prefix become 0.
 *
 * @returns null for any other text, such as an address with a zone id or a short form of IPv4 (`10.1`)
 */
export function parseNetwork(text: string): NetworkRange | null {
  const [, host = '', prefix] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  if (!ipaddr.IPv4.isValidFourPartDecimal(host) && !ipaddr.IPv6.isValid(host)) return null;
  const parsed = ipaddr.parse(host);
  const length = parsed.kind() === 'ipv4' ? 32 : 128;
  const bits = prefix === undefined ? length : Number(prefix);
  if (bits > length) return null;
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    if (bits < MAPPED_BITS) return null;
    return cleared(parsed.toIPv4Address(), bits - MAPPED_BITS);
  }
  return cleared(parsed, bits);
}

function cleared(parsed: ipaddr.IPv4 | ipaddr.IPv6, bits: number): NetworkRange {
  const family = parsed instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  return { address: family.networkAddressFromCIDR(`${parsed.toString()}/${bits}`), bits };
}

/** A range as text, always in the same spelling: `203.0.113.0/24`, `2001:db8::/32`. */
export function networkText({ address, bits }: NetworkRange): string {
  return `${address.toString()}/${bits}`;
}

export function isWide({ address, bits }: NetworkRange): boolean {
  return bits < NARROW[address.kind()];
}

/** Whether an address belongs to a range. `address` is from `ipaddr.process`, which converts IPv4-mapped addresses. */
export function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, range: NetworkRange): boolean {
  return address.kind() === range.address.kind() && address.match(range.address, range.bits);
}
