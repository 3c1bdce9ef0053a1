import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import ipaddr from 'ipaddr.js';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { discoverOpenId, OpenIdError } from '../../src/accounts/other-sites/openid-connect.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';

let op: OidcProvider;

beforeAll(async () => {
  op = await startOidcProvider();
});

beforeEach(() => {
  op.lies = {};
});

/** The reason why the provider cannot be used. */
async function reasonOf(issuer = op.issuer, timeoutMs?: number): Promise<string> {
  const error = await discoverOpenId({ issuer }, timeoutMs).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OpenIdError);
  return (error as OpenIdError).message;
}

test('the addresses of a provider are read', async () => {
  expect(await discoverOpenId(op)).toMatchObject({
    issuer: op.issuer,
    authorization_endpoint: `${op.issuer}/auth`,
  });
});

test.each<[string, (document: Record<string, unknown>) => unknown, RegExp]>([
  [
    'another issuer',
    (document) => ({ ...document, issuer: 'https://another.example' }),
    /^its discovery document is of another issuer, “https:\/\/another\.example”/,
  ],
  ['no issuer', (document) => ({ ...document, issuer: undefined }), /^the answer "issuer" property/],
  [
    'no authorization endpoint',
    (document) => ({ ...document, authorization_endpoint: undefined }),
    /^its discovery document has no authorization_endpoint with https:\/\/$/,
  ],
  [
    'an authorization endpoint that is no web address',
    (document) => ({ ...document, authorization_endpoint: 'javascript:alert(1)' }),
    /^its discovery document has no authorization_endpoint/,
  ],
  ['no keys', (document) => ({ ...document, jwks_uri: undefined }), /has no jwks_uri/],
  ['a list', () => [], /^the answer must be a top level object$/],
  ['a page', () => '<!doctype html><p>Hello', /^failed to parse the answer as JSON$/],
  ['300 KB', (document) => ({ ...document, more: 'x'.repeat(300_000) }), /^the answer has more than 256 KB$/],
])('a discovery document with %s is refused', async (_, discovery, reason) => {
  op.lies = { discovery };
  expect(await reasonOf()).toMatch(reason);
});

test('a provider that does not answer, cannot be reached, or has no such document is refused', async () => {
  expect(await reasonOf(`${op.issuer}/realms/none`)).toBe(
    `${op.issuer}/realms/none/.well-known/openid-configuration answers HTTP 404`,
  );
  expect(await reasonOf('http://127.0.0.1:2')).toBe('connect ECONNREFUSED 127.0.0.1:2');
  op.lies = { hangs: true };
  expect(await reasonOf(op.issuer, 200)).toBe('no answer within 0.2 seconds');
});

test('a peer that accepts the connection and never answers the TLS handshake ends in time', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const begun = performance.now();
  expect(await reasonOf(`https://127.0.0.1:${port}`, 200)).toBe('no answer within 0.2 seconds');
  // undici's own limit for a connection is 10 seconds.
  expect(performance.now() - begun).toBeLessThan(8_000);
  silent.close();
});

test('a provider that an operator entered passes the address guard', async () => {
  const op = await startOidcProvider();
  const ranges = (cidr?: string) => ({
    ALLOWED_PRIVATE_RANGES: cidr === undefined ? [] : [ipaddr.parseCIDR(cidr)],
    REFUSED_RANGES: [],
  });
  await expect(discoverOpenId({ issuer: op.issuer, ranges: ranges() })).rejects.toThrow(
    /not a public address/,
  );
  const found = await discoverOpenId({ issuer: op.issuer, ranges: ranges('127.0.0.0/8') });
  expect(found.issuer).toBe(op.issuer);
});
