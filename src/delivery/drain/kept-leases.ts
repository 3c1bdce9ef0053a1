import PQueue from 'p-queue';
import { queueOf } from '../../listeners/delivery-queues.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Payload } from '../../platform/queues.ts';
import { type ChannelDeps, DueVotesChannel } from '../due-votes-channel.ts';
import { type LeasedListener, RENEW_MS } from './leased-listener.ts';

/** The lease of a listener is kept for this long after its last drain. */
const KEPT_FOR_MS = 5 * SECOND;
/** How often the kept leases are looked through, and their due votes that Redis did not announce are looked for. */
const LOOK_EVERY_MS = SECOND;
/**
 * For this long after a lease was released, its last owner adds a job for each announced vote: the vote may have been
 * cast by a process that saw the lease before. If it takes longer, the sweep finds the vote.
 */
const REMEMBERED_FOR_MS = 2 * SECOND;
/** At most one such job in this time: if another process has the lease by then, its answer is another announcement. */
const ADDED_EVERY_MS = SECOND / 4;

type Job = Payload<'forward-votes'>;

/** A listener whose lease this process has. `leased` is null while a drain works with it. */
type Kept = {
  job: Job;
  leased: LeasedListener | null;
  /** When the lease was kept, on `performance.now()`. */
  since: number;
  /** Votes may be due that its drain has not seen. */
  isCalled: boolean;
  /** The listener may have changed since its drain read it. */
  isChanged: boolean;
};

/** One drain of a listener. */
export type KeptTurn = {
  /** The kept lease, once; null when the drain must take the lease. */
  takeOver(): LeasedListener | null;
  /**
   * Keeps the lease after the drain found no more due votes.
   *
   * @returns whether it is kept; otherwise the drain releases it
   */
  keep(leased: LeasedListener): boolean;
  /**
   * Ends the drain. If votes may be due that it did not see, another one follows.
   *
   * @param hadLease - false if another process has the lease and hears of these votes
   */
  end(hadLease: boolean): void;
};

type Deps = ChannelDeps & {
  /** How many drains that no job began run at once. */
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
 * costs neither a lease nor a job (docs/adr/0132-shared-drains.md). A cast vote is announced to the process, and a query
 * once a second finds what was not. A lease is kept until a half of it has passed: then a job reads the server and looks
 * for lost attempts again.
 */
export class KeptLeases {
  readonly #deps: Deps;
  readonly #byServer = new Map<string, Kept>();
  /** The jobs of released leases, by server: from when on one may be added, and when they are forgotten. */
  readonly #released = new Map<string, { job: Job; from: number; until: number }>();
  readonly #channel: DueVotesChannel;
  readonly #drains: PQueue;
  #timer: NodeJS.Timeout | undefined;
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
   * Begins a drain.
   *
   * @param isAnnounced - votes were announced; false if a job began it, which something else than a vote has added
   * @returns `'busy'` when another drain of this process has the listener, which then looks for due votes once more
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
      this.#timer ??= setInterval(() => void this.#tend(), LOOK_EVERY_MS).unref();
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

  /** Releases all leases, after the drains that run. Later ones are not kept. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#drains.onIdle();
    await this.#release(() => true);
    this.#channel.close();
  }

  /** Wakes the drain of a server, if this process has the lease of its listener or had it just now. */
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

  /** Releases leases that were kept for long enough, and reads the listeners of the others in one statement. */
  async #tend(): Promise<void> {
    const now = performance.now();
    for (const [id, { until }] of this.#released) if (until < now) this.#released.delete(id);
    if (this.#byServer.size === 0) return;
    this.#isPaused = await this.#deps.isPaused().catch(() => this.#isPaused);
    await this.#release(
      ({ since, leased }) => this.#isPaused || now - since > KEPT_FOR_MS || leased?.isOld === true,
    );
    const leased = [...this.#byServer.values()].flatMap((kept) => kept.leased ?? []);
    // So a drain of the next second need not read its listener. If this fails, that drain reads it and has the error.
    await Promise.all(leased.map((one) => one.renew(RENEW_MS / 2).catch(() => false)));
  }

  async #release(which: (kept: Kept) => boolean): Promise<void> {
    const releases = [...this.#byServer].map(async ([id, kept]) => {
      const { leased, job } = kept;
      // If it was called, its drain begins soon.
      if (!leased || (kept.isCalled && !this.#isClosed) || !which(kept)) return;
      this.#forget(id, kept);
      const released = await leased.release().catch(() => leased.releaseLater(this.#deps.ending));
      if (released?.called || released?.changed || kept.isCalled) await this.#deps.addJob(job);
    });
    await Promise.all(releases);
  }
}
