import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, type Document, ObjectId, UUID } from 'mongodb';
import { type Clock, SECOND } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';
import type { WorkLease } from './work-lease-record.ts';

/** What a lease is kept with. */
export type Leasing = {
  workLeases: Collection<WorkLease>;
  config: { LEASE_MS: number };
  clock: Clock;
};

/** The run that holds a lease. */
export type ActiveLease = {
  /** Aborted when the lease is lost or the run is to stop. */
  signal: AbortSignal;
  /**
   * Called before each write. The signal alone is not enough: a process that stood still goes on where it was
   * before any timer of its own runs.
   *
   * @throws {LeaseLostError} when another may hold the lease by now; the signal's reason when the run is to stop
   */
  throwIfLost(): void;
};

/** Another may do the work by now: this run must not write on. */
export class LeaseLostError extends Error {
  readonly code = 'lease-lost';

  constructor(work: string) {
    super(`The lease of «${work}» was lost: another run has it, or MongoDB did not answer in time.`);
    this.name = 'LeaseLostError';
  }
}

/** Between two looks at a lease that another holds. */
const LOOK_AGAIN_MS = SECOND / 4;

/**
 * Does `run` while no other process does the same work. Waits while another has it; a holder that died is
 * succeeded after `LEASE_MS`, by mongod's clock.
 *
 * @param signal - ends the waiting and the run
 * @throws {LeaseLostError} when it was lost on the way; what `run` throws; the signal's reason
 */
export async function withLease<T>(
  deps: Leasing,
  work: string,
  run: (lease: ActiveLease) => Promise<T>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T> {
  const id = new UUID();
  const taken = await takeWhenFree(deps, work, id, signal);
  const begun = deps.clock.now();
  const lost = new AbortController();
  const lease = keepLease(deps, { work, id, until: taken }, lost, signal);
  try {
    const result = await run(lease.held);
    lease.held.throwIfLost();
    await release(deps, { work, id }, { completedAt: begun });
    return result;
  } catch (error) {
    // It runs out by itself where this fails too.
    await release(deps, { work, id }, {}).catch(() => undefined);
    throw error;
  } finally {
    await lease.end();
  }
}

/** When the last run of this work that ended well had begun; null when there was none. */
export async function lastCompleted(
  { workLeases }: Pick<Leasing, 'workLeases'>,
  work: string,
): Promise<Date | null> {
  const lease = await workLeases.findOne({ work });
  return lease?.completedAt ?? null;
}

function holder(id: UUID, { LEASE_MS }: Leasing['config']): Document[] {
  return [{ $set: { holder: { id, until: { $add: ['$$NOW', LEASE_MS] } } } }];
}

/** @returns until when it is surely held, in `performance.now()`'s time */
async function takeWhenFree(
  { workLeases, config }: Leasing,
  work: string,
  id: UUID,
  signal: AbortSignal | undefined,
): Promise<number> {
  await ensureRecord(workLeases, work);
  for (;;) {
    signal?.throwIfAborted();
    const asked = performance.now();
    const free = { $lt: [{ $ifNull: ['$holder.until', new Date(0)] }, '$$NOW'] };
    const { matchedCount } = await workLeases.updateOne({ work, $expr: free }, holder(id, config));
    if (matchedCount > 0) return asked + config.LEASE_MS;
    await pause(LOOK_AGAIN_MS, undefined, { signal });
  }
}

async function ensureRecord(workLeases: Collection<WorkLease>, work: string): Promise<void> {
  if (await workLeases.findOne({ work })) return;
  const record = { _id: new ObjectId(), work, holder: null, completedAt: null };
  await workLeases.insertOne(record).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}

/** Renews a lease three times in its length until it is ended. */
function keepLease(
  { workLeases, config }: Leasing,
  { work, id, until }: { work: string; id: UUID; until: number },
  lost: AbortController,
  signal: AbortSignal | undefined,
) {
  let heldUntil = until;
  const ended = new AbortController();
  const throwIfLost = () => {
    signal?.throwIfAborted();
    if (performance.now() >= heldUntil) lost.abort(new LeaseLostError(work));
    lost.signal.throwIfAborted();
  };
  const renewing = (async () => {
    while (!ended.signal.aborted && !lost.signal.aborted) {
      await pause(config.LEASE_MS / 3, undefined, { signal: ended.signal }).catch(() => undefined);
      if (ended.signal.aborted) return;
      const asked = performance.now();
      const renewed = await workLeases
        .updateOne({ work, 'holder.id': id }, holder(id, config))
        .catch(() => undefined);
      if (renewed?.matchedCount === 0) lost.abort(new LeaseLostError(work));
      // One that had run out meanwhile and was taken by nobody is ours again.
      else if (renewed) heldUntil = asked + config.LEASE_MS;
      else if (performance.now() >= heldUntil) lost.abort(new LeaseLostError(work));
    }
  })();
  return {
    held: { signal: signal ? AbortSignal.any([signal, lost.signal]) : lost.signal, throwIfLost },
    async end() {
      ended.abort();
      await renewing;
    },
  };
}

async function release(
  { workLeases }: Leasing,
  { work, id }: { work: string; id: UUID },
  changes: { completedAt?: Date },
): Promise<void> {
  await workLeases.updateOne({ work, 'holder.id': id }, { $set: { holder: null, ...changes } });
}
