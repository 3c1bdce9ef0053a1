import { type Collection, ObjectId, type WithId } from 'mongodb';
import type { User } from '../accounts/user.ts';
import type { BatchLoader } from '../platform/batching/batcher.ts';
import { anyOf, findLoader } from '../platform/batching/find-loader.ts';
import { TtlCache } from '../platform/batching/ttl-cache.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import { type ApiToken, type AuthenticatedToken, kindOf } from './api-token.ts';
import { isValid } from './api-tokens.ts';
import type { ServersDeps } from './deps.ts';
import { roleOf } from './ownership.ts';
import type { Server } from './server.ts';
import { serverLoader } from './server-loader.ts';
import { hashToken, kindOfText } from './token-text.ts';

type CallersServer = WithId<Pick<Server, 'removedAt' | 'ownerId' | 'members' | 'listingPause'>>;

const tokensLoader = findLoader<ApiToken, string>({
  filter: (hashes) => ({ hash: anyOf(hashes) }),
  nameOf: (hash) => hash,
  keyOf: ({ hash }) => hash,
});

/** With the fields that decide whether their tokens work, and how. */
const callersServers = serverLoader({ removedAt: 1, ownerId: 1, members: 1, listingPause: 1 });

const makersLoader = findLoader<User, ObjectId>({
  filter: (ids) => ({ _id: anyOf(ids) }),
  nameOf: (id) => id.toHexString(),
  keyOf: ({ _id }) => _id,
  options: { projection: { suspendedAt: 1 } },
});

/**
 * If both are well-formed, token and server are read, so the response time does not show which servers exist. Null if
 * the token is malformed, unknown, revoked, expired or of another server; if its creator has lost the right to it; or
 * if the server is unknown or removed.
 */
export async function authenticate(deps: ServersDeps, serverId: string, tokenText: string) {
  if (!kindOfText(tokenText) || !/^[0-9a-f]{24}$/.test(serverId)) return null;
  const [token, server] = await Promise.all([
    findToken(deps, hashToken(tokenText)),
    findServer(deps, new ObjectId(serverId)),
  ]);
  return token && server?._id.equals(token.serverId) ? authenticated(deps, server, token) : null;
}

const findToken = ({ batcher, apiTokens }: ServersDeps, hash: string) =>
  batcher.load(tokensLoader, apiTokens, hash);

const findServer = ({ batcher, servers }: ServersDeps, id: ObjectId): Promise<CallersServer | null> =>
  batcher.load(callersServers, servers, id);

async function authenticated(
  deps: ServersDeps,
  server: CallersServer,
  token: WithId<ApiToken>,
): Promise<AuthenticatedToken | null> {
  if (server.removedAt || !isValid(token, deps.clock.now())) return null;
  const { _id: serverId, ownerId = null, listingPause = null } = server;
  return (await isBacked(deps, server, token)) ? { serverId, ownerId, listingPause, token } : null;
}

/** A suspended owner still has the right to a token, a suspended member does not. */
async function isBacked({ users, batcher }: ServersDeps, server: CallersServer, { issuedBy }: ApiToken) {
  if (!issuedBy) return true;
  const role = roleOf(server, issuedBy);
  if (role !== 'full') return role === 'owner';
  const maker = await batcher.load(makersLoader, users, issuedBy);
  return maker !== null && !maker.suspendedAt;
}

/** The texts promise that all processes refuse a revoked token within this time, so the cache keeps it for less. */
export const REVOKED_WITHIN_SECONDS = 5;
export const AUTHENTICATION_TTL_MS = (REVOKED_WITHIN_SECONDS - 1) * SECOND;
const MAX_AUTHENTICATIONS = 20_000;

export function createAuthenticationCache(): TtlCache<AuthenticatedToken> {
  return new TtlCache({ most: MAX_AUTHENTICATIONS, ms: AUTHENTICATION_TTL_MS });
}

/**
 * A success is cached for `AUTHENTICATION_TTL_MS`, a failure is not. If this process revokes or rotates the token, or
 * removes the server, the entry is deleted at once. `fresh`: the cache is not read.
 */
export async function authenticateCached(
  deps: ServersDeps,
  serverId: string,
  tokenText: string,
  { fresh = false } = {},
): Promise<AuthenticatedToken | null> {
  const load = () => authenticate(deps, serverId, tokenText);
  const found = fresh ? await load() : await deps.authentications.read(keyOf(serverId, tokenText), load);
  return found && isValid(found.token, deps.clock.now()) ? found : null;
}

function keyOf(serverId: string, tokenText: string): string {
  return `${serverId} ${hashToken(tokenText)}`;
}

/**
 * A claim key alone identifies its server. A success is cached as in `authenticateCached`. Null as in `authenticate`,
 * and for a token of another kind.
 */
export async function authenticateClaimKey(deps: ServersDeps, key: string) {
  if (kindOfText(key) !== 'claim') return null;
  const hash = hashToken(key);
  const found = await deps.authentications.read(hash, async () => {
    const token = await findToken(deps, hash);
    const server = token && (await findServer(deps, token.serverId));
    return server ? authenticated(deps, server, token) : null;
  });
  return found && kindOf(found.token) === 'claim' && isValid(found.token, deps.clock.now()) ? found : null;
}

/**
 * Undefined when there is none. An old one is loaded again in the background, so that a token in regular use is always
 * cached.
 */
export function cachedAuthentication(deps: ServersDeps, serverId: string, tokenText: string) {
  const key = keyOf(serverId, tokenText);
  const cached = deps.authentications.peek(key);
  if (!cached || !isValid(cached.token, deps.clock.now())) return undefined;
  deps.authentications.refreshSoon(key, () => authenticate(deps, serverId, tokenText));
  return cached;
}

/** A busy token causes one write per minute, not one per request. */
const LAST_USED_STEP_MS = MINUTE;

/** No request waits for this write, so uses are collected for 250 ms. */
const tokenUsesLoader: BatchLoader<Collection<ApiToken>, { _id: ObjectId; at: Date }, true> = {
  most: 500,
  collectMs: 250,
  async load(apiTokens, uses) {
    const at = new Date(Math.max(...uses.map(({ at }) => at.getTime())));
    await apiTokens.updateMany({ _id: anyOf(uses.map(({ _id }) => _id)) }, { $max: { lastUsedAt: at } });
    return uses.map(() => true);
  },
};

/** Undefined, without a write, if the stored time is under a minute old. */
export function noteTokenUse(
  { apiTokens, batcher, clock }: ServersDeps,
  token: WithId<ApiToken>,
): Promise<true> | undefined {
  const now = clock.now();
  if (token.lastUsedAt && now.getTime() - token.lastUsedAt.getTime() < LAST_USED_STEP_MS) return;
  // The cached token gets the time too, so that the next request does not write it again.
  token.lastUsedAt = now;
  return batcher.load(tokenUsesLoader, apiTokens, { _id: token._id, at: now });
}
