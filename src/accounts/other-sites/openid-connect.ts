import * as oauth from 'oauth4webapi';
import type { AddressRanges } from '../../platform/address-guard.ts';
import { AppError } from '../../platform/app-error.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { printable } from '../../platform/printable.ts';
import { addressSchema } from '../address/change-address.ts';
import { AnswerTooLargeError, guardedFetch } from './guarded-fetch.ts';

export type OpenIdClient = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  /** Whether an address without the claim `email_verified` counts as confirmed. */
  trustsEmail: boolean;
  /** Null if the environment sets the issuer, which may be in a private network. */
  ranges: AddressRanges | null;
};

/** A missing or invalid `email` is undefined. */
export type OpenIdUser = {
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string;
};

/** The library stores them while the user is at the provider. */
export type OpenIdRequest = { redirectUri: string; state: string; nonce: string; codeVerifier: string };

/** The provider cannot be used, or its answer is refused. The message is a reason for the operator, in one line. */
export class OpenIdError extends AppError {}

const DISCOVERY_TTL_MS = HOUR;
const DISCOVERY_TIMEOUT_MS = 5 * SECOND;
/** For all requests together after the user's return from the provider. */
const EXCHANGE_TIMEOUT_MS = 10 * SECOND;
const CLOCK_TOLERANCE_S = 30;

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const;

const SCOPES = 'openid email profile';
const LONGEST_NAME = 60;

type Provider = Pick<OpenIdClient, 'issuer'> & { ranges?: OpenIdClient['ranges'] | undefined };

type Settings = AddressRanges &
  Pick<
    Config,
    'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'OIDC_NAME' | 'OIDC_TRUST_EMAIL' | 'given'
  >;

/** Null, for no check, if the environment sets the issuer. */
export function guardOfIssuer(config: AddressRanges & Pick<Config, 'given'>): AddressRanges | null {
  const { ALLOWED_PRIVATE_RANGES, REFUSED_RANGES } = config;
  return config.given.has('OIDC_ISSUER') ? null : { ALLOWED_PRIVATE_RANGES, REFUSED_RANGES };
}

/** By default the provider's name is its host. */
export function openIdClientOf(config: Settings): OpenIdClient | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (!issuer || !clientId || !clientSecret) return null;
  const name = config.OIDC_NAME ?? new URL(issuer).host;
  const trustsEmail = config.OIDC_TRUST_EMAIL === 'on';
  return { issuer, clientId, clientSecret, name, trustsEmail, ranges: guardOfIssuer(config) };
}

/** A subject is unique only at its issuer (OpenID Connect Core, section 2). */
export function openIdAccountId(issuer: string, subject: string): string {
  return `${issuer} ${subject}`;
}

export type OpenIdConnection = ReturnType<typeof connectOpenId>;

