import ipaddr from 'ipaddr.js';
import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import { LONGEST_REASON } from '../../platform/text.ts';
import { isInRange, type NetworkRange, parseNetwork } from './network-range.ts';

/** What an operator types: a player's name, or a network. */
export const TYPED_KINDS = ['name', 'network'] as const;
export type TypedKind = (typeof TYPED_KINDS)[number];

/** A block of kind `origin` stops a network whose votes were held; only the network's keyed hash is known. */
export const BLOCK_KINDS = [...TYPED_KINDS, 'origin'] as const;

const liftedDefinition = {
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

const blockDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  kind: { type: String, enum: BLOCK_KINDS, required: true },
  /** A player's `usernameKey`, a network such as `203.0.113.0/24`, or a keyed hash (`networkKeys`). */
  value: { type: String, required: true },
  /** The player's name as the operator typed it. Absent for a network. */
  username: { type: String },
  /** The reason that only operators see. */
  reason: { type: String, required: true, maxlength: LONGEST_REASON },
  by: { type: String, required: true },
  at: { type: Date, required: true },
  /** The block has no effect from this time on. Absent if it has no end. */
  endsAt: { type: Date },
  /** True while the block is in the list. After `endsAt` it stays true until the next block is added. */
  isActive: { type: Boolean },
  lifted: { type: new Schema(liftedDefinition, { _id: false }) },
  /** How many vote forms the block refused and votes of the API it held; `lastHitAt`: when it last did so. */
  hits: { type: Number, required: true },
  lastHitAt: { type: Date },
} as const;

/** A block that has ended or was lifted is deleted after this time, because a network may be personal data. */
export const BLOCK_TTL_SECONDS = (90 * DAY) / SECOND;

/** Players' names and networks whose votes operators block. */
export const blockSchema = new Schema(blockDefinition, { collection: 'blocks' });
blockSchema.index({ kind: 1, value: 1 }, { unique: true, partialFilterExpression: { isActive: true } });
blockSchema.index({ at: -1, _id: -1 });
blockSchema.index({ 'lifted.at': 1 }, { expireAfterSeconds: BLOCK_TTL_SECONDS });
blockSchema.index({ endsAt: 1 }, { expireAfterSeconds: BLOCK_TTL_SECONDS });

export type Block = InferRawDocType<typeof blockDefinition>;

export function isEffective({ isActive, endsAt }: Pick<Block, 'isActive' | 'endsAt'>, now: Date): boolean {
  return isActive === true && (!endsAt || now < endsAt);
}

/**
 * A filter for the blocks of the list. It names all kinds so that the query can use the unique index (`kind` first).
 */
export const ACTIVE = { kind: { $in: [...BLOCK_KINDS] }, isActive: true };

/** How long a process uses a loaded list: a change of the list applies in every process within this time. */
const TTL_MS = 5 * SECOND;
export const BLOCKS_APPLY_SECONDS = TTL_MS / SECOND;

/** If MongoDB is slow and an earlier list is loaded: a vote waits at most this long for the new list. */
const LONGEST_WAIT_MS = SECOND;

/** Hits are written at most this long after the first of them. */
const HITS_WRITTEN_WITHIN_MS = SECOND;

/** The maximum number of blocks in the list. */
export const MOST_BLOCKS = 2_000;

type Entry = Pick<Block, '_id' | 'isActive' | 'endsAt'>;
type Loaded = {
  at: number;
  names: Map<string, Entry>;
  networks: (Entry & { range: NetworkRange })[];
  origins: Map<string, Entry>;
};

/**
 * The blocked names and networks, cached in the process. One query reads the whole list, only while votes come in: at
 * most every 5 seconds, and after `forget`. If a query fails: the last list, if there is one, stays in effect.
 */
