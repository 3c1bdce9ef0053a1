import { type Collection, ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import type { Batcher, BatchLoader } from '../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { TtlCache } from '../platform/batching/ttl-cache.ts';
import { after, type Clock, MINUTE, SECOND } from '../platform/clock.ts';
import { checked } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { text } from '../platform/text.ts';
import type { ApiToken } from './api-token.ts';
import type { Server } from './server.ts';
import { serverLoader } from './server-loader.ts';
import { hashToken, isTokenShaped, makeToken, tokenPrefix } from './token-text.ts';

type Tokens = { apiTokens: Collection<ApiToken>; clock: Clock };

/** Dependencies of the functions that shorten a token's validity. */
type Invalidating = Tokens & { authentications: TtlCache<AuthenticatedToken> };

/** A new token. `token` is shown once and never stored. */
export type IssuedToken = { tokenId: string; token: string };

/** The form that makes a token was sent twice. The token was shown the first time and cannot be shown again. */
export class TokenMadeError extends Error {
  readonly code = 'token-made';

  constructor() {
    super('This token was made already.');
    this.name = 'TokenMadeError';
  }
}

/** `lastUsedAt` is precise to the minute: a busy token costs one write per minute, not one per request. */
const LAST_USED_STEP_MS = MINUTE;

const naming = z.object({
  name: z
    .string({ error: 'must be text' })
    .transform((value) => value.trim())
    .pipe(text({ min: 1, max: 60 }))
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), {
      error: 'must have no line breaks and no other control characters',
    }),
});

/**
 * A token to make. Without `expiresInMs` it never expires. `tokenId` is the id of the new token: a repeated request
 * with the same id makes no second token.
 */
type TokenRequest = { serverId: ObjectId; name: string; expiresInMs?: number; tokenId?: ObjectId };

/**
 * Makes a token for a server.
 *
 * @param request - `expiresInMs` from now; without it the token never expires
 * @throws {InvalidDocumentError} for a name that is empty, longer than 60 characters (code points) or not one line;
 *   {TokenMadeError} when a token with this id exists
 */
export async function issueToken(tokens: Tokens, request: TokenRequest): Promise<IssuedToken> {
  return await insertToken(tokens, { ...request, ...parseInput(naming, { name: request.name }) });
}

async function insertToken({ apiTokens, clock }: Tokens, request: TokenRequest): Promise<IssuedToken> {
  const token = makeToken();
  const now = clock.now();
  const document = await checked<ApiToken>(apiTokens, {
    _id: request.tokenId ?? new ObjectId(),
    serverId: request.serverId,
    name: request.name,
    hash: hashToken(token),
    prefix: tokenPrefix(token),
    createdAt: now,
    expiresAt: request.expiresInMs === undefined ? null : after(now, request.expiresInMs),
    lifetimeMs: request.expiresInMs ?? null,
    revokedAt: null,
    lastUsedAt: null,
  });
  try {
    await apiTokens.insertOne(document);
  } catch (error) {
    if (isDuplicateKey(error)) throw new TokenMadeError();
    throw error;
  }
  return { tokenId: document._id.toHexString(), token };
}

/** A server's tokens, oldest first, revoked and expired ones too. */
export function listTokens(
  { apiTokens }: Pick<Tokens, 'apiTokens'>,
  serverId: ObjectId,
): Promise<WithId<ApiToken>[]> {
  return apiTokens.find({ serverId }).sort({ createdAt: 1 }).toArray();
}

/**
 * Revokes a token. It is refused from now on.
 *
 * @returns whether the server has such a token (also when it was revoked before)
 */
export async function revokeToken(
  { apiTokens, authentications, clock }: Invalidating,
  serverId: ObjectId,
  tokenId: ObjectId,
): Promise<boolean> {
  const found = await apiTokens.updateOne({ _id: tokenId, serverId }, [
    { $set: { revokedAt: { $ifNull: ['$revokedAt', clock.now()] } } },
  ]);
  authentications.forget(({ token }) => token._id.equals(tokenId));
  return found.matchedCount === 1;
}

/**
 * Replaces a token by a new one of the same name. The old one stays valid for `overlapMs`, so that its owner can
 * change the plugin's token without losing a vote. An earlier expiry of the old one is unchanged.
 *
 * @param newId - the id of the new token: a repeated request with the same id makes no second token
 * @returns the new token, or null when the server has no such valid token
 * @throws {TokenMadeError} when a token with this id exists; an interrupted rotation is completed first
 */
export async function rotateToken(
  { apiTokens, authentications, clock }: Invalidating,
  serverId: ObjectId,
  tokenId: ObjectId,
  { overlapMs, newId }: { overlapMs: number; newId?: ObjectId },
): Promise<IssuedToken | null> {
  const old = await apiTokens.findOne({ _id: tokenId, serverId });
  if (!old) return null;
  const expireOld = async () => {
    await expireAt(apiTokens, old, after(clock.now(), overlapMs));
    authentications.forget(({ token }) => token._id.equals(tokenId));
  };
  if (!isValid(old, clock.now())) {
    if (newId && (await apiTokens.findOne({ _id: newId, serverId }))) throw new TokenMadeError();
    return null;
  }
  const request = { serverId, name: old.name, ...(newId ? { tokenId: newId } : {}) };
  const lifetime = typeof old.lifetimeMs === 'number' ? { expiresInMs: old.lifetimeMs } : {};
  try {
    const issued = await insertToken({ apiTokens, clock }, { ...request, ...lifetime });
    await expireOld();
    return issued;
  } catch (error) {
    // The first request may have stopped between the insert and the expiry.
    if (error instanceof TokenMadeError) await expireOld();
    throw error;
  }
}

