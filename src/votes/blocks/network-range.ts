import ipaddr from 'ipaddr.js';

/** IPv4-mapped IPv6 addresses belong to their IPv4 range. */
export type NetworkRange = { address: ipaddr.IPv4 | ipaddr.IPv6; bits: number };

/** The bits before the IPv4 address in `::ffff:203.0.113.7`. */
const MAPPED_BITS = 96;

/** Fewer bits need a confirmation: an IPv4 /16 has 65,536 addresses; an IPv6 /32 is usually of one provider. */
const NARROW = { ipv4: 16, ipv6: 32 } as const;

/** An address or a range in CIDR notation. Null for other text, such as a zone id or a short form of IPv4 (`10.1`). */
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

/** Always in the same spelling: `203.0.113.0/24`, `2001:db8::/32`. */
export function networkText({ address, bits }: NetworkRange): string {
  return `${address.toString()}/${bits}`;
}

export function isWide({ address, bits }: NetworkRange): boolean {
  return bits < NARROW[address.kind()];
}

/** `address` is from `ipaddr.process`, which converts IPv4-mapped addresses. */
export function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, range: NetworkRange): boolean {
  return address.kind() === range.address.kind() && address.match(range.address, range.bits);
}
