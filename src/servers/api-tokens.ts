import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { t } from '../language/t.ts';
import { AppError } from '../platform/app-error.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { anyOf } from '../platform/batching/find-loader.ts';
import { after, DAY } from '../platform/clock.ts';
import { checked } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { text } from '../platform/text.ts';
import { type ApiToken, kindOf, type TokenKind, type TokenMaker, type TokenScope } from './api-token.ts';
import type { ServersDeps } from './deps.ts';
import { roleOf } from './ownership.ts';
import type { Server } from './server.ts';
import { hashToken, makeApiToken, tokenPrefix } from './token-text.ts';

/** `token` is shown once and never stored. */
export type IssuedToken = { tokenId: string; token: string };

/** The form that creates a token was sent twice. The first request showed the token; it cannot be shown again. */
export class TokenMadeError extends AppError {}

const naming = z.object({
  name: z
    .string({ error: () => t('must be text') })
    .transform((value) => value.trim())
    .pipe(text({ min: 1, max: 60 }))
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), {
      error: () => t('must have no line breaks and no other control characters'),
    }),
});

/**
 * Without `expiresInMs` it never expires. If a request is repeated with the same `tokenId`, no second token is created.
 */
type TokenRequest = {
  serverId: ObjectId;
  name: string;
  kind?: TokenKind;
  /** For kind `api`: all by default. The other kinds have none. */
  scopes?: readonly TokenScope[] | undefined;
  expiresInMs?: number;
  tokenId?: ObjectId;
  maker?: TokenMaker;
};

export const USUAL_LIFETIME_MS = 365 * DAY;

/**
 * The user, if they are the owner or a full member; otherwise an operator, because a token of a read-only member would
 * not work.
 */
export function makerOf(server: Pick<Server, 'ownerId' | 'members'>, userId: ObjectId): TokenMaker {
  const role = roleOf(server, userId);
  return role === 'owner' || role === 'full' ? { issuedBy: userId } : { byOperator: true };
}

/**
 * @param by - the user, for the audit log (also in the other functions of this file)
 * @throws {InvalidDocumentError} for an invalid name; {TokenMadeError} when a token with the id `tokenId` exists
 */
export async function issueToken(tokens: ServersDeps, request: TokenRequest, by?: string) {
  const { name } = parseInput(naming, { name: request.name });
  const issued = await insertToken(tokens, { ...request, name });
  const { serverId, kind = 'api', scopes, expiresInMs = null } = request;
  const details = { tokenId: issued.tokenId, name, kind, expiresInMs, ...(scopes ? { scopes } : {}) };
  if (by) await recordAudit(tokens, { by, action: 'token.issue', serverId, details });
  return issued;
}

async function insertToken({ apiTokens, clock }: ServersDeps, request: TokenRequest): Promise<IssuedToken> {
  const kind = request.kind ?? 'api';
  const token = makeApiToken(kind);
  const now = clock.now();
  const document = await checked<ApiToken>(apiTokens, {
    _id: request.tokenId ?? new ObjectId(),
    serverId: request.serverId,
    name: request.name,
    hash: hashToken(token),
    prefix: tokenPrefix(token),
    kind,
    ...(request.scopes ? { scopes: [...request.scopes] } : {}),
    ...request.maker,
    createdAt: now,
    expiresAt: request.expiresInMs === undefined ? null : after(now, request.expiresInMs),
    lifetimeMs: request.expiresInMs ?? null,
    revokedAt: null,
    lastUsedAt: null,
  });
  try {
    await apiTokens.insertOne(document);
  } catch (error) {
    if (isDuplicateKey(error)) throw new TokenMadeError('This token was made already.');
    throw error;
  }
  return { tokenId: document._id.toHexString(), token };
}

/** Oldest first, including revoked and expired ones. */
export function listTokens({ apiTokens }: ServersDeps, serverId: ObjectId): Promise<WithId<ApiToken>[]> {
  return apiTokens.find({ serverId }).sort({ createdAt: 1 }).toArray();
}

/** With a valid claim key, a plugin can claim the votes. */
export async function hasClaimKeys({ apiTokens, clock }: ServersDeps, serverId: ObjectId): Promise<boolean> {
  const keys = await apiTokens.find({ serverId, kind: 'claim' }).toArray();
  return keys.some((key) => isValid(key, clock.now()));
}

/** Those of these servers for which there is a valid claim key. */
export async function claimedServers(
  { apiTokens, clock }: ServersDeps,
  serverIds: ObjectId[],
): Promise<Set<string>> {
  const keys = await apiTokens.find({ serverId: anyOf(serverIds), kind: 'claim', revokedAt: null }).toArray();
  return new Set(
    keys.filter((key) => isValid(key, clock.now())).map(({ serverId }) => serverId.toHexString()),
  );
}

