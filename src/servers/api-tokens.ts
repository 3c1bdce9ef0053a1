import { type Collection, ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { after, type Clock, MINUTE } from '../clock.ts';
import { checked } from '../document.ts';
import { parseInput } from '../input.ts';
import { text } from '../text.ts';
import { type ApiToken, apiTokenSchema } from './api-token.ts';
import type { Server } from './server.ts';
import { hashToken, isTokenShaped, makeToken, tokenPrefix } from './token-text.ts';

type Tokens = { apiTokens: Collection<ApiToken>; clock: Clock };

/** A token just made. `token` is shown this once and kept nowhere. */
export type IssuedToken = { tokenId: string; token: string };

/** `lastUsedAt` is kept to the minute: a busy token costs one write a minute, not one a request. */
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

/** Whom a token is made for; without `expiresInMs` it never expires. */
type TokenRequest = { serverId: ObjectId; name: string; expiresInMs?: number };

/**
 * Makes a token for a server.
 *
 * @param request - `expiresInMs` from now; without it the token never expires
 * @throws {InvalidDocumentError} for a name that is empty, longer than 60 characters (code points) or not one line
 */
export async function issueToken(tokens: Tokens, request: TokenRequest): Promise<IssuedToken> {
  return await insertToken(tokens, { ...request, ...parseInput(naming, { name: request.name }) });
}

async function insertToken({ apiTokens, clock }: Tokens, request: TokenRequest): Promise<IssuedToken> {
  const token = makeToken();
  const now = clock.now();
  const document = await checked<ApiToken>(apiTokenSchema, {
    _id: new ObjectId(),
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
  await apiTokens.insertOne(document);
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
 * Revokes a token: it is refused from now on.
 *
 * @returns whether the server has such a token (revoked before counts too)
 */
export async function revokeToken(
  { apiTokens, clock }: Tokens,
  serverId: ObjectId,
  tokenId: ObjectId,
): Promise<boolean> {
  const found = await apiTokens.updateOne({ _id: tokenId, serverId }, [
    { $set: { revokedAt: { $ifNull: ['$revokedAt', clock.now()] } } },
  ]);
  return found.matchedCount === 1;
}

/**
 * Replaces a token: a new one of the same name, while the old one goes on for `overlapMs`, so that a plugin
 * can be given the new one without losing a vote. An earlier expiry of the old one stays.
 *
 * @returns the new token, or null when the server has no such valid token
 */
export async function rotateToken(
  { apiTokens, clock }: Tokens,
  serverId: ObjectId,
  tokenId: ObjectId,
  { overlapMs }: { overlapMs: number },
): Promise<IssuedToken | null> {
  const old = await apiTokens.findOne({ _id: tokenId, serverId });
  if (!old || !isValid(old, clock.now())) return null;
  const lifetime = typeof old.lifetimeMs === 'number' ? { expiresInMs: old.lifetimeMs } : {};
  const issued = await insertToken({ apiTokens, clock }, { serverId, name: old.name, ...lifetime });
  const ends = after(clock.now(), overlapMs);
  await apiTokens.updateOne({ _id: tokenId, serverId }, [
    { $set: { expiresAt: { $min: [{ $ifNull: ['$expiresAt', ends] }, ends] } } },
  ]);
  return issued;
}

function isValid(token: ApiToken, now: Date): boolean {
  return !token.revokedAt && (!token.expiresAt || now < token.expiresAt);
}

/** The server that a call may speak for, and the token it came with. */
export type Caller = { server: WithId<Server>; token: WithId<ApiToken> };

/**
 * Finds out whether `tokenText` lets its bearer call the API for `serverId`. Both are read in any case, so that
 * nothing tells an outsider which servers exist.
 *
 * @param serverId - as it stands in the path: anything but 24 lower-case hex digits is no server
 * @returns null for every reason alike: malformed, unknown, revoked or expired token, a token of another
 *   server, an unknown or removed server
 */
export async function authenticate(
  { apiTokens, servers, clock }: Tokens & { servers: Collection<Server> },
  serverId: string,
  tokenText: string,
): Promise<Caller | null> {
  if (!isTokenShaped(tokenText) || !/^[0-9a-f]{24}$/.test(serverId)) return null;
  const id = new ObjectId(serverId);
  const [token, server] = await Promise.all([
    apiTokens.findOne({ hash: hashToken(tokenText) }),
    servers.findOne({ _id: id }),
  ]);
  if (!token || !server || server.removedAt || !token.serverId.equals(id) || !isValid(token, clock.now()))
    return null;
  return { server, token };
}

/** Notes that a token was used, when the last note is over a minute old. */
export async function noteTokenUse({ apiTokens, clock }: Tokens, token: WithId<ApiToken>): Promise<void> {
  const now = clock.now();
  if (token.lastUsedAt && now.getTime() - token.lastUsedAt.getTime() < LAST_USED_STEP_MS) return;
  await apiTokens.updateOne({ _id: token._id }, { $max: { lastUsedAt: now } });
}
