import { networkOf, widerNetworkOf } from './network-of.ts';
import { type Allowance, findUsedUp, type Limit, lastToReset, useAllowance } from './rate-limit.ts';

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
 * @returns null when all limits allow it; otherwise the latest time at which one of the used up limits starts again
 */
export async function takeAll(
  deps: Parameters<typeof useAllowance>[0],
  limits: Limit[],
): Promise<Date | null> {
  for (const limit of limits) {
    const until = await useAllowance(deps, limit.key, limit.allowance);
    if (!until) continue;
    // This call may have used up the limits before.
    const others = await findUsedUp(
      deps,
      limits.filter((one) => one !== limit),
    );
    return lastToReset([{ limit, until }, ...others])?.until ?? null;
  }
  return null;
}