async function expireAt(
  apiTokens: Collection<ApiToken>,
  { _id, serverId }: ApiToken,
  at: Date,
): Promise<void> {
  await apiTokens.updateOne({ _id, serverId }, [
    { $set: { expiresAt: { $min: [{ $ifNull: ['$expiresAt', at] }, at] } } },
  ]);
}

/** Whether a token is neither revoked nor expired. */
export function isValid(token: ApiToken, now: Date): boolean {
  return !token.revokedAt && (!token.expiresAt || now < token.expiresAt);
}

/** An authenticated call's server and token. */
type Caller = { server: WithId<Pick<Server, 'removedAt'>>; token: WithId<ApiToken> };

const tokensLoader = findLoader<ApiToken, string>({
  filter: (hashes) => ({ hash: anyOf(hashes) }),
  nameOf: (hash) => hash,
  keyOf: ({ hash }) => hash,
});

/** Servers with their `removedAt`. */
const removalsLoader = serverLoader({ removedAt: 1 });

type Authenticating = Tokens & { servers: Collection<Server>; batcher: Batcher };

/**
 * Checks whether `tokenText` may call the API for `serverId`. It always reads both the token and the server, so that
 * an outsider cannot learn which servers exist.
 *
 * @param serverId - the id in the path; anything but 24 lower-case hex digits is no server
 * @returns null for every reason: malformed, unknown, revoked or expired token, a token of another
 *   server, an unknown or removed server
 */
export async function authenticate(
  { apiTokens, servers, batcher, clock }: Authenticating,
  serverId: string,
  tokenText: string,
): Promise<Caller | null> {
  if (!isTokenShaped(tokenText) || !/^[0-9a-f]{24}$/.test(serverId)) return null;
  const id = new ObjectId(serverId);
  const [token, server] = await Promise.all([
    batcher.load(tokensLoader, apiTokens, hashToken(tokenText)),
    batcher.load(removalsLoader, servers, id),
  ]);
  if (!token || !server || server.removedAt || !token.serverId.equals(id) || !isValid(token, clock.now()))
    return null;
  return { server, token };
}

/** A valid token and its server. Only the id of the server is cached. */
export type AuthenticatedToken = { serverId: ObjectId; token: WithId<ApiToken> };

/** A successful authentication is cached for 4 seconds: a revoked token is refused within 5 s everywhere (contract). */
export const AUTHENTICATION_TTL_MS = 4 * SECOND;
const MAX_AUTHENTICATIONS = 20_000;

/** The cache of successful authentications of one process. */
export function createAuthenticationCache(): TtlCache<AuthenticatedToken> {
  return new TtlCache({ most: MAX_AUTHENTICATIONS, ms: AUTHENTICATION_TTL_MS });
}

/**
 * Authenticates a call and caches the success for `AUTHENTICATION_TTL_MS`; failures are not cached. A token that is
 * revoked or rotated and a server that is removed in this process leave the cache at once. Each use checks the expiry.
 *
 * @param options - `fresh`: do not read the cache
 */
export async function authenticateCached(
  deps: Authenticating & { authentications: TtlCache<AuthenticatedToken> },
  serverId: string,
  tokenText: string,
  { fresh = false } = {},
): Promise<AuthenticatedToken | null> {
  const load = async () => {
    const caller = await authenticate(deps, serverId, tokenText);
    return caller && { serverId: caller.server._id, token: caller.token };
  };
  const found = fresh
    ? await load()
    : await deps.authentications.read(`${serverId} ${hashToken(tokenText)}`, load);
  return found && isValid(found.token, deps.clock.now()) ? found : null;
}

/** The cached authentication of a call, without a query; undefined when there is none. */
export function cachedAuthentication(
  { authentications, clock }: { authentications: TtlCache<AuthenticatedToken>; clock: Clock },
  serverId: string,
  tokenText: string,
): AuthenticatedToken | undefined {
  const cached = authentications.peek(`${serverId} ${hashToken(tokenText)}`);
  return cached && isValid(cached.token, clock.now()) ? cached : undefined;
}

/** Writes the last use of tokens. It collects uses for 250 ms, because no request waits for the write. */
const tokenUsesLoader: BatchLoader<Collection<ApiToken>, { _id: ObjectId; at: Date }, true> = {
  most: 500,
  collectMs: 250,
  async load(apiTokens, uses) {
    const at = new Date(Math.max(...uses.map(({ at }) => at.getTime())));
    await apiTokens.updateMany({ _id: anyOf(uses.map(({ _id }) => _id)) }, { $max: { lastUsedAt: at } });
    return uses.map(() => true);
  },
};

/** Stores the time of a token's use; undefined when the stored time is less than a minute old. */
export function noteTokenUse(
  { apiTokens, batcher, clock }: Tokens & { batcher: Batcher },
  token: WithId<ApiToken>,
): Promise<true> | undefined {
  const now = clock.now();
  if (token.lastUsedAt && now.getTime() - token.lastUsedAt.getTime() < LAST_USED_STEP_MS) return;
  // A cached token is not written again by the next request.
  token.lastUsedAt = now;
  return batcher.load(tokenUsesLoader, apiTokens, { _id: token._id, at: now });
}
