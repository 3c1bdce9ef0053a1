import PQueue from 'p-queue';
import { RENEW_MS } from '../../listeners/delivery-limits.ts';
import { queueOf } from '../../listeners/delivery-queues.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Payload } from '../../platform/queues.ts';
import type { DeliveryDeps } from '../deps.ts';
import { DueVotesChannel } from '../due-votes-channel.ts';
import type { LeasedListener } from './leased-listener.ts';

/** The lease of a listener is kept for this long after its last drain. */
const KEPT_FOR_MS = 5 * SECOND;
/** At this interval, old leases are released, and a query looks for due votes that Redis did not announce. */
const LOOK_EVERY_MS = SECOND;
/**
 * If a process casts a vote and has read the lease before the release: it announces the vote to the last owner and adds
 * no job. So for this long after the release, the last owner adds the job. The sweep finds votes announced later.
 */
const REMEMBERED_FOR_MS = 2 * SECOND;
/**
 * For a released lease, at most one job is added in this time. If another process has the lease by then, the job
 * announces the votes again, and without this limit the announcement would add the next job at once.
 */
const ADDED_EVERY_MS = SECOND / 4;

type Job = Payload<'forward-votes'>;

/** A listener that this process drains, or whose lease it keeps. `leased` is null while a drain runs. */
type Kept = {
  job: Job;
  leased: LeasedListener | null;
  /** Since when the lease has been kept, on `performance.now()`. */
  since: number;
  /** Whether there may be due votes that the drain has not read. */
  isCalled: boolean;
  /** Whether the listener may have changed since its drain read it. */
  isChanged: boolean;
};

export type KeptTurn = {
  /** Returns the kept lease, once. Null if there is none: the drain must take the lease itself. */
  takeOver(): LeasedListener | null;
  /** Keeps the lease after the drain found no more due votes. If this returns false, the drain releases the lease. */
  keep(leased: LeasedListener): boolean;
  /**
   * Ends the drain. Another drain follows if there may be due votes that this one did not read, unless `hadLease` is
   * false: then another process has the lease and sends them, or the drain failed.
   */
  end(hadLease: boolean): void;
};

type Deps = DeliveryDeps & {
  /** How many drains may run at once that were started by announced votes. */
  concurrency: number;
  /** Drains a listener whose votes may be due. Never throws. */
  drain(job: Job): Promise<void>;
  addJob(job: Job): Promise<boolean>;
  /** Aborted when the process ends. */
  ending: AbortSignal;
  /** Whether an operator has paused the queue `forward-votes`. */
  isPaused(): Promise<boolean>;
};

/**
 * The leases that a worker process keeps for some seconds after a drain, so that the next vote of the same listener
 * needs neither a new lease nor a job (docs/adr/0132-shared-drains.md). A cast vote is announced to the process; if the
 * announcement is lost, a query once a second finds the vote. When half of a lease has passed, the lease is released:
 * the next drain reads the server and looks for lost attempts again.
 */
export class KeptLeases {
  readonly #deps: Deps;
  readonly #byServer = new Map<string, Kept>();
  /** The jobs of released leases, by server. A job may be added from `from` until `until`, on `performance.now()`. */
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
   * Begins a drain. If this process drains the listener already: returns `'busy'`, and the running drain is followed by
   * another one. `isAnnounced`: whether announced votes started this drain. If a job did, the listener may be changed.
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

  /**
   * Waits for the running drains that announced votes started, then releases all leases. No lease is kept after this
   * call.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#drains.onIdle();
    // It may be releasing leases that the next line no longer sees.
    await this.#tending;
    await this.#release(() => true);
    this.#channel.close();
  }

  /**
   * Called for each server whose votes may be due. If this process has the lease of the listener, a drain follows. If
   * it released the lease a moment ago, it adds a job.
   */
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

  /**
   * Releases leases that were kept for long enough (all, if the queue is paused), and reads the listeners of the others
   * in one query.
   */
  async #tend(): Promise<void> {
    const now = performance.now();
    for (const [id, { until }] of this.#released) if (until < now) this.#released.delete(id);
    if (this.#byServer.size === 0) return;
    this.#isPaused = await this.#deps.isPaused().catch(() => this.#isPaused);
    await this.#release(
      ({ since, leased }) => this.#isPaused || now - since > KEPT_FOR_MS || leased?.isOld === true,
    );
    const leased = [...this.#byServer.values()].flatMap((kept) => kept.leased ?? []);
    // A drain that begins soon after this does not read its listener again. If a read fails here, the next drain
    // repeats the read and handles the error.
    await Promise.all(leased.map((one) => one.renew(RENEW_MS / 2).catch(() => false)));
  }

  async #release(which: (kept: Kept) => boolean): Promise<void> {
    const releases = [...this.#byServer].map(async ([id, kept]) => {
      const { leased, job } = kept;
      // If votes were announced meanwhile, the lease stays: a drain that needs it is waiting to begin.
      if (!leased || (kept.isCalled && !this.#isClosed) || !which(kept)) return;
      this.#forget(id, kept);
      const released = await leased.release().catch(() => leased.releaseLater(this.#deps.ending));
      if (released?.called || released?.changed || kept.isCalled) await this.#deps.addJob(job);
    });
    await Promise.all(releases);
  }
}
