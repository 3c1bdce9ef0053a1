import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, type Document, ObjectId, UUID } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { CodedError } from '../app-error.ts';
import { type Clock, SECOND } from '../clock.ts';
import { isDuplicateKey } from '../mongo.ts';

const nested = { _id: false } as const;

const holderDefinition = {
  /** Identifies one run: two runs in one process have different ids. */
  id: { type: Schema.Types.UUID, required: true },
  /** Until when the lease is valid, by mongod's clock. */
  until: { type: Date, required: true },
} as const;

const workLeaseDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  work: { type: String, required: true },
  holder: { type: new Schema(holderDefinition, nested), default: null },
  /** When the last successful run began. */
  completedAt: { type: Date, default: null },
} as const;

export const workLeaseSchema = new Schema(workLeaseDefinition, { collection: 'work_leases' });
workLeaseSchema.index({ work: 1 }, { unique: true });

export type WorkLease = InferRawDocType<typeof workLeaseDefinition>;

export type LeaseDeps = {
  workLeases: Collection<WorkLease>;
  /** A lease expires after `LEASE_MS` unless its run renews it. */
  config: { LEASE_MS: number };
  clock: Clock;
};

/** A run is one call of `withLease`. */
export type ActiveLease = {
  /** Aborted when the lease is lost or the run must stop. */
  signal: AbortSignal;
  /**
   * Must be called before each write. The signal alone is not enough: if the process was suspended, its code continues
   * before any of its timers runs.
   *
   * @throws {LeaseLostError} when another run may have the lease by now; the signal's reason when the run must stop
   */
  throwIfLost(): void;
};

/** Another run may be doing the work by now, so this run must not write any more. */
export class LeaseLostError extends CodedError<'lease-lost'> {
  constructor(work: string) {
    super(
      'lease-lost',
      `The lease of “${work}” was lost: another run has it, or MongoDB did not answer in time.`,
    );
  }
}

const RETRY_MS = SECOND / 4;

/**
 * Waits until no other run has the lease of `work`, then takes it and calls `run`. If the process dies, its lease
 * expires after `LEASE_MS` by mongod's clock. `signal` stops the waiting and the run.
 *
 * @throws {LeaseLostError} when the lease was lost during the run; the error of `run`; the signal's reason
 */
export async function withLease<T>(
  deps: LeaseDeps,
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
    const result = await run(lease.active);
    lease.active.throwIfLost();
    await release(deps, { work, id }, { completedAt: begun });
    return result;
  } catch (error) {
    // If the release fails too, the lease expires.
    await release(deps, { work, id }, {}).catch(() => undefined);
    throw error;
  } finally {
    await lease.stop();
  }
}

export async function lastCompleted(
  { workLeases }: Pick<LeaseDeps, 'workLeases'>,
  work: string,
): Promise<Date | null> {
  const lease = await workLeases.findOne({ work });
  return lease?.completedAt ?? null;
}

function leaseUpdate(id: UUID, { LEASE_MS }: LeaseDeps['config']): Document[] {
  return [{ $set: { holder: { id, until: { $add: ['$$NOW', LEASE_MS] } } } }];
}

/** Returns the time (`performance.now()`) until which the lease is certainly valid. */
async function takeWhenFree(
  { workLeases, config }: LeaseDeps,
  work: string,
  id: UUID,
  signal: AbortSignal | undefined,
): Promise<number> {
  await ensureRecord(workLeases, work);
  for (;;) {
    signal?.throwIfAborted();
    const requestedAt = performance.now();
    const free = { $lt: [{ $ifNull: ['$holder.until', new Date(0)] }, '$$NOW'] };
    const { matchedCount } = await workLeases.updateOne({ work, $expr: free }, leaseUpdate(id, config));
    if (matchedCount > 0) return requestedAt + config.LEASE_MS;
    await pause(RETRY_MS, undefined, { signal });
  }
}

async function ensureRecord(workLeases: Collection<WorkLease>, work: string): Promise<void> {
  if (await workLeases.findOne({ work })) return;
  const record = { _id: new ObjectId(), work, holder: null, completedAt: null };
  await workLeases.insertOne(record).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}

/** Renews a lease three times in each `LEASE_MS`, until `stop` is called or the lease is lost. */
function keepLease(
  { workLeases, config }: LeaseDeps,
  { work, id, until }: { work: string; id: UUID; until: number },
  lost: AbortController,
  signal: AbortSignal | undefined,
) {
  let validUntil = until;
  const stopped = new AbortController();
  const throwIfLost = () => {
    signal?.throwIfAborted();
    if (performance.now() >= validUntil) lost.abort(new LeaseLostError(work));
    lost.signal.throwIfAborted();
  };
  const renewing = (async () => {
    while (!stopped.signal.aborted && !lost.signal.aborted) {
      await pause(config.LEASE_MS / 3, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      const requestedAt = performance.now();
      const renewed = await workLeases
        .updateOne({ work, 'holder.id': id }, leaseUpdate(id, config))
        .catch(() => undefined);
      if (renewed?.matchedCount === 0) lost.abort(new LeaseLostError(work));
      // The lease is valid again even if it had expired, because no other run has taken it.
      else if (renewed) validUntil = requestedAt + config.LEASE_MS;
      else if (performance.now() >= validUntil) lost.abort(new LeaseLostError(work));
    }
  })();
  return {
    active: { signal: signal ? AbortSignal.any([signal, lost.signal]) : lost.signal, throwIfLost },
    async stop() {
      stopped.abort();
      await renewing;
    },
  };
}

async function release(
  { workLeases }: LeaseDeps,
  { work, id }: { work: string; id: UUID },
  changes: { completedAt?: Date },
): Promise<void> {
  await workLeases.updateOne({ work, 'holder.id': id }, { $set: { holder: null, ...changes } });
}
