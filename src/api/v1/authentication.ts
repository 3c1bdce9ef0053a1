import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { type Refusal, RefusedError } from '../../http/http-errors.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import {
  type ApiToken,
  type AuthenticatedToken,
  kindOf,
  scopesOf,
  type TokenScope,
} from '../../servers/api-token.ts';
import { authenticateCached, cachedAuthentication, noteTokenUse } from '../../servers/authenticate-token.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import { serverLoader } from '../../servers/server-loader.ts';
import { looksLikeId } from '../../servers/slug.ts';
import { requireReadApi } from './open-reads.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Read the token from the database at each call, not from the cache: for endpoints with few calls. */
    freshAuthentication?: true;
    scope?: TokenScope;
    /** The endpoint needs this kind of token, and not an API token with a scope. */
    kind?: 'deliver';
    /** Clients call the endpoint all the time, so successful calls are logged at the level `debug`. */
    isPolled?: true;
    allowsClaimKeys?: true;
    /** Refused while the listing of the server is paused. */
    isRefusedInPause?: true;
    /** Works without a token too, while the server is listed. */
    isOpen?: true;
    /** Works without a token if the path has a slug and no id (`isReadBySlug`). */
    isOpenBySlug?: true;
  }
}

/** The answer to every failed authentication: always the same, so that it does not show which servers exist. */
export const UNAUTHORIZED = {
  status: 401,
  code: 'unauthorized',
  sentence: 'A valid API token of this server is needed, sent as Authorization: Bearer <token>.',
  headers: { 'www-authenticate': 'Bearer' },
} as const satisfies Refusal;

const UNAUTHORIZED_TO_FETCH = {
  ...UNAUTHORIZED,
  sentence: 'A valid delivery token (tpd_…) of this server is needed, sent as Authorization: Bearer <token>.',
} as const satisfies Refusal;

/** RFC 6750, section 3.1. */
function outOfScope(scope: TokenScope): Refusal {
  return {
    status: 403,
    code: 'scope-missing',
    sentence: `This token lacks the scope “${scope}”. Its owner chooses the scopes when making a token.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  };
}

const OTHER_KIND = {
  status: 403,
  code: 'scope-missing',
  sentence:
    'This call needs another kind of token: a delivery token takes and settles votes, and an API token does the rest.',
  headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
} as const satisfies Refusal;

/** A claim key is refused like an invalid token, except at routes that need a delivery token, where it is 403. */
function refuseToken(token: ApiToken, config: FastifyContextConfig): void {
  const tokenKind = kindOf(token);
  if (config.kind) {
    if (tokenKind !== config.kind) throw new RefusedError(OTHER_KIND);
    return;
  }
  if (tokenKind === 'deliver') throw new RefusedError(OTHER_KIND);
  if (tokenKind === 'claim') {
    if (!config.allowsClaimKeys) throw new RefusedError(UNAUTHORIZED);
  } else if (config.scope && !scopesOf(token).includes(config.scope)) {
    throw new RefusedError(outOfScope(config.scope));
  }
}

/** As old as the cached authentication: a pause reaches other processes within `AUTHENTICATION_TTL_MS`. */
function refusePaused({ listingPause }: AuthenticatedToken, { clock }: AppDeps): void {
  const pause = pauseAt({ listingPause }, clock.now());
  if (!pause) return;
  const until = pause.until ? ` until ${pause.until.toISOString()}` : '';
  throw new RefusedError({
    status: 403,
    code: 'listing-paused',
    sentence: `The owner has paused the listing of this server${until}. It takes no votes in that time.`,
  });
}

const CALLER = 'caller';

export function callerOf(request: FastifyRequest): AuthenticatedToken {
  return request.getDecorator<AuthenticatedToken>(CALLER);
}

/** Whether an endpoint with `isOpen` was called without a token. */
export function hasNoToken({ headers }: FastifyRequest): boolean {
  return headers.authorization === undefined;
}

/** Whether an endpoint with `isOpenBySlug` was called by slug. With a token, a path without an id is 401. */
export function isReadBySlug(request: FastifyRequest, named: string): boolean {
  return hasNoToken(request) && !looksLikeId(named);
}

const listedServers = serverLoader({ removedAt: 1, hiddenAt: 1 });

/** @throws {RefusedError} 401, as for a wrong token */
async function requireListed(deps: AppDeps, serverId: string): Promise<void> {
  const isId = /^[0-9a-f]{24}$/.test(serverId);
  const server = isId && (await deps.batcher.load(listedServers, deps.servers, new ObjectId(serverId)));
  if (!server || server.removedAt || server.hiddenAt) throw new RefusedError(UNAUTHORIZED);
}

/** Empty if there is none or more than one. */
function bearerToken(request: FastifyRequest): string {
  const given = request.raw.headersDistinct.authorization ?? [];
  const match = given.length === 1 ? /^Bearer +(\S+)$/i.exec(given[0] ?? '') : null;
  return match?.[1] ?? '';
}

/** For requests that wait for long. Throws 401 if the token was revoked, or its server removed, meanwhile. */
export async function requireTokenStill(
  request: FastifyRequest<{ Params: { server_id: string } }>,
  deps: AppDeps,
): Promise<void> {
  const caller = await authenticateCached(deps, request.params.server_id, bearerToken(request));
  if (!caller) throw new RefusedError(unauthorizedAt(request.routeOptions.config));
}

function unauthorizedAt({ kind }: FastifyContextConfig): Refusal {
  return kind === 'deliver' ? UNAUTHORIZED_TO_FETCH : UNAUTHORIZED;
}

/** Refuses requests without a valid token of the server in the path, before their bodies are read. */
export function requireToken(app: FastifyInstance, deps: AppDeps): void {
  app.decorateRequest(CALLER, null);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.scope && !config?.kind) throw new Error(`${method} ${url} has no config.scope`);
  });
  app.addHook<{ Params: { server_id: string } }>('onRequest', async (request) => {
    const { server_id: serverId } = request.params;
    const { isOpen, isOpenBySlug } = request.routeOptions.config;
    if (isOpenBySlug && isReadBySlug(request, serverId)) return requireReadApi(deps.config);
    if (isOpen && hasNoToken(request)) {
      requireReadApi(deps.config);
      await withinDatabaseTime(request, requireListed(deps, serverId));
      return;
    }
    const token = bearerToken(request);
    const fresh = request.routeOptions.config.freshAuthentication ?? false;
    const caller =
      (fresh ? undefined : cachedAuthentication(deps, serverId, token)) ??
      (await withinDatabaseTime(request, authenticateCached(deps, serverId, token, { fresh })));
    if (!caller) throw new RefusedError(unauthorizedAt(request.routeOptions.config));
    refuseToken(caller.token, request.routeOptions.config);
    if (request.routeOptions.config.isRefusedInPause) refusePaused(caller, deps);
    request.setDecorator<AuthenticatedToken>(CALLER, caller);
    // Not awaited: the request does not wait for this write.
    noteTokenUse(deps, caller.token)?.catch((error: unknown) => {
      request.log.warn({ event: 'token.use_not_noted', reason: String(error) });
    });
  });
}
