import { setTimeout as pause } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, SECOND } from '../../platform/clock.ts';
import { DURABLE, MAJORITY, retryOnDuplicateKey } from '../../platform/mongo.ts';
import { CLOCKS_DIFFER_MS } from './insert-vote.ts';

const importMarkDefinition = {
  _id: { type: String, required: true },
  /** The latest end of a cooldown that an imported vote started. */
  cooldownsEndAt: { type: Date, required: true },
} as const;

/** One document, while imported votes of the last 24 hours block players. */
export const importMarkSchema = new Schema(importMarkDefinition, { collection: 'import_marks' });
importMarkSchema.index({ cooldownsEndAt: 1 }, { expireAfterSeconds: 0 });

export type ImportMark = InferRawDocType<typeof importMarkDefinition>;

export const NEWEST_IMPORT = 'votes';

const READ_EVERY_MS = 5 * SECOND;
/** A mark that was read longer ago says nothing. */
const KNOWN_FOR_MS = 2 * READ_EVERY_MS;
/** Then each process has read the mark, and has ended the requests that it began before. */
const SETTLED_MS = KNOWN_FOR_MS + 10 * SECOND;

/**
 * Whether an imported vote can block a player: rarely, so a cooldown mostly needs one read instead of two
 * (docs/adr/0032-numbers-of-imported-votes.md).
 */
export class ImportedCooldowns {
  readonly #marks: Collection<ImportMark>;
  readonly #settledMs: number;
  /** By `performance.now()`. */
  #readAt = Number.NEGATIVE_INFINITY;
  #endAt = new Date(0);
  #reading = false;

  constructor(marks: Collection<ImportMark>, { settledMs = SETTLED_MS } = {}) {
    this.#marks = marks;
    this.#settledMs = settledMs;
  }

  /** Never waits: true while it is not known. */
  mayRun(now: Date): boolean {
    const age = performance.now() - this.#readAt;
    if (age > READ_EVERY_MS && !this.#reading) void this.#read();
    return age > KNOWN_FOR_MS || this.#endAt > after(now, -CLOCKS_DIFFER_MS);
  }

  /** Before votes are imported of which one starts a cooldown until `endAt`: returns when every process heeds it. */
  async announce(endAt: Date, now: Date): Promise<void> {
    const before = await retryOnDuplicateKey(() =>
      this.#marks.findOneAndUpdate(
        { _id: NEWEST_IMPORT },
        { $max: { cooldownsEndAt: endAt } },
        { upsert: true, returnDocument: 'before', writeConcern: DURABLE },
      ),
    );
    if (endAt > this.#endAt) this.#endAt = endAt;
    const isHeeded = before && before.cooldownsEndAt > after(now, 2 * SETTLED_MS);
    if (!isHeeded) await pause(this.#settledMs);
  }

  async #read(): Promise<void> {
    this.#reading = true;
    const begun = performance.now();
    try {
      const mark = await this.#marks.findOne({ _id: NEWEST_IMPORT }, MAJORITY);
      this.#endAt = mark?.cooldownsEndAt ?? new Date(0);
      this.#readAt = begun;
    } catch {
      // The last mark counts until it is too old.
    } finally {
      this.#reading = false;
    }
  }
}
