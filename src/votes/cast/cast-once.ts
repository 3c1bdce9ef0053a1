import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, ObjectId, type UUID } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { anyOf, findLoader } from '../../platform/batching/find-loader.ts';
import { insertLoader, upsertLoader } from '../../platform/batching/write-loaders.ts';
import { after, DAY, SECOND } from '../../platform/clock.ts';
import { DeadlineError } from '../../platform/deadline.ts';
import type { Logger } from '../../platform/log.ts';
import {
  DURABLE,
  isDuplicateKey,
  isUnknownResult,
  MAJORITY,
  OPERATION_TIMEOUT_MS,
} from '../../platform/mongo.ts';
import type { CastDeadline } from './cast-deadline.ts';
import {
  type Accepted,
  type CastDeps,
  type CastRequest,
  castVote,
  newVoteId,
  type Refused,
} from './cast-vote.ts';
import { VoteResultUnknownError } from './insert-vote.ts';

const idempotencyKeyDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  key: { type: String, required: true },
  username: { type: String, required: true },
  /** The request that completes the vote inserts it with this. */
  voteId: { type: Schema.Types.UUID, required: true },
  /** The TTL index deletes an expired key only after a delay: `storeKey` checks it. */
  expiresAt: { type: Date, required: true },
  /** The first 200 response, byte for byte. */
  answer: { type: String, default: null },
} as const;

/** Design rule 9. */
export const idempotencyKeySchema = new Schema(idempotencyKeyDefinition, { collection: 'idempotency_keys' });
idempotencyKeySchema.index({ serverId: 1, key: 1 }, { unique: true });
idempotencyKeySchema.index({ expiresAt: 1 }, { expireAfterSeconds: 3_600 });

export type IdempotencyKey = InferRawDocType<typeof idempotencyKeyDefinition>;

export const KEY_LIFETIME_MS = DAY;

/** For the answer of another request that stored the key. */
const TIMEOUT_MS = 2 * SECOND;
const LOOK_AGAIN_MS = 25;

/** `replayed`: another request with the same key stored it. */
type Answer = { kind: 'answer'; body: string; voteId: UUID; replayed: boolean };
export type KeyReused = { kind: 'key-reused'; username: string };

const insertKeys = insertLoader<IdempotencyKey>(DURABLE);
const storeAnswers = upsertLoader<IdempotencyKey>(DURABLE);

const storedKeysLoader = findLoader<IdempotencyKey, Pick<IdempotencyKey, 'serverId' | 'key'>>({
  filter: (keys) => ({ serverId: anyOf(keys.map(({ serverId }) => serverId)), $or: keys }),
  nameOf: ({ serverId, key }) => `${serverId.toHexString()} ${key}`,
  keyOf: ({ serverId, key }) => ({ serverId, key }),
  options: MAJORITY,
});

export type OnceDeps = CastDeps & { idempotencyKeys: Collection<IdempotencyKey>; log: Logger };

/**
 * Design rule 9: the key is stored first, the vote is inserted under the id that is stored with it, and the answer is
 * stored before it is returned; the first one wins. If the key has no answer, the request waits, then casts the vote
 * under the stored id. Keys and answers are read with majority read concern and are durable before they are returned,
 * so a failover or a crash does not change a replay. Each server has its own keys.
 *
 * @param bodyOf - makes the response body that is stored and replayed byte for byte
 * @returns the stored answer; or a refusal, which frees the key; or that the key was used for another name
 * @throws as `castVote`. After {VoteResultUnknownError} the key stays, so that a repeated request casts the same vote.
 *   After any other error it is freed if this request stored it
 */
export async function castOnce(
  deps: OnceDeps,
  request: CastRequest & { key: string },
  bodyOf: (accepted: Accepted) => string,
  deadline: CastDeadline,
): Promise<Answer | Refused | KeyReused> {
  for (;;) {
    const { storedKey, isOwn } = await storeKey(deps, request);
    if (storedKey.username !== request.username) {
      await deps.durability.confirm();
      return { kind: 'key-reused', username: storedKey.username };
    }
    // The other request may have inserted the vote, so a timeout means an unknown result.
    if (!isOwn) deadline.allowInsert();
    const existing = isOwn ? storedKey : await awaitAnswer(deps, storedKey);
    // The key was freed, because the other request was refused or failed.
    if (!existing) continue;
    if (existing.answer) {
      await deps.durability.confirm();
      return { kind: 'answer', body: existing.answer, voteId: storedKey.voteId, replayed: true };
    }
    return finish(deps, request, { storedKey, isOwn, deadline }, bodyOf);
  }
}

