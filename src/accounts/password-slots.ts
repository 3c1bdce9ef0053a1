import { AsyncLocalStorage } from 'node:async_hooks';

/** For whom a password is hashed or checked. */
export type Asker = {
  /** The network address, or the network, that the request came from. */
  network: string;
  /** The browser has signed in to this account before (see known-devices.ts). */
  isKnownDevice: boolean;
};

/** How much is done at once, and how much may wait. */
type Bounds = {
  atOnce: number;
  /** Of known devices, and as many again of all others. */
  waiting: number;
  /** Running and waiting for one network, known devices left out. */
  perNetwork: number;
};

/** So many are waiting already that one more is sent away. */
class BusyError extends Error {
  readonly statusCode = 503;

  constructor() {
    super('Too many people are signing in at once. Try again in a few seconds.');
    this.name = 'BusyError';
  }
}

const UNNAMED: Asker = { network: 'unnamed', isKnownDevice: false };
const asking = new AsyncLocalStorage<Asker>();

/** Does `work`; each password that it hashes or checks counts for `asker`. The sign-in library cannot pass that on. */
export function hashingFor<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
  return asking.run(asker, work);
}

/**
 * Limits work that costs much of the processor. A network gets a share of the slots, and known devices wait in a queue
 * of their own that goes first: whoever tries passwords in masses keeps no known device out.
 *
 * @returns a function that runs `work` in a slot; it throws {@link BusyError} when the queue or the share is full
 */
export function createPasswordSlots({
  atOnce,
  waiting,
  perNetwork,
}: Bounds): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const known: (() => void)[] = [];
  const others: (() => void)[] = [];
  const share = new Map<string, number>();

  const count = (network: string, change: 1 | -1) => {
    const used = (share.get(network) ?? 0) + change;
    if (used === 0) share.delete(network);
    else share.set(network, used);
  };

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
    const next = known.shift() ?? others.shift();
    if (next) next();
    else running -= 1;
  }

  return async (work) => {
    const { network, isKnownDevice } = asking.getStore() ?? UNNAMED;
    if (!isKnownDevice && (share.get(network) ?? 0) >= perNetwork) throw new BusyError();
    if (!isKnownDevice) count(network, 1);
    try {
      await takeSlot(isKnownDevice ? known : others);
      try {
        return await work();
      } finally {
        passSlotOn();
      }
    } finally {
      if (!isKnownDevice) count(network, -1);
    }
  };
}
