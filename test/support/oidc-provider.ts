import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Adapter, type AdapterPayload, Provider } from 'oidc-provider';
import { atTheEnd } from './at-the-end.ts';

type Claims = Record<string, unknown>;

/** An OpenID Connect provider. It is closed when the test or the file ends (see `atTheEnd`). */
export type OidcProvider = {
  issuer: string;
  /** The settings of a listing that offers sign-in with this provider. */
  env: Record<string, string>;
  /** The claims of the user who is signed in at the provider. If null, that user cancels the sign-in. */
  user: Claims | null;
  /** Whether the ID token contains the e-mail address. Otherwise only the userinfo endpoint returns it. */
  isEmailInToken: boolean;
  /** The method and path of each received request. */
  requests: string[];
  /** Wrong answers. All are off by default. */
  lies: {
    /** Changes the discovery document. */
    discovery?: (document: Claims) => unknown;
    /** Changes the claims of the ID token, which is signed again. */
    token?: (claims: Claims) => Claims;
    /** Signs the ID token with another key. */
    hasWrongKey?: boolean;
    /** Changes the answer of the userinfo endpoint. */
    userinfo?: (claims: Claims) => Claims;
    /** The provider accepts requests and never answers. */
    hangs?: boolean;
  };
  /** Closes all connections, as in a crash. */
  cut(): void;
};

export const NORA: Claims = {
  sub: 'nora-1',
  name: 'Nora',
  email: 'nora@example.org',
  email_verified: true,
};

const CLIENT = { id: 'tallyport', secret: 'a secret of the provider' };

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const wrongKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

/**
 * Starts the certified provider of the package `oidc-provider` on loopback. It has one client, which requires PKCE, and
 * a user who is signed in without a form.
 *
 * @param publicUrl - the URL of the listing
 */
export async function startOidcProvider(publicUrl = 'http://localhost:3000'): Promise<OidcProvider> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTheEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const op: OidcProvider = {
    issuer,
    env: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_NAME: 'Our club',
    },
    user: NORA,
    isEmailInToken: true,
    requests: [],
    lies: {},
    cut: () => server.closeAllConnections(),
  };
  const provider = createProvider(op, publicUrl);
  const handle = provider.callback();
  server.on('request', async (request, response) => {
    op.requests.push(`${request.method} ${new URL(request.url ?? '', issuer).pathname}`);
    if (op.lies.hangs) return;
    if (!request.url?.startsWith('/interaction/')) return handle(request, response);
    await provider.interactionFinished(
      request,
      response,
      op.user ? { login: { accountId: String(op.user.sub) } } : { error: 'access_denied' },
    );
  });
  return op;
}

function createProvider(op: OidcProvider, publicUrl: string): Provider {
  const stored = new Map<string, AdapterPayload>();
  const provider = new Provider(op.issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${publicUrl}/api/auth/callback/oidc`],
      },
    ],
    jwks: { keys: [keys.privateKey.export({ format: 'jwk' })] },
    cookies: { keys: ['a key for cookies'] },
    claims: { email: ['email', 'email_verified'], profile: ['name', 'nickname', 'preferred_username'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ ...op.user, sub: accountId }) }),
    // The user has already agreed, so there is no consent page.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: CLIENT.id,
        accountId: String(oidc.session?.accountId),
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
    adapter: (model) => storeIn(stored, model),
    ttl: { Session: 60, Grant: 60, AccessToken: 60, IdToken: 60, Interaction: 60 },
  });
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as Claims;
    const { lies } = op;
    if (ctx.path === '/.well-known/openid-configuration') ctx.body = lies.discovery?.(body) ?? body;
    if (ctx.path === '/me') ctx.body = lies.userinfo?.(body) ?? body;
    if (ctx.path === '/token' && typeof body.id_token === 'string') {
      const claims = claimsOf(body.id_token);
      const more = op.isEmailInToken ? { ...op.user, ...claims } : claims;
      ctx.body = {
        ...body,
        id_token: signed(lies.token?.(more) ?? more, (lies.hasWrongKey ? wrongKeys : keys).privateKey),
      };
    }
  });
  return provider;
}

/** A store of our own, because the provider warns about its built-in store in memory. */
function storeIn(stored: Map<string, AdapterPayload>, model: string): Adapter {
  const find = async (matches: (key: string, payload: AdapterPayload) => boolean) =>
    [...stored].find(([key, payload]) => key.startsWith(`${model} `) && matches(key, payload))?.[1];
  return {
    upsert: async (id, payload) => void stored.set(`${model} ${id}`, payload),
    find: async (id) => stored.get(`${model} ${id}`),
    findByUid: (uid) => find((_, payload) => payload.uid === uid),
    findByUserCode: (code) => find((_, payload) => payload.userCode === code),
    consume: async (id) => void Object.assign(stored.get(`${model} ${id}`) ?? {}, { consumed: 1 }),
    destroy: async (id) => void stored.delete(`${model} ${id}`),
    revokeByGrantId: async (id) => {
      for (const [key, payload] of stored) if (payload.grantId === id) stored.delete(key);
    },
  };
}

function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

function signed(claims: Claims, key: KeyObject): string {
  const encoded = [{ alg: 'RS256' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const text = encoded.join('.');
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

/**
 * Follows the provider's redirects as a browser does.
 *
 * @param url - the address to which the listing sends the user
 * @returns the address on the listing to which the provider sends the user back
 */
export async function signInAt({ issuer }: OidcProvider, url: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let address = new URL(url);
  while (address.origin === issuer) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(address, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`${address.pathname} answers ${answer.status}: ${await answer.text()}`);
    address = new URL(location, address);
  }
  return address;
}
