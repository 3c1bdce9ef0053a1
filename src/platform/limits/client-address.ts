import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IPv6 address in brackets or an IPv4 address, with or without a port: `[2001:db8::1]:443`, `192.0.2.1:5678`. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/;

/**
 * The address in `text` in one spelling, without port, brackets and zone. An IPv4-mapped IPv6 address becomes IPv4.
 *
 * @returns null if `text` is not an address, or if it is undefined because the socket is closed
 */
export function plainAddress(text: string | undefined): string | null {
  const trimmed = (text ?? '').trim();
  const [, ipv6, ipv4] = WITH_PORT.exec(trimmed) ?? [];
  const address = (ipv6 ?? ipv4 ?? trimmed).replace(/%.*$/, '');
  return isIP(address) ? ipaddr.process(address).toString() : null;
}

/** Only this many addresses at the end of a header are read, to limit the work. Real requests have fewer. */
const MOST_HOPS = 16;

/**
 * The value of `X-Forwarded-For` with each address in one spelling. If an entry is not an address, it and all entries
 * before it are left out. The client then counts as the proxy that wrote the entry, so all such clients count as one.
 *
 * @returns null if no entry remains
 */
export function plainForwardedFor(value: string): string | null {
  const entries = value
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .slice(-MOST_HOPS)
    .map(plainAddress);
  const addresses = entries.slice(entries.lastIndexOf(null) + 1);
  return addresses.length > 0 ? addresses.join(', ') : null;
}