async function finish(
  deps: OnceDeps,
  request: CastRequest,
  { storedKey, isOwn, deadline }: { storedKey: IdempotencyKey; isOwn: boolean; deadline: CastDeadline },
  bodyOf: (accepted: Accepted) => string,
): Promise<Answer | Refused> {
  let cast: Accepted | Refused;
  try {
    cast = await castVote(deps, request, deadline, storedKey.voteId);
  } catch (error) {
    // Another request that stored the key may have cast the vote.
    if (isOwn && !(error instanceof VoteResultUnknownError)) await freeKey(deps, storedKey);
    throw error;
  }
  if (cast.kind === 'refused') {
    await freeKey(deps, storedKey);
    return cast;
  }
  const body = await storeAnswer(deps, storedKey, bodyOf(cast)).catch((error: unknown) => {
    throw new VoteResultUnknownError(error);
  });
  return { kind: 'answer', body, voteId: storedKey.voteId, replayed: false };
}

/** Or finds the key that another request stored. Replaces an expired one. */
async function storeKey(
  { idempotencyKeys, batcher, clock }: OnceDeps,
  { serverId, key, username }: CastRequest & { key: string },
): Promise<{ storedKey: IdempotencyKey; isOwn: boolean }> {
  const now = clock.now();
  const fresh: IdempotencyKey = {
    _id: new ObjectId(),
    serverId,
    key,
    username,
    voteId: newVoteId(now),
    expiresAt: after(now, KEY_LIFETIME_MS),
    answer: null,
  };
  const deadline = Date.now() + OPERATION_TIMEOUT_MS;
  for (;;) {
    try {
      await batcher.load(insertKeys, idempotencyKeys, fresh);
      return { storedKey: fresh, isOwn: true };
    } catch (error) {
      // Nothing is cast yet. If the key was stored all the same, the next request with it casts the vote.
      if (!isDuplicateKey(error) && !isUnknownResult(error)) throw error;
      if (Date.now() >= deadline)
        throw isDuplicateKey(error) ? new DeadlineError(OPERATION_TIMEOUT_MS) : error;
    }
    const existing = await batcher.load(storedKeysLoader, idempotencyKeys, { serverId, key });
    if (!existing) {
      // Not stored, or not on a majority yet and may be rolled back.
      await pause(LOOK_AGAIN_MS);
      continue;
    }
    if (now < existing.expiresAt) return { storedKey: existing, isOwn: existing._id.equals(fresh._id) };
    await idempotencyKeys.deleteOne({ serverId, key, _id: existing._id });
  }
}

function readStoredKey(
  idempotencyKeys: Collection<IdempotencyKey>,
  { _id, serverId, key }: IdempotencyKey,
): Promise<IdempotencyKey | null> {
  return idempotencyKeys.findOne({ _id, serverId, key }, MAJORITY);
}

/** Null when the key was freed. */
async function awaitAnswer(
  { idempotencyKeys }: OnceDeps,
  storedKey: IdempotencyKey,
): Promise<IdempotencyKey | null> {
  const deadline = Date.now() + TIMEOUT_MS;
  let existing: IdempotencyKey | null = storedKey;
  while (existing && !existing.answer && Date.now() < deadline) {
    await pause(LOOK_AGAIN_MS);
    existing = await readStoredKey(idempotencyKeys, storedKey);
  }
  return existing;
}

/**
 * The first answer wins. A key that a failed request freed meanwhile is stored again, so that this answer is replayed.
 */
async function storeAnswer(
  { idempotencyKeys, batcher, durability }: OnceDeps,
  storedKey: IdempotencyKey,
  body: string,
): Promise<string> {
  const { _id, serverId, key, answer: _, ...rest } = storedKey;
  const deadline = Date.now() + OPERATION_TIMEOUT_MS;
  for (;;) {
    try {
      await batcher.load(storeAnswers, idempotencyKeys, {
        q: { _id, serverId, key, answer: null },
        u: { $set: { answer: body }, $setOnInsert: rest },
      });
      return body;
    } catch (error) {
      if (!isDuplicateKey(error) || Date.now() >= deadline) throw error;
    }
    const existing = await readStoredKey(idempotencyKeys, storedKey);
    if (existing?.answer) {
      await durability.confirm();
      return existing.answer;
    }
    // The other answer is not on a majority yet, and a rollback may remove it.
    await pause(LOOK_AGAIN_MS);
  }
}

/** Unless it has an answer. If this fails, the next request with this key casts the vote. */
async function freeKey({ idempotencyKeys, log }: OnceDeps, storedKey: IdempotencyKey): Promise<void> {
  const place = { _id: storedKey._id, serverId: storedKey.serverId, key: storedKey.key, answer: null };
  await idempotencyKeys.deleteOne(place).catch((error: unknown) => {
    log.warn({
      event: 'idempotency.not_freed',
      serverId: storedKey.serverId.toHexString(),
      reason: String(error),
    });
  });
}