/**
 * This process refuses the token at once, the others after at most 5 seconds. Returns whether the server has such a
 * token (also when it was revoked before).
 */
export async function revokeToken(deps: ServersDeps, serverId: ObjectId, tokenId: ObjectId, by?: string) {
  const { apiTokens, authentications, clock } = deps;
  const found = await apiTokens.findOneAndUpdate({ _id: tokenId, serverId }, [
    { $set: { revokedAt: { $ifNull: ['$revokedAt', clock.now()] } } },
  ]);
  authentications.forget(({ token }) => token._id.equals(tokenId));
  if (!found) return false;
  const details = { tokenId: tokenId.toHexString(), name: found.name };
  if (by) await recordAudit(deps, { by, action: 'token.revoke', serverId, details });
  return true;
}

/**
 * The old token stays valid for `overlapMs`, so that its owner can change the plugin's token without losing a vote. An
 * earlier expiry of the old token does not change.
 *
 * @returns the new token, or null when the server has no such valid token
 * @throws {TokenMadeError} when a token with the id `newId` exists; if the old token is still valid, it gets its expiry
 *   first
 */
export async function rotateToken(
  deps: ServersDeps,
  serverId: ObjectId,
  tokenId: ObjectId,
  { overlapMs, newId, maker }: { overlapMs: number; newId?: ObjectId; maker?: TokenMaker },
  by?: string,
): Promise<IssuedToken | null> {
  const { apiTokens, authentications, clock } = deps;
  const old = await apiTokens.findOne({ _id: tokenId, serverId });
  if (!old) return null;
  const expireOld = async () => {
    const at = after(clock.now(), overlapMs);
    const expiresAt = { $min: [{ $ifNull: ['$expiresAt', at] }, at] };
    await apiTokens.updateOne({ _id: tokenId, serverId }, [{ $set: { expiresAt } }]);
    authentications.forget(({ token }) => token._id.equals(tokenId));
  };
  if (!isValid(old, clock.now())) {
    if (newId && (await apiTokens.findOne({ _id: newId, serverId })))
      throw new TokenMadeError('This token was made already.');
    return null;
  }
  const request = {
    serverId,
    name: old.name,
    kind: kindOf(old),
    ...(old.scopes ? { scopes: old.scopes } : {}),
    ...(newId ? { tokenId: newId } : {}),
    ...(maker ? { maker } : {}),
    ...(typeof old.lifetimeMs === 'number' ? { expiresInMs: old.lifetimeMs } : {}),
  };
  try {
    const issued = await insertToken(deps, request);
    await expireOld();
    const details = { tokenId: tokenId.toHexString(), newId: issued.tokenId, name: old.name, overlapMs };
    if (by) await recordAudit(deps, { by, action: 'token.rotate', serverId, details });
    return issued;
  } catch (error) {
    // The first request may have stopped before the old token got its expiry.
    if (error instanceof TokenMadeError) await expireOld();
    throw error;
  }
}

/** Of all kinds; with `issuedBy` only those of this creator. Returns the number of tokens that this call revoked. */
export async function revokeTokens(
  { apiTokens, authentications, clock }: ServersDeps,
  serverId: ObjectId,
  { issuedBy, createdUntil }: { issuedBy?: ObjectId; createdUntil?: Date } = {},
): Promise<number> {
  const now = clock.now();
  const { modifiedCount } = await apiTokens.updateMany(
    {
      serverId,
      revokedAt: null,
      ...(issuedBy ? { issuedBy } : {}),
      ...(createdUntil ? { createdAt: { $lte: createdUntil } } : {}),
    },
    { $set: { revokedAt: now } },
  );
  authentications.forget((one) => one.serverId.equals(serverId));
  return modifiedCount;
}

/** Revoked tokens are not changed. */
export async function handOverTokens(
  { apiTokens, authentications }: ServersDeps,
  serverId: ObjectId,
  { from, to }: { from: ObjectId; to: TokenMaker },
): Promise<void> {
  const change = 'issuedBy' in to ? { $set: to } : { $set: to, $unset: { issuedBy: '' as const } };
  await apiTokens.updateMany({ serverId, issuedBy: from, revokedAt: null }, change);
  authentications.forget((one) => one.serverId.equals(serverId));
}

/** A valid token without an expiry that is over a year old should be replaced. */
export function isOld(token: ApiToken, now: Date): boolean {
  return isValid(token, now) && !token.expiresAt && after(token.createdAt, USUAL_LIFETIME_MS) < now;
}

export function isValid(token: ApiToken, now: Date): boolean {
  return !token.revokedAt && (!token.expiresAt || now < token.expiresAt);
}