/** Connects when a user signs in, not before. Endpoints are cached, failures are not. */
export function connectOpenId(client: OpenIdClient) {
  const provider = cachedProvider(client);
  return {
    /** The provider's URL at which the user signs in. @throws {OpenIdError} when the provider cannot be used */
    async signInUrl({ redirectUri, state, nonce, codeVerifier }: OpenIdRequest): Promise<URL> {
      const url = new URL((await provider()).authorization_endpoint ?? '');
      const parameters = {
        client_id: client.clientId,
        response_type: 'code',
        scope: SCOPES,
        redirect_uri: redirectUri,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url;
    },
    /** @throws {OpenIdError} when the provider refuses, or its answer is invalid */
    async userOf(request: OpenIdRequest, parameters: URLSearchParams): Promise<OpenIdUser> {
      const server = await provider();
      try {
        return await exchange(client, server, request, parameters);
      } catch (error) {
        throw new OpenIdError(reasonOf(error, EXCHANGE_TIMEOUT_MS));
      }
    },
  };
}

/** Simultaneous calls share one request. */
function cachedProvider(client: OpenIdClient): () => Promise<oauth.AuthorizationServer> {
  let cached: { provider: Promise<oauth.AuthorizationServer>; until: number } | null = null;
  return () => {
    if (cached && cached.until > performance.now()) return cached.provider;
    const current = { provider: discoverOpenId(client), until: performance.now() + DISCOVERY_TTL_MS };
    cached = current;
    current.provider.catch(() => {
      if (cached === current) cached = null;
    });
    return current.provider;
  };
}

/**
 * Reads the provider's discovery document (OpenID Connect Discovery 1.0), by default within 5 seconds.
 *
 * @throws {OpenIdError} if it cannot be read, is of another issuer, lacks an endpoint that signing in needs, or has an
 *   endpoint with plain http at another origin than the issuer's
 */
export async function discoverOpenId({ issuer, ranges }: Provider, timeoutMs = DISCOVERY_TIMEOUT_MS) {
  const url = new URL(issuer);
  let server: oauth.AuthorizationServer;
  try {
    const answer = await oauth.discoveryRequest(url, requestOptions({ issuer, ranges }, timeoutMs));
    server = await oauth.processDiscoveryResponse(url, answer);
  } catch (error) {
    throw new OpenIdError(discoveryReason(error, issuer, timeoutMs));
  }
  for (const name of ENDPOINTS) {
    const endpoint = URL.parse(server[name] ?? '');
    if (!endpoint && name === 'userinfo_endpoint') continue;
    // Plain http is accepted only at the issuer's own origin. The configuration allows an http issuer only on this
    // machine.
    if (endpoint?.protocol === 'https:' || (endpoint && endpoint.origin === url.origin)) continue;
    throw new OpenIdError(`its discovery document has no ${name} with https://`);
  }
  return server;
}

async function exchange(
  { issuer, clientId, clientSecret, trustsEmail, ranges }: OpenIdClient,
  server: oauth.AuthorizationServer,
  { redirectUri, state, nonce, codeVerifier }: OpenIdRequest,
  parameters: URLSearchParams,
): Promise<OpenIdUser> {
  const client: oauth.Client = { client_id: clientId, [oauth.clockTolerance]: CLOCK_TOLERANCE_S };
  const options = requestOptions({ issuer, ranges }, EXCHANGE_TIMEOUT_MS);
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_basic')
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authenticate,
    oauth.validateAuthResponse(server, client, parameters, state),
    redirectUri,
    codeVerifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, response, options);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  if (!claims) throw new OpenIdError('the answer has no ID token');
  // Many providers give the e-mail address, or only whether it is confirmed, at this endpoint (OpenID Connect Core,
  // section 5.4).
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  if (isComplete || !server.userinfo_endpoint) return userOf(claims, trustsEmail);
  const answer = await oauth.userInfoRequest(server, client, tokens.access_token, options);
  const more = await oauth.processUserInfoResponse(server, client, claims.sub, answer);
  // Address and confirmation must be of one answer: they may speak of different addresses.
  const { email, email_verified: verified } = more.email === undefined ? { ...more, ...claims } : more;
  return userOf({ ...claims, ...more, email, email_verified: verified }, trustsEmail);
}

function userOf(
  { sub, email, email_verified: verified, ...names }: Record<string, unknown>,
  trustsEmail: boolean,
): OpenIdUser {
  return {
    subject: String(sub),
    email: addressSchema.safeParse(email).data,
    // Apple and Amazon Cognito send the claim as text.
    emailVerified: verified === true || verified === 'true' || (verified === undefined && trustsEmail),
    name: nameOf(names),
  };
}

/** A name that may be shown with reviews: never an e-mail address, which some providers use as the user name. */
function nameOf({ name, nickname, preferred_username: userName }: Record<string, unknown>): string {
  for (const text of [name, nickname, userName]) {
    const shown = typeof text === 'string' ? printable(text) : '';
    if (shown !== '' && !shown.includes('@')) return [...shown].slice(0, LONGEST_NAME).join('').trim();
  }
  return 'User';
}

function requestOptions({ issuer, ranges }: Provider, timeoutMs: number) {
  return {
    signal: AbortSignal.timeout(timeoutMs),
    [oauth.customFetch]: guardedFetch(ranges ?? null),
    // The configuration allows http only for an issuer on this machine.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  };
}

function discoveryReason(error: unknown, issuer: string, timeoutMs: number): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (code === oauth.JSON_ATTRIBUTE_COMPARISON) {
    const { body } = cause as { body?: { issuer?: unknown } };
    return `its discovery document is of another issuer, “${printable(String(body?.issuer))}”: OIDC_ISSUER must be the same`;
  }
  if (cause instanceof Response) {
    return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration answers HTTP ${cause.status}`;
  }
  return reasonOf(error, timeoutMs);
}

/** The reason in one line, for the log and `config check`. It may have the provider's words, but no token or secret. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof OpenIdError || error instanceof AnswerTooLargeError) return error.message;
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / SECOND} seconds`;
  if (error instanceof oauth.WWWAuthenticateChallengeError) return refusedReason(`HTTP ${error.status}`);
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
    const description = error.error_description ? `: ${error.error_description}` : '';
    return refusedReason(`${error.error}${description}`);
  }
  if (error.cause instanceof Response) return `the provider answers HTTP ${error.cause.status}`;
  const text = error.message || String((error as NodeJS.ErrnoException).code);
  return printable(text.replace(/"response"( body)?/g, 'the answer'));
}

function refusedReason(answer: string): string {
  const hint = /^(HTTP 401$|invalid_client\b)/.test(answer)
    ? '; OIDC_CLIENT_ID or OIDC_CLIENT_SECRET may be wrong'
    : '';
  return `${printable(`the provider answers ${answer}`)}${hint}`;
}