export class BlockList {
  readonly #blocks: Collection<Block>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #ttlMs: number;
  #loaded: Loaded | undefined;
  #loading: Promise<Loaded> | undefined;
  #hits = new Map<string, { _id: ObjectId; hits: number; lastHitAt: Date }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(blocks: Collection<Block>, log: Pick<Logger, 'warn'>, { ttlMs = TTL_MS } = {}) {
    this.#blocks = blocks;
    this.#log = log;
    this.#ttlMs = ttlMs;
  }

  /**
   * The block of a player's name.
   *
   * @param usernameKey - as `usernameKey` returns it
   * @throws the driver's error when MongoDB fails and the list was never read
   */
  async findName(usernameKey: string, now: Date): Promise<Entry | null> {
    const found = (await this.#read()).names.get(usernameKey);
    return found && isEffective(found, now) ? found : null;
  }

  /** The block of the network of an address. Throws as `findName` does. */
  async findNetwork(address: string, now: Date): Promise<Entry | null> {
    const { networks } = await this.#read();
    if (networks.length === 0 || !ipaddr.isValid(address)) return null;
    const parsed = ipaddr.process(address);
    return networks.find((one) => isInRange(parsed, one.range) && isEffective(one, now)) ?? null;
  }

  /**
   * Finds the block of a network that is stored only as a keyed hash. Throws the errors of `findName`.
   *
   * @param keysOf - the hashes of the networks of an address; called only when there are such blocks
   */
  async findOrigin(keysOf: () => string[], now: Date): Promise<Entry | null> {
    const { origins } = await this.#read();
    if (origins.size === 0) return null;
    const found = keysOf().flatMap((key) => origins.get(key) ?? []);
    return found.find((one) => isEffective(one, now)) ?? null;
  }

  /** Counts a vote form that a block refused, or a vote that it held. A crash loses the hits of the last second. */
  countHit({ _id }: Entry, now: Date): void {
    const key = _id.toHexString();
    const hits = (this.#hits.get(key)?.hits ?? 0) + 1;
    this.#hits.set(key, { _id, hits, lastHitAt: now });
    this.#timer ??= setTimeout(() => void this.flush(), HITS_WRITTEN_WITHIN_MS);
  }

  /** Drops the loaded list, so the next use reads it again. Call this after this process has changed a block. */
  forget(): void {
    this.#loaded = undefined;
    this.#loading = undefined;
  }

  /** Writes the counted hits. Never fails: lost hits are logged. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counted = [...this.#hits.values()];
    this.#hits = new Map();
    if (counted.length === 0) return;
    const updates = counted.map(({ _id, hits, lastHitAt }) => ({
      updateOne: { filter: { _id }, update: { $inc: { hits }, $max: { lastHitAt } } },
    }));
    await this.#blocks.bulkWrite(updates, { ordered: false }).catch((error: unknown) => {
      this.#log.warn({ event: 'blocks.hits_lost', reason: String(error) });
    });
  }

  /** Writes the counted hits and waits at most `ms` milliseconds. Never fails. */
  async close(ms: number): Promise<void> {
    await within(ms, this.flush()).catch(() => undefined);
  }

  async #read(): Promise<Loaded> {
    const known = this.#loaded;
    if (known && performance.now() - known.at < this.#ttlMs) return known;
    const loading = this.#load();
    if (!known) return loading;
    try {
      return await within(LONGEST_WAIT_MS, loading);
    } catch (error) {
      if (this.#loaded !== known) return this.#loaded ?? known;
      this.#log.warn({ event: 'blocks.not_refreshed', reason: String(error) });
      // The next read follows after another TTL, so that a broken MongoDB does not delay every vote.
      this.#loaded = { ...known, at: performance.now() };
      return known;
    }
  }

  /** Reads the list, or joins a read that is running. */
  #load(): Promise<Loaded> {
    if (this.#loading) return this.#loading;
    const loading: Promise<Loaded> = this.#query()
      .then((loaded) => {
        // If `forget` was called during this read: the list may be older than the change, so it is not stored.
        if (this.#loading === loading) this.#loaded = loaded;
        return loaded;
      })
      .finally(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    // Without this handler, the error of a read that no vote waits for would be an unhandled rejection.
    loading.catch(() => undefined);
    this.#loading = loading;
    return loading;
  }

  async #query(): Promise<Loaded> {
    const at = performance.now();
    const projection = { kind: 1, value: 1, isActive: 1, endsAt: 1 };
    const found = await this.#blocks.find(ACTIVE, { projection }).toArray();
    const byValue = (of: Block['kind']) =>
      new Map(found.flatMap((entry) => (entry.kind === of ? [[entry.value, entry] as const] : [])));
    return {
      at,
      names: byValue('name'),
      origins: byValue('origin'),
      networks: found.flatMap((entry) => {
        const range = entry.kind === 'network' ? parseNetwork(entry.value) : null;
        return range ? [{ ...entry, range }] : [];
      }),
    };
  }
}
