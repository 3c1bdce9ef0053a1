import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../platform/app-error.ts';

export type HashingClient = {
  /** An IPv4 address or IPv6 /48. */
  network: string;
  /** The account of the known device (known-devices.ts) or session; null without either. */
  knownAs: string | null;
};

type SlotLimits = {
  atOnce: number;
  /** Of each queue: one is for known devices, the other for all other clients. */
  waiting: number;
  /** Running and waiting calls; counted separately for known devices and for all others. */
  perNetwork: number;
  perAccount: number;
};

/** The queue or the client's share is full. */
class BusyError extends AppError {
  readonly statusCode = 503;
}

const UNNAMED: HashingClient = { network: 'unnamed', knownAs: null };
const clients = new AsyncLocalStorage<HashingClient>();

/** Passwords that `work` hashes or checks count for `client`: the sign-in library has no parameter for it. */
export function hashingFor<T>(client: HashingClient, work: () => Promise<T>): Promise<T> {
  return clients.run(client, work);
}

/**
 * Limits how much CPU-heavy work runs at once. The two queues are served in turn, and each network and account has a
 * maximum share, so that one client cannot fill a queue. Returns a function that throws {@link BusyError} when the
 * queue or a share is full.
 */
export function createPasswordSlots({ atOnce, waiting, perNetwork, perAccount }: SlotLimits) {
  let running = 0;
  let isKnownNext = true;
  const known: (() => void)[] = [];
  const others: (() => void)[] = [];
  const used = new Map<string, number>();

  const count = (share: string, change: 1 | -1) => {
    const now = (used.get(share) ?? 0) + change;
    if (now === 0) used.delete(share);
    else used.set(share, now);
  };

  function sharesOf({ network, knownAs }: HashingClient): [share: string, most: number][] {
    if (knownAs === null) return [[`network:${network}`, perNetwork]];
    return [
      [`known in:${network}`, perNetwork],
      [`known as:${knownAs}`, perAccount],
    ];
  }

  async function takeSlot(queue: (() => void)[]): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return;
    }
    if (queue.length >= waiting)
      throw new BusyError('Too many users are signing in at once. Try again in a few seconds.');
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.push(resolve);
    await promise;
  }

  /** The next waiting call gets the slot directly, so that a new call cannot take it first. */
  function releaseSlot(): void {
    const queue = (isKnownNext || others.length === 0) && known.length > 0 ? known : others;
    isKnownNext = queue === others;
    const next = queue.shift();
    if (next) next();
    else running -= 1;
  }

  return async <T>(work: () => Promise<T>): Promise<T> => {
    const client = clients.getStore() ?? UNNAMED;
    const shares = sharesOf(client);
    if (shares.some(([share, most]) => (used.get(share) ?? 0) >= most))
      throw new BusyError('Too many users are signing in at once. Try again in a few seconds.');
    for (const [share] of shares) count(share, 1);
    try {
      await takeSlot(client.knownAs === null ? others : known);
      try {
        return await work();
      } finally {
        releaseSlot();
      }
    } finally {
      for (const [share] of shares) count(share, -1);
    }
  };
}
