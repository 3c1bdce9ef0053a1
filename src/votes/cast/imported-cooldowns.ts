import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, MINUTE, SECOND } from '../../platform/clock.ts';
import { DURABLE, MAJORITY, retryOnDuplicateKey } from '../../platform/mongo.ts';

const importMarkDefinition = {
  _id: { type: String, required: true },
  /** The latest end of a cooldown that an imported vote started. */
  cooldownsEndAt: { type: Date, required: true },
} as const;

/** One document, while imported votes of the last 24 hours block players. */
export const importMarkSchema = new Schema(importMarkDefinition, { collection: 'import_marks' });
// A minute later, because clocks differ.
importMarkSchema.index({ cooldownsEndAt: 1 }, { expireAfterSeconds: MINUTE / SECOND });

export type ImportMark = InferRawDocType<typeof importMarkDefinition>;

/** The id of the only mark. */
export const MARK = 'votes';

const READ_EVERY_MS = 5 * SECOND;
/** A mark that was read longer ago says nothing. */
const KNOWN_FOR_MS = 2 * READ_EVERY_MS;
/** Then each process has read the mark, and has ended the requests that it began before. */
export const SETTLED_MS = KNOWN_FOR_MS + 10 * SECOND;

/** Uses the global `setTimeout`, because tests replace that function. */
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

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
  /** Up to which end of cooldowns this import has waited. */
  #heededUntil = new Date(0);

  constructor(marks: Collection<ImportMark>, { settledMs = SETTLED_MS } = {}) {
    this.#marks = marks;
    this.#settledMs = settledMs;
  }

  /** Whether an imported vote can block a player now. Never waits: true while it is not known. */
  mayBlock(now: Date): boolean {
    const age = performance.now() - this.#readAt;
    if (age > READ_EVERY_MS && !this.#reading) void this.#read();
    return age > KNOWN_FOR_MS || this.#endAt > now;
  }

  /**
   * Before votes are imported of which one starts a cooldown until `endAt`: returns when every process heeds it. That
   * another import has announced it says nothing: it may have died while it waited.
   */
  async announce(endAt: Date, now: Date): Promise<void> {
    await retryOnDuplicateKey(() =>
      this.#marks.updateOne(
        { _id: MARK },
        { $max: { cooldownsEndAt: endAt } },
        { upsert: true, writeConcern: DURABLE },
      ),
    );
    this.#readAt = Number.NEGATIVE_INFINITY;
    // Other processes read a later end before the one that they heed is over.
    if (this.#heededUntil > after(now, 2 * SETTLED_MS)) return;
    await pause(this.#settledMs);
    this.#heededUntil = endAt;
  }

  async #read(): Promise<void> {
    this.#reading = true;
    const begun = performance.now();
    try {
      const mark = await this.#marks.findOne({ _id: MARK }, MAJORITY);
      this.#endAt = mark?.cooldownsEndAt ?? new Date(0);
      this.#readAt = begun;
    } catch {
      // The last mark counts until it is too old.
    } finally {
      this.#reading = false;
    }
  }
}
