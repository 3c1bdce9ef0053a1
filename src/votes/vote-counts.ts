import type { Collection, ObjectId } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { Logger } from '../platform/log.ts';
import type { Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';

/** The UTC month of a moment: `2026-11`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7);
}

/** The UTC day of the month of a moment: `21`. */
export function dayOfMonth(at: Date): string {
  return at.toISOString().slice(8, 10);
}

/** The UTC minute of a moment, counted from 1970: `29640042`. */
export function epochMinute(at: Date): string {
  return String(Math.floor(at.getTime() / MINUTE));
}

export function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

/** A batch of increments is sent this long after its first increment was added; later if a write still runs. */
const WRITTEN_WITHIN_MS = 100;

/** A batch that could not be sent for this long is dropped, because a recount may have counted its votes by then. */
const DROPPED_AFTER_MS = 30 * SECOND;

/** The most counters with pending increments. Votes of further counters are left to `repairOpenCounters`. */
const MOST_PENDING = 20_000;

type Increment = {
  q: Pick<VoteCounter, 'serverId' | 'month'>;
  /** `{'days.21': 3, 'minutes.29640042': 3}`. */
  fields: Record<string, number>;
  votes: number;
};

type Batch = {
  increments: Map<string, Increment>;
  /** When the first increment was added, by `performance.now()`. */
  since: number;
  /** How many votes were dropped because the batch already had `MOST_PENDING` counters. */
  dropped: number;
  /** Settles when the batch was written or lost; absent while the batch collects increments. */
  written?: Promise<void>;
  /** The batch that collects increments after this one. */
  next?: Batch;
};

const newBatch = (): Batch => ({ increments: new Map(), since: performance.now(), dropped: 0 });

type Month = Pick<VoteCounter, 'serverId' | 'month'>;

const keyOf = ({ serverId, month }: Month) => serverId.toHexString() + month;

const countersOfMonths = findLoader<VoteCounter, Month>({
  filter: (months) => ({
    serverId: anyOf(months.map(({ serverId }) => serverId)),
    month: anyOf([...new Set(months.map(({ month }) => month))]),
  }),
  nameOf: keyOf,
  keyOf: ({ serverId, month }) => ({ serverId, month }),
  options: { projection: { _id: 0, serverId: 1, month: 1, days: 1 } },
});

/**
 * Counts votes in the background (design rule 8, ADR 42). Increments are collected for 100 ms, longer while a write
 * still runs, and written in one bulk write, which is not journaled. A write that fails or has an unknown result is not
 * repeated: the repair finds the lost increments.
 */
export class VoteCounts {
  readonly #voteCounters: Collection<VoteCounter>;
  readonly #batcher: Batcher;
  readonly #log: Logger;
  /** Keys of counters that this process has read, so they exist. */
  #existing = new Set<string>();
  #collecting = newBatch();
  #writing: Batch | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(voteCounters: Collection<VoteCounter>, batcher: Batcher, log: Logger) {
    this.#voteCounters = voteCounters;
    this.#batcher = batcher;
    this.#log = log;
  }

  async #written(key: string): Promise<void> {
    const batch = this.#writing;
    if (!batch?.increments.has(key)) return;
    await batch.written;
    return this.#written(key);
  }

  /**
   * Adds a vote that was inserted; its counter is incremented about 100 ms later. A quarantined vote counts only in its
   * minute, because the minutes include excluded votes and the days do not.
   */
  add({ serverId, votedAt, excludedAt }: Pick<Vote, 'serverId' | 'votedAt' | 'excludedAt'>): void {
    this.#timer ??= setTimeout(() => void this.flush(), WRITTEN_WITHIN_MS);
    const batch = this.#collecting;
    const q = { serverId, month: monthOf(votedAt) };
    const key = keyOf(q);
    let increment = batch.increments.get(key);
    if (!increment) {
      if (batch.increments.size === 0) batch.since = performance.now();
      if (batch.increments.size >= MOST_PENDING) {
        batch.dropped += 1;
        return;
      }
      increment = { q, fields: {}, votes: 0 };
      batch.increments.set(key, increment);
    }
    const counted = excludedAt ? 0 : 1;
    const [day, minute] = [`days.${dayOfMonth(votedAt)}`, `minutes.${epochMinute(votedAt)}`];
    increment.votes += counted;
    increment.fields[day] = (increment.fields[day] ?? 0) + counted;
    increment.fields[minute] = (increment.fields[minute] ?? 0) + 1;
  }

  /**
   * Reads how many votes a server has in the UTC month of `at`.
   *
   * @returns a function that gives this number plus the votes that this process has added since
   * @throws the driver's error when MongoDB fails
   */
  async ofMonth(serverId: ObjectId, at: Date): Promise<() => number> {
    const month = { serverId, month: monthOf(at) };
    const key = keyOf(month);
    for (let tries = 0; ; tries += 1) {
      await this.#written(key);
      const from = this.#collecting;
      const counter = await this.#batcher.load(countersOfMonths, this.#voteCounters, month);
      if (counter) this.#existing.add(key);
      // If increments were written during this read: the count may or may not include them, so it is read once more.
      // The second result is used in any case, because a slow MongoDB would cause this again and again.
      if (from !== this.#collecting && from.increments.has(key) && tries === 0) continue;
      const stored = counter ? sum(Object.values(counter.days)) : 0;
      return () => stored + votesSince(from, key);
    }
  }

  /** Writes the pending increments, after the write in progress. Never fails: lost increments are logged. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#writing) await this.#writing.written;
    const batch = this.#collecting;
    if (batch.increments.size === 0) return;
    if (this.#existing.size > MOST_PENDING) this.#existing.clear();
    this.#collecting = batch.next = newBatch();
    this.#writing = batch;
    batch.written = this.#write(batch).finally(() => {
      this.#writing = undefined;
    });
    await batch.written;
  }

  /** Writes the pending increments and waits at most `ms` milliseconds. Never fails: the repair finds lost ones. */
  async close(ms: number): Promise<void> {
    await within(ms, this.flush()).catch(() => undefined);
  }

  async #write({ increments, since, dropped }: Batch): Promise<void> {
    const updates = [...increments.values()];
    const lost = (votes: number, reason: string) =>
      this.#log.warn({ event: 'votes.not_counted', votes, reason }, 'the repair of the counters finds them');
    if (dropped > 0) lost(dropped, 'too many counters have pending increments');
    const votes = sum(updates.map((increment) => increment.votes));
    if (performance.now() - since > DROPPED_AFTER_MS) return lost(votes, 'they could not be written in time');
    // Equal increments of existing counters share one update. A counter that may not exist needs its own upsert.
    const groups = Map.groupBy(updates, ({ q, fields }) => {
      const key = keyOf(q);
      return this.#existing.has(key) ? JSON.stringify(fields) : key;
    });
    const operations = [...groups.values()].map((group) => {
      const [{ q, fields }] = group as [Increment];
      const update = { $inc: fields };
      return group.length === 1
        ? { updateOne: { filter: q, update, upsert: true } }
        : { updateMany: { filter: { ...q, serverId: anyOf(group.map((one) => one.q.serverId)) }, update } };
    });
    await this.#voteCounters
      .bulkWrite(operations, { ordered: false, writeConcern: { w: 1 } })
      .catch((error: unknown) => lost(votes, String(error)));
  }
}

/** The votes that were added to a counter in the batch `from` and in all later ones. */
function votesSince(from: Batch, key: string): number {
  let votes = 0;
  for (let batch: Batch | undefined = from; batch; batch = batch.next)
    votes += batch.increments.get(key)?.votes ?? 0;
  return votes;
}
