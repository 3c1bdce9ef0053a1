import PQueue from 'p-queue';
import { RENEW_MS } from '../../listeners/delivery-limits.ts';
import { queueOf } from '../../listeners/delivery-queues.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Payload } from '../../platform/queues.ts';
import type { DeliveryDeps } from '../deps.ts';
import { DueVotesChannel } from '../due-votes-channel.ts';
import type { LeasedListener } from './leased-listener.ts';

/** A lease is kept for so long after its last drain. */
const KEPT_FOR_MS = 5 * SECOND;
/** Old leases are released, and a query looks for due votes that Redis did not announce. */
const LOOK_EVERY_MS = SECOND;
/**
 * A process that read the lease before its release adds no job, so the last owner does. Later the sweep finds votes.
 */
const REMEMBERED_FOR_MS = 2 * SECOND;
/** If another process has the lease, the job announces the votes again, which would add the next job at once. */
const ADDED_EVERY_MS = SECOND / 4;

type Job = Payload<'forward-votes'>;

/** `leased` is null while a drain runs. */
type Kept = {
  job: Job;
  leased: LeasedListener | null;
  /** On `performance.now()`. */
  since: number;
  /** There may be due votes that the drain has not read. */
  isCalled: boolean;
  /** The listener may have changed since its drain read it. */
  isChanged: boolean;
};

export type KeptTurn = {
  /** Once. Null if the drain must take the lease itself. */
  takeOver(): LeasedListener | null;
  /** After the drain found no more due votes. If false, the drain releases the lease. */
  keep(leased: LeasedListener): boolean;
  /** Another drain follows if it was called. `hadLease` is false if another process has it, or the drain failed. */
  end(hadLease: boolean): void;
};

type Deps = DeliveryDeps & {
  /** How many drains that announced votes started run at once. */
  concurrency: number;
  /** Never throws. */
  drain(job: Job): Promise<void>;
  addJob(job: Job): Promise<boolean>;
  /** The process ends. */
  ending: AbortSignal;
  /** The queue `forward-votes`, by an operator. */
  isPaused(): Promise<boolean>;
};

/**
 * The leases that a worker process keeps for some seconds after a drain: the next vote of the listener, which is
 * announced, needs neither a new lease nor a job (docs/adr/0132-shared-drains.md). After half of a lease it is
 * released: the next drain reads the server and looks for lost attempts again.
 */
export class KeptLeases {
  readonly #deps: Deps;
  readonly #byServer = new Map<string, Kept>();
  /** By server. A job may be added from `from` until `until`, on `performance.now()`. */
  readonly #released = new Map<string, { job: Job; from: number; until: number }>();
  readonly #channel: DueVotesChannel;
  readonly #drains: PQueue;
  #timer: NodeJS.Timeout | undefined;
  #tending: Promise<unknown> = Promise.resolve();
  #isPaused = false;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#drains = new PQueue({ concurrency: deps.concurrency });
    this.#channel = new DueVotesChannel(deps, {
      everyMs: LOOK_EVERY_MS,
      servers: () => [...this.#byServer].flatMap(([id, { leased }]) => (leased ? [id] : [])),
      wake: (id, isChanged) => this.#wake(id, isChanged),
    });
  }

  /**
   * If a drain runs already (`'busy'`), another one follows. A job, unlike announced votes, may mean a changed
   * listener.
   */
  begin({ serverId, listenerId }: Job, isAnnounced: boolean): KeptTurn | 'busy' {
    const job = { serverId, listenerId };
    const before = this.#byServer.get(serverId);
    if (before && !before.leased) {
      before.isCalled = true;
      before.isChanged ||= !isAnnounced;
      return 'busy';
    }
    if (!this.#isClosed) {
      this.#channel.open();
      this.#timer ??= setInterval(() => {
        this.#tending = Promise.all([this.#tending, this.#tend()]);
      }, LOOK_EVERY_MS).unref();
    }
    const kept: Kept = { job, leased: null, since: 0, isCalled: false, isChanged: false };
    let leased = before?.leased ?? null;
    if (!isAnnounced || before?.isChanged) leased?.expectChange();
    this.#byServer.set(serverId, kept);
    return {
      takeOver: () => {
        const taken = leased;
        leased = null;
        return taken;
      },
      keep: (one) => this.#keep(kept, one),
      end: (hadLease) => {
        if (!hadLease) this.#byServer.delete(serverId);
        else if (!kept.leased) this.#forget(serverId, kept);
        if (!hadLease || !kept.isCalled) return;
        if (kept.leased) this.#drain(kept);
        else void this.#deps.addJob(job);
      },
    };
  }

  #keep(kept: Kept, leased: LeasedListener): boolean {
    const { now, isLost, isOld } = leased;
    if (this.#isClosed || this.#isPaused || isLost || isOld) return false;
    if (now.pause || queueOf(now) !== 'forward-votes') return false;
    kept.leased = leased;
    kept.since = performance.now();
    return true;
  }

  #drain(kept: Kept): void {
    kept.isCalled = true;
    void this.#drains.add(() => this.#deps.drain(kept.job));
  }

  /** Waits for the running drains that announced votes started. No lease is kept after this. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#drains.onIdle();
    // The next line would not see leases that it is releasing.
    await this.#tending;
    await this.#release(() => true);
    this.#channel.close();
  }

  /** If this process has the lease, a drain follows; if it released it a moment ago, a job. */
  #wake(id: string, isChanged: boolean): void {
    const kept = this.#byServer.get(id);
    if (kept && isChanged) kept.isChanged = true;
    if (!kept) {
      const released = this.#released.get(id);
      const now = performance.now();
      if (!released || now < released.from || now >= released.until) return;
      released.from = now + ADDED_EVERY_MS;
      void this.#deps.addJob(released.job);
    } else if (!kept.isCalled) {
      if (kept.leased && !this.#isClosed) this.#drain(kept);
      else kept.isCalled = true;
    }
  }

  #forget(id: string, { job }: Kept): void {
    this.#byServer.delete(id);
    this.#released.set(id, { job, from: 0, until: performance.now() + REMEMBERED_FOR_MS });
  }

  /** Releases old leases (all, if the queue is paused), and reads the listeners of the others in one query. */
  async #tend(): Promise<void> {
    const now = performance.now();
    for (const [id, { until }] of this.#released) if (until < now) this.#released.delete(id);
    if (this.#byServer.size === 0) return;
    this.#isPaused = await this.#deps.isPaused().catch(() => this.#isPaused);
    await this.#release(
      ({ since, leased }) => this.#isPaused || now - since > KEPT_FOR_MS || leased?.isOld === true,
    );
    const leased = [...this.#byServer.values()].flatMap((kept) => kept.leased ?? []);
    // A drain that begins soon does not read its listener again. If a read fails here, it does, and handles the error.
    await Promise.all(leased.map((one) => one.renew(RENEW_MS / 2).catch(() => false)));
  }

  async #release(which: (kept: Kept) => boolean): Promise<void> {
    const releases = [...this.#byServer].map(async ([id, kept]) => {
      const { leased, job } = kept;
      // If votes were announced meanwhile, a drain that needs the lease is waiting to begin.
      if (!leased || (kept.isCalled && !this.#isClosed) || !which(kept)) return;
      this.#forget(id, kept);
      const released = await leased.release().catch(() => leased.releaseLater(this.#deps.ending));
      if (released?.called || released?.changed || kept.isCalled) await this.#deps.addJob(job);
    });
    await Promise.all(releases);
  }
}
