import type { Collection, ObjectId } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { Logger } from '../platform/log.ts';
import type { Vote } from './vote.ts';
import type { VoteCounter } from './vote-counter.ts';

/** UTC: `2026-11`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7);
}

/** UTC: `21`. */
export function dayOfMonth(at: Date): string {
  return at.toISOString().slice(8, 10);
}

/** From 1970: `29640042`. */
export function epochMinute(at: Date): string {
  return String(Math.floor(at.getTime() / MINUTE));
}

export function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

/** After its first increment; later if a write still runs. */
const WRITTEN_WITHIN_MS = 100;

/** A recount may have counted the votes of an older batch, so it is dropped. */
const DROPPED_AFTER_MS = 30 * SECOND;

/** Votes of further counters are left to `repairOpenCounters`. */
const MOST_PENDING = 20_000;

type Increment = {
  q: Pick<VoteCounter, 'serverId' | 'month'>;
  /** `{'days.21': 3, 'minutes.29640042': 3}`. */
  fields: Record<string, number>;
  votes: number;
};

type Batch = {
  increments: Map<string, Increment>;
  /** By `performance.now()`. */
  since: number;
  /** Beyond `MOST_PENDING` counters. */
  dropped: number;
  /** Settles when it was written or lost; absent while it collects. */
  written?: Promise<void>;
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
 * Counts votes in the background (design rule 8, ADR 42), in one bulk write that is not journaled. A write that fails
 * or has an unknown result is not repeated: the repair finds the lost increments.
 */
export class VoteCounts {
  readonly #voteCounters: Collection<VoteCounter>;
  readonly #batcher: Batcher;
  readonly #log: Logger;
  /** Counters that this process has read. */
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

  /** A quarantined vote counts only in its minute: minutes include excluded votes, days do not. */
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

  /** Returns a function: the votes of the UTC month, plus those that this process has added since. */
  async ofMonth(serverId: ObjectId, at: Date): Promise<() => number> {
    const month = { serverId, month: monthOf(at) };
    const key = keyOf(month);
    for (let tries = 0; ; tries += 1) {
      await this.#written(key);
      const from = this.#collecting;
      const counter = await this.#batcher.load(countersOfMonths, this.#voteCounters, month);
      if (counter) this.#existing.add(key);
      // The count may or may not include increments that were written meanwhile: once more. A slow MongoDB would cause
      // that again and again, so the second result is used.
      if (from !== this.#collecting && from.increments.has(key) && tries === 0) continue;
      const stored = counter ? sum(Object.values(counter.days)) : 0;
      return () => stored + votesSince(from, key);
    }
  }

  /** After the write in progress. Never fails: lost increments are logged. */
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

  /** Never fails: the repair finds lost increments. */
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
    // A counter that may not exist needs its own upsert.
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

/** The votes of `key` in `from` and all later batches. */
function votesSince(from: Batch, key: string): number {
  let votes = 0;
  for (let batch: Batch | undefined = from; batch; batch = batch.next)
    votes += batch.increments.get(key)?.votes ?? 0;
  return votes;
}
