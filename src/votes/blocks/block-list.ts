import ipaddr from 'ipaddr.js';
import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../../platform/clock.ts';
import { within } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import { LONGEST_REASON } from '../../platform/text.ts';
import { isInRange, type NetworkRange, parseNetwork } from './network-range.ts';

export const TYPED_KINDS = ['name', 'network'] as const;
export type TypedKind = (typeof TYPED_KINDS)[number];

/** `origin`: the network of held votes, of which only the keyed hash is known. */
export const BLOCK_KINDS = [...TYPED_KINDS, 'origin'] as const;

const liftedDefinition = {
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

const blockDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  kind: { type: String, enum: BLOCK_KINDS, required: true },
  /** A `usernameKey`, a network such as `203.0.113.0/24`, or a keyed hash (`networkKeys`). */
  value: { type: String, required: true },
  /** As the operator typed it. */
  username: { type: String },
  /** Only operators see it. */
  reason: { type: String, required: true, maxlength: LONGEST_REASON },
  by: { type: String, required: true },
  at: { type: Date, required: true },
  /** No effect from this time on. */
  endsAt: { type: Date },
  /** After `endsAt` it stays true until the next block is added. */
  isActive: { type: Boolean },
  lifted: { type: new Schema(liftedDefinition, { _id: false }) },
  /** Vote forms that it refused and votes of the API that it held. */
  hits: { type: Number, required: true },
  lastHitAt: { type: Date },
} as const;

/** A network may be personal data, so an ended or lifted block is deleted. */
export const BLOCK_TTL_SECONDS = (90 * DAY) / SECOND;

export const blockSchema = new Schema(blockDefinition, { collection: 'blocks' });
blockSchema.index({ kind: 1, value: 1 }, { unique: true, partialFilterExpression: { isActive: true } });
blockSchema.index({ at: -1, _id: -1 });
blockSchema.index({ 'lifted.at': 1 }, { expireAfterSeconds: BLOCK_TTL_SECONDS });
blockSchema.index({ endsAt: 1 }, { expireAfterSeconds: BLOCK_TTL_SECONDS });

export type Block = InferRawDocType<typeof blockDefinition>;

export function isEffective({ isActive, endsAt }: Pick<Block, 'isActive' | 'endsAt'>, now: Date): boolean {
  return isActive === true && (!endsAt || now < endsAt);
}

/** It names all kinds so that the query can use the unique index (`kind` first). */
export const ACTIVE = { kind: { $in: [...BLOCK_KINDS] }, isActive: true };

/** A change of the list applies in every process within this time. */
const TTL_MS = 5 * SECOND;
export const BLOCKS_APPLY_SECONDS = TTL_MS / SECOND;

/** A vote's wait for a new list if MongoDB is slow and an earlier one is loaded. */
const LONGEST_WAIT_MS = SECOND;

const HITS_WRITTEN_WITHIN_MS = SECOND;

export const MOST_BLOCKS = 2_000;

type Entry = Pick<Block, '_id' | 'isActive' | 'endsAt'>;
type Loaded = {
  at: number;
  names: Map<string, Entry>;
  networks: (Entry & { range: NetworkRange })[];
  origins: Map<string, Entry>;
};

/** Cached in the process: one query reads the whole list, at most every 5 seconds. If it fails, the last list stays. */
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

  /** @throws the driver's error when MongoDB fails and the list was never read; so do the next two */
  async findName(usernameKey: string, now: Date): Promise<Entry | null> {
    const found = (await this.#read()).names.get(usernameKey);
    return found && isEffective(found, now) ? found : null;
  }

  async findNetwork(address: string, now: Date): Promise<Entry | null> {
    const { networks } = await this.#read();
    if (networks.length === 0 || !ipaddr.isValid(address)) return null;
    const parsed = ipaddr.process(address);
    return networks.find((one) => isInRange(parsed, one.range) && isEffective(one, now)) ?? null;
  }

  /** `keysOf` hashes the networks of an address; called only when there are such blocks. */
  async findOrigin(keysOf: () => string[], now: Date): Promise<Entry | null> {
    const { origins } = await this.#read();
    if (origins.size === 0) return null;
    const found = keysOf().flatMap((key) => origins.get(key) ?? []);
    return found.find((one) => isEffective(one, now)) ?? null;
  }

  /** A crash loses the hits of the last second. */
  countHit({ _id }: Entry, now: Date): void {
    const key = _id.toHexString();
    const hits = (this.#hits.get(key)?.hits ?? 0) + 1;
    this.#hits.set(key, { _id, hits, lastHitAt: now });
    this.#timer ??= setTimeout(() => void this.flush(), HITS_WRITTEN_WITHIN_MS);
  }

  /** Call this after this process has changed a block. */
  forget(): void {
    this.#loaded = undefined;
    this.#loading = undefined;
  }

  /** Never fails: lost hits are logged. */
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

  /** Never fails. */
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
      // The next read follows after another TTL: a broken MongoDB must not delay every vote.
      this.#loaded = { ...known, at: performance.now() };
      return known;
    }
  }

  #load(): Promise<Loaded> {
    if (this.#loading) return this.#loading;
    const loading: Promise<Loaded> = this.#query()
      .then((loaded) => {
        // After `forget` the list may be older than the change, so it is not stored.
        if (this.#loading === loading) this.#loaded = loaded;
        return loaded;
      })
      .finally(() => {
        if (this.#loading === loading) this.#loading = undefined;
      });
    // No vote may wait for this read: its error would be an unhandled rejection.
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
