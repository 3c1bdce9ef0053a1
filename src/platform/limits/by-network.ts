import { networkOf, siteOf } from './network-of.ts';
import { type Allowance, useAllowance } from './rate-limit.ts';

/** What is limited, and how often it may happen. */
export type Limit = { key: string; allowance: Allowance };

/** An IPv6 /48 has so many times what a single network has, for it may be a provider's with many customers. */
const SITE_FACTOR = 4;

/** The limits of the network that an address is in, and before it that of its IPv6 /48. */
export function byNetwork(key: string, address: string, allowance: Allowance): Limit[] {
  const [network, site] = [networkOf(address), siteOf(address)];
  const limit = { key: `${key}:${network}`, allowance };
  if (site === network) return [limit];
  return [
    { key: `${key}:${site}`, allowance: { ...allowance, times: allowance.times * SITE_FACTOR } },
    limit,
  ];
}

/**
 * Counts once for each of the limits in turn, up to the first that is used up.
 *
 * @returns null when none is; else when the next one is allowed
 */
export async function takeAll(
  deps: Parameters<typeof useAllowance>[0],
  limits: Limit[],
): Promise<Date | null> {
  for (const { key, allowance } of limits) {
    const retryAt = await useAllowance(deps, key, allowance);
    if (retryAt) return retryAt;
  }
  return null;
}
