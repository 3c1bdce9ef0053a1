import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set if each call reads the token from the database, not from the cache. For endpoints with few calls. */
    freshAuthentication?: true;
    /** The scope that an API token needs. */
    scope?: TokenScope;
    /** Set if the endpoint needs this kind of token, and not an API token with a scope. */
    kind?: 'deliver';
    /** Set if clients call the endpoint all the time. Successful calls are then logged at the level `debug`. */
    isPolled?: true;
    /** Whether a claim key may call the endpoint too. */
    allowsClaimKeys?: true;
  }
}

/** The answer to every failed authentication: always the same, so that it does not show which servers exist. */
export const UNAUTHORIZED = {
  status: 401,
  code: 'unauthorized',
  sentence: 'A valid API token of this server is needed, sent as Authorization: Bearer <token>.',
  headers: { 'www-authenticate': 'Bearer' },
} as const satisfies Refusal;

/** The same at the routes that need a delivery token. */
const UNAUTHORIZED_TO_FETCH = {
  ...UNAUTHORIZED,
  sentence: 'A valid delivery token (tpd_…) of this server is needed, sent as Authorization: Bearer <token>.',
} as const satisfies Refusal;

/** The refusal of a valid token without the scope of the endpoint (RFC 6750, section 3.1). */
function outOfScope(scope: TokenScope): Refusal {
  return {
    status: 403,
    code: 'scope-missing',
    sentence: `This token lacks the scope “${scope}”. Its owner chooses the scopes when making a token.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  };
}

/** The refusal of a valid token that is of the wrong kind for the endpoint. */
const OTHER_KIND = {
  status: 403,
  code: 'scope-missing',
  sentence:
    'This call needs another kind of token: a delivery token takes and settles votes, and an API token does the rest.',
  headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
} as const satisfies Refusal;

/**
 * Throws if a valid token may not call a route. If a claim key is refused: the answer is that to an invalid token,
 * except at routes that need a delivery token, where it is 403.
 */
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

const CALLER = 'caller';

/** The server and token of a request, which `requireToken` has set. */
export function callerOf(request: FastifyRequest): AuthenticatedToken {
  return request.getDecorator<AuthenticatedToken>(CALLER);
}

/** The token of `Authorization: Bearer <token>`; empty if there is none or more than one. */
function bearerToken(request: FastifyRequest): string {
  const given = request.raw.headersDistinct.authorization ?? [];
  const match = given.length === 1 ? /^Bearer +(\S+)$/i.exec(given[0] ?? '') : null;
  return match?.[1] ?? '';
}

/**
 * Checks the token of a request again. For requests that wait for long, such as takes.
 *
 * @throws {RefusedError} 401 if the token was revoked or has expired, or its server was removed in the meantime
 */
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

/** Refuses requests that have no valid token of the server in the path, before their bodies are read. */
export function requireToken(app: FastifyInstance, deps: AppDeps): void {
  app.decorateRequest(CALLER, null);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (!config?.scope && !config?.kind) throw new Error(`${method} ${url} has no config.scope`);
  });
  app.addHook<{ Params: { server_id: string } }>('onRequest', async (request) => {
    const { server_id: serverId } = request.params;
    const token = bearerToken(request);
    const fresh = request.routeOptions.config.freshAuthentication ?? false;
    const caller =
      (fresh ? undefined : cachedAuthentication(deps, serverId, token)) ??
      (await withinDatabaseTime(request, authenticateCached(deps, serverId, token, { fresh })));
    if (!caller) throw new RefusedError(unauthorizedAt(request.routeOptions.config));
    refuseToken(caller.token, request.routeOptions.config);
    request.setDecorator<AuthenticatedToken>(CALLER, caller);
    // The time of the token's last use is stored without `await`: the request does not wait for this write.
    noteTokenUse(deps, caller.token)?.catch((error: unknown) => {
      request.log.warn({ event: 'token.use_not_noted', reason: String(error) });
    });
  });
}
