import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { after, DAY } from '../../platform/clock.ts';
import { checked, InvalidDocumentError } from '../../platform/document.ts';
import { parseInput } from '../../platform/input.ts';
import { DURABLE, isDuplicateKey } from '../../platform/mongo.ts';
import { readSlice, type Slice } from '../../platform/slices.ts';
import { reasonText } from '../../platform/text.ts';
import type { VotesDeps } from '../deps.ts';
import { usernameKey, usernameSchema } from '../username.ts';
import { ACTIVE, type Block, MOST_BLOCKS, TYPED_KINDS } from './block-list.ts';
import { isWide, networkText, parseNetwork } from './network-range.ts';

export type NewBlock = {
  kind: string;
  /** A player's name, or an address or network in CIDR notation. */
  value: string;
  reason: string;
  endsAt?: Date | undefined;
  /** Confirms a range that is wider than an IPv4 /16 or an IPv6 /32. */
  isWideMeant?: boolean;
};

const newBlock = z.object({
  kind: z.enum(TYPED_KINDS, { error: 'must be a name or a network' }),
  value: z.string().trim(),
  reason: reasonText,
});

/**
 * In this process at once, in the others within 5 seconds.
 *
 * @throws {InvalidDocumentError} also for a value that is blocked already, a full list, or an unconfirmed wide range
 */
export async function addBlock(deps: VotesDeps, input: NewBlock, by: string): Promise<Block> {
  const { kind, value: typed, reason } = parseInput(newBlock, input);
  const { endsAt } = input;
  const now = deps.clock.now();
  if (endsAt && endsAt <= now) throw new InvalidDocumentError({ endsAt: 'The end must be in the future.' });
  const named = kind === 'name' ? nameOf(typed) : { value: networkOf(typed, input.isWideMeant === true) };
  return storeBlock(deps, { kind, ...named, reason, ...(endsAt ? { endsAt } : {}) }, by);
}

/** The hash does not show whose network it is, and networks change hands. */
const ORIGIN_BLOCKED_MS = 30 * DAY;
export const ORIGIN_BLOCKED_DAYS = ORIGIN_BLOCKED_MS / DAY;

/**
 * Blocks the network of held votes, by one of the hashes that `networkKeys` returns.
 *
 * @throws {InvalidDocumentError} when it is blocked already, or the list is full
 */
export function blockOrigin(
  deps: VotesDeps,
  { origin, reason }: { origin: string; reason: string },
  by: string,
): Promise<Block> {
  const endsAt = after(deps.clock.now(), ORIGIN_BLOCKED_MS);
  return storeBlock(deps, { kind: 'origin', value: origin, reason, endsAt }, by);
}

async function storeBlock(
  deps: VotesDeps,
  given: Pick<Block, 'kind' | 'value' | 'username' | 'reason' | 'endsAt'>,
  by: string,
): Promise<Block> {
  const now = deps.clock.now();
  await endExpired(deps, now);
  if ((await deps.blocks.countDocuments(ACTIVE, { limit: MOST_BLOCKS })) >= MOST_BLOCKS) {
    throw new InvalidDocumentError({ value: `The list is full: ${MOST_BLOCKS} entries. Lift some first.` });
  }
  const block = await checked<Block>(deps.blocks, {
    ...given,
    _id: new ObjectId(),
    by,
    at: now,
    isActive: true,
    hits: 0,
  });
  await deps.blocks.insertOne(block, { writeConcern: DURABLE }).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
    throw new InvalidDocumentError({ value: 'This is blocked already.' });
  });
  deps.blockList.forget();
  await recordAudit(deps, { by, action: 'block.add', serverId: null, details: detailsOf(block) });
  return block;
}

function nameOf(typed: string): Pick<Block, 'value' | 'username'> {
  const { data, error } = usernameSchema.safeParse(typed);
  if (data === undefined) throw new InvalidDocumentError({ value: `The ${error.issues[0]?.message}.` });
  return { value: usernameKey(data), username: data };
}

function networkOf(typed: string, isWideMeant: boolean): string {
  const range = parseNetwork(typed);
  if (!range) {
    throw new InvalidDocumentError({
      value: 'Enter an address or a network such as 203.0.113.0/24 or 2001:db8::/48.',
    });
  }
  if (isWide(range) && !isWideMeant) {
    throw new InvalidDocumentError({
      isWideMeant: `${networkText(range)} is a very large network. Confirm that you want to block all of it.`,
    });
  }
  return networkText(range);
}

/** Otherwise they would count for `MOST_BLOCKS`, and the unique index would refuse a new block of the same value. */
async function endExpired({ blocks }: VotesDeps, now: Date): Promise<void> {
  await blocks.updateMany({ isActive: true, endsAt: { $lte: now } }, { $unset: { isActive: '' } });
}

function detailsOf({ _id, kind, value, username, reason, endsAt }: Block): Record<string, unknown> {
  return {
    blockId: _id.toHexString(),
    kind,
    ...(kind === 'name' ? { username } : { network: value }),
    reason,
    endsAt: endsAt?.toISOString() ?? null,
  };
}

/** Votes that it refused are not cast later; those that it held stay held. Null when no such block is active. */
export async function liftBlock(deps: VotesDeps, blockId: ObjectId, by: string): Promise<Block | null> {
  const block = await deps.blocks.findOneAndUpdate(
    { _id: blockId, isActive: true },
    { $set: { lifted: { by, at: deps.clock.now() } }, $unset: { isActive: '' } },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (!block) return null;
  deps.blockList.forget();
  const { reason: _, ...details } = detailsOf(block);
  await recordAudit(deps, { by, action: 'block.lift', serverId: null, details });
  return block;
}

/** Newest first, including those that have ended. */
export function listBlocks(
  { blocks }: VotesDeps,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Slice<Block>> {
  return readSlice(blocks, { filter: {}, by: { field: 'at', direction: -1 }, from, limit });
}
