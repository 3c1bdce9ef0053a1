import { networkOf, widerNetworkOf } from './network-of.ts';
import { type Allowance, findUsedUp, type Limit, lastToAllow, useAllowance } from './rate-limit.ts';

/** An IPv6 /48 has this many times the allowance of a network, because a provider may share it among customers. */
export const WIDER_NETWORK_FACTOR = 4;

/**
 * The limits of an address: first that of its network, then that of its IPv6 /48, if it has one. If a network has used
 * up its own limit, its further requests are not counted for the /48, so they do not block other networks there.
 */
export function byNetwork(key: string, address: string, allowance: Allowance): Limit[] {
  const [network, wider] = [networkOf(address), widerNetworkOf(address)];
  const limit = { key: `${key}:${network}`, allowance };
  if (wider === network) return [limit];
  return [
    limit,
    { key: `${key}:${wider}`, allowance: { ...allowance, times: allowance.times * WIDER_NETWORK_FACTOR } },
  ];
}

/**
 * Counts one use of each limit in turn, and stops at the first one that is used up.
 *
 * @returns null when all limits allow it; otherwise when the next use is allowed by all that are used up
 */
export async function takeAll(
  deps: Parameters<typeof useAllowance>[0],
  limits: Limit[],
): Promise<Date | null> {
  for (const [index, limit] of limits.entries()) {
    const until = await useAllowance(deps, limit.key, limit.allowance);
    if (!until) continue;
    const others = await findUsedUp(deps, limits.slice(index + 1));
    return lastToAllow([{ limit, until }, ...others])?.until ?? null;
  }
  return null;
}
