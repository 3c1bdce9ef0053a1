import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { AddressRanges } from './address-guard.ts';
import { type ResolveOptions, resolveAddress } from './resolve-address.ts';

/** How long a look-up may take. */
const LOOKUP_MS = 5_000;

type GuardOptions = Pick<ResolveOptions, 'lookup'> & {
  mayConnect?: (host: string, address: string) => Promise<void>;
};

/**
 * A look-up for sockets that returns checked addresses only (design rule 11). A socket to an IP address makes no
 * look-up, so its caller must check that address. `mayConnect` throws if no connection may be opened now.
 *
 * @param lookup - as that of `resolveAddress`
 */
export function guardedLookup(
  ranges: AddressRanges,
  { mayConnect, lookup }: GuardOptions = {},
): LookupFunction {
  const look = callbackify(async (host: string) => {
    const addresses = await resolveAddress(host, { ranges, timeoutMs: LOOKUP_MS, lookup });
    if (addresses[0]) await mayConnect?.(host, addresses[0]);
    return addresses.map((address) => ({ address, family: isIP(address) }));
  });
  return (host, { all }, done) =>
    look(host, (error, answers) => {
      const [first = { address: '', family: 0 }] = answers ?? [];
      if (error) done(error, '', 0);
      else if (all) done(null, answers);
      else done(null, first.address, first.family);
    });
}
