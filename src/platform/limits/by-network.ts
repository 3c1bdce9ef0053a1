import type { ObjectId } from 'mongodb';
import { type Limit, limitFor } from './define-limit.ts';
import { networksOf } from './network-of.ts';
import { findUsedUp, lastToReset, useAllowance } from './rate-limit.ts';

type Deps = Parameters<typeof useAllowance>[0];

/**
 * A limit for each network of an address, the narrowest first. If a network has used up its own limit, its further
 * requests are not counted for the /48, so they do not block other networks there.
 */
export function byNetwork(limit: Limit & { of: 'network' }, address: string): Limit[] {
  return networksOf(address).map(({ network, factor }) =>
    limitFor({ ...limit, times: factor * limit.times }, network),
  );
}

/** For a limit of networks the address of the request, else an id. */
export type Whose<L extends { of: string }> = L['of'] extends 'network' ? string : ObjectId;

/** Null when the use is allowed; otherwise when the next one is. */
export function countUse<L extends Limit & { of: string }>(
  deps: Deps,
  limit: L,
  whose: Whose<L>,
): Promise<Date | null> {
  const { of } = limit;
  return takeAll(
    deps,
    of === 'network' ? byNetwork({ ...limit, of }, String(whose)) : [limitFor(limit, whose)],
  );
}

/**
 * Counts one use of each limit in turn, and stops at the first one that is used up. Returns when the last of the used
 * up ones starts again; null when all allow it.
 */
export async function takeAll(deps: Deps, limits: Limit[]): Promise<Date | null> {
  for (const limit of limits) {
    const until = await useAllowance(deps, limit);
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
