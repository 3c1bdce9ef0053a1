import { getCurrentAuthContext } from '@better-auth/core/context';
import type { OAuthProvider } from '@better-auth/core/oauth2';
import type { BetterAuthPlugin } from 'better-auth';
import { getOAuthState } from 'better-auth/api';
import type { Logger } from '../../platform/log.ts';
import {
  connectOpenId,
  type OpenIdClient,
  type OpenIdConnection,
  OpenIdError,
  type OpenIdUser,
  openIdAccountId,
} from './openid-connect.ts';

/**
 * The library's own plugin is not used: it reads the discovery document only at the start, and without a time limit.
 */
export function openIdPlugin(client: OpenIdClient | null, log: Logger) {
  return {
    id: 'openid-connect',
    init: ({ socialProviders }) => ({
      context: {
        socialProviders: client ? [...socialProviders, openIdProvider(client, log)] : socialProviders,
      },
    }),
  } satisfies BetterAuthPlugin;
}

function openIdProvider(client: OpenIdClient, log: Logger): OAuthProvider<OpenIdUser> {
  const connection = connectOpenId(client);
  return {
    id: 'oidc',
    name: client.name,
    // The library makes a nonce for each sign-in, and refuses a callback without one.
    requiresIdTokenNonce: true,
    accountSubject: ({ profile }) => openIdAccountId(client.issuer, profile.subject),
    createAuthorizationURL: ({ state, codeVerifier, redirectURI, idTokenNonce: nonce = '' }) =>
      connection.signInUrl({ redirectUri: redirectURI, state, nonce, codeVerifier }),
    // The library would store returned tokens. We make no later requests to the provider, so none are returned.
    validateAuthorizationCode: async ({ redirectURI }) => ({
      raw: { user: await finish(connection, redirectURI) },
    }),
    getUserInfo: async ({ raw }) => {
      const data = raw?.user as OpenIdUser;
      const { email, emailVerified, name } = data;
      if (email && !emailVerified)
        log.warn(
          { event: 'openid.address_not_confirmed' },
          'The provider does not say that the address is confirmed (OIDC_TRUST_EMAIL)',
        );
      // Without a verified address, the library looks for no account, so its answer does not reveal whether one exists.
      return { user: { email: emailVerified && email ? email : null, emailVerified, name }, data };
    },
  };
}

/** The library has checked that the sign-in began in the same browser. */
async function finish(connection: OpenIdConnection, redirectUri: string): Promise<OpenIdUser> {
  const { query } = await getCurrentAuthContext();
  const begun: { codeVerifier?: string; idTokenNonce?: string | undefined } = (await getOAuthState()) ?? {};
  const { codeVerifier, idTokenNonce: nonce } = begun;
  if (!codeVerifier || !nonce) throw new OpenIdError('this sign-in did not begin here');
  const parameters = new URLSearchParams(query as Record<string, string>);
  const state = parameters.get('state') ?? '';
  return connection.userOf({ redirectUri, state, nonce, codeVerifier }, parameters);
}
