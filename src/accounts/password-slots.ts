import { AsyncLocalStorage } from 'node:async_hooks';

/** For whom a password is hashed or checked. */
export type Asker = {
  /** The network that the request came from: an IPv4 address or an IPv6 /48. */
  network: string;
  /** The account that a known device (see known-devices.ts) or a session belongs to; null where there is neither. */
  knownAs: string | null;
};

/** How much is done at once, and how much may wait. */
type Bounds = {
  atOnce: number;
  /** Length of each queue: one for known devices, one for all others. */
  waiting: number;
  /** Running and waiting for one network: its known devices, and as many again of its others. */
  perNetwork: number;
  /** Running and waiting for the known devices of one account. */
  perAccount: number;
};

/** So many are waiting already that one more is sent away. */
class BusyError extends Error {
  readonly statusCode = 503;

  constructor() {
    super('Too many users are signing in at once. Try again in a few seconds.');
    this.name = 'BusyError';
  }
}

const UNNAMED: Asker = { network: 'unnamed', knownAs: null };
const asking = new AsyncLocalStorage<Asker>();

/** Does `work`; each password that it hashes or checks counts for `asker`. The sign-in library cannot pass that on. */
export function hashingFor<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
  return asking.run(asker, work);
}

/**
 * Limits work that costs much of the processor. Known devices wait in a queue of their own; while both queues have
 * somebody, they are served in turn. A network and an account each have a share, so that nobody fills a queue alone.
 *
 * @returns a function that runs `work` in a slot; it throws {@link BusyError} when the queue or a share is full
 */
export function createPasswordSlots({
  atOnce,
  waiting,
  perNetwork,
  perAccount,
}: Bounds): <T>(work: () => Promise<T>) => Promise<T> {
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

  function sharesOf({ network, knownAs }: Asker): [share: string, most: number][] {
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
    if (queue.length >= waiting) throw new BusyError();
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.push(resolve);
    await promise;
  }

  /** The slot goes straight to the next one, so nobody can slip in between. */
  function passSlotOn(): void {
    const queue = (isKnownNext || others.length === 0) && known.length > 0 ? known : others;
    isKnownNext = queue === others;
    const next = queue.shift();
    if (next) next();
    else running -= 1;
  }

  return async (work) => {
    const asker = asking.getStore() ?? UNNAMED;
    const shares = sharesOf(asker);
    if (shares.some(([share, most]) => (used.get(share) ?? 0) >= most)) throw new BusyError();
    for (const [share] of shares) count(share, 1);
    try {
      await takeSlot(asker.knownAs === null ? others : known);
      try {
        return await work();
      } finally {
        passSlotOn();
      }
    } finally {
      for (const [share] of shares) count(share, -1);
    }
  };
}
