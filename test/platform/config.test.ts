import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { ConfigError } from '../../src/platform/environment.ts';
import { openRedis } from '../../src/platform/redis.ts';

/** The error lines for an invalid environment. */
function errorsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
  return [];
}

describe('a wrong value is reported in one line', () => {
  test.each([
    [{ HOST: 'not a host' }, 'HOST (“not a host”) must be an IP address or a host name of this machine'],
    [{ HOST: '999.1.1.1' }, 'HOST (“999.1.1.1”) must be an IP address or a host name of this machine'],
    [{ METRICS_HOST: 'a:1' }, 'METRICS_HOST (“a:1”) must be an IP address or a host name of this machine'],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL (“loud”) must be one of trace, debug, info, warn, error, fatal, silent',
    ],
    [
      { STEAM_OPENID_URL: 'http://example.org/openid', NODE_ENV: 'test' },
      'STEAM_OPENID_URL (“http://example.org/openid”) must be an https:// address (http:// only for this machine, such as http://127.0.0.1:8080)',
    ],
    [
      { STEAM_OPENID_URL: 'https://example.org/openid/login' },
      'STEAM_OPENID_URL is only for tests: remove it, or set NODE_ENV=test',
    ],
    [{ NODE_ENV: 'live' }, 'NODE_ENV (“live”) must be one of production, development, test'],
    [
      { TRUST_PROXY: 'maybe' },
      'TRUST_PROXY: “maybe” is neither an address nor a range; use false, or set the number of proxies in front (1 for a single one), or their addresses or ranges, separated by commas',
    ],
    [
      { CONTACT: 'call me' },
      'CONTACT (“call me”) must be an e-mail address or an http:// or https:// address, with at most 200 characters',
    ],
    [
      { FOOTER_LINKS: 'Forum https://forum.example.org, Chat javascript:alert(1)' },
      'FOOTER_LINKS: “Chat javascript:alert(1)” is not a text of at most 40 characters and an http:// or https:// address, such as Forum https://forum.example.org',
    ],
    [
      { KEEP_PLAYER_NAMES_MONTHS: '2' },
      "KEEP_PLAYER_NAMES_MONTHS (2) must be 0 or at least 3: the cooldown, claims and last month's top voters need the names",
    ],
    [
      { KEEP_ADDRESSES_MONTHS: 'a year' },
      'KEEP_ADDRESSES_MONTHS (“a year”) must be a whole number, 0 to 1200',
    ],
    [{ ACCENT_COLOUR: 'teal' }, 'ACCENT_COLOUR (“teal”) must be a colour such as #0f6168'],
    [{ ACCENT_COLOUR: '#fff' }, 'ACCENT_COLOUR (“#fff”) must be a colour such as #0f6168'],
    [{ BREAKER_SCHEDULE: ',' }, 'BREAKER_SCHEDULE: “” is not a time like 30s, 2m or 6h'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT (“collector:4318”) must be an http:// or https:// address, such as http://collector:4318',
    ],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL (“grpc”) must be http/protobuf, the only protocol that Tallyport exports with',
    ],
    [
      { OTEL_TRACES_SAMPLER_ARG: '10' },
      'OTEL_TRACES_SAMPLER_ARG (“10”) must be a number from 0 to 1, such as 0.1',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a-secret-key' },
      'OTEL_EXPORTER_OTLP_HEADERS must be name=value, or several of them separated by commas',
    ],
    [
      { SECRET_KEY: 'x' },
      'SECRET_KEY must have at least 32 characters: make one with `openssl rand -base64 32`',
    ],
    [
      { SECRET_KEY_PREVIOUS: 'x' },
      'SECRET_KEY_PREVIOUS must be what SECRET_KEY was before, so at least 32 characters',
    ],
  ])('%o', (env, line) => {
    expect(errorsOf(env)).toEqual([line]);
  });
});

test.each([
  ['127.0.0.1', 'http://localhost:3000'],
  ['0.0.0.0', 'http://0.0.0.0:3000'],
  ['::1', 'http://[::1]:3000'],
  ['fe80::1%eth0', 'http://[fe80::1]:3000'],
  ['vote.example.org', 'http://vote.example.org:3000'],
])('HOST=%s has the address %s', (HOST, address) => {
  expect(loadConfig({ HOST }).PUBLIC_URL).toBe(address);
});

test('errors of several variables are shown beside wrong values, unless they may follow from these', () => {
  expect(
    errorsOf({ PORT: 'abc', KEEP_PLAYER_NAMES_MONTHS: '1', LEASE_MS: 'x', SECRET_KEY_FILE: '/nope' }),
  ).toEqual([
    expect.stringMatching(/^SECRET_KEY_FILE \(“\/nope”\)/),
    expect.stringMatching(/^PORT \(“abc”\)/),
    expect.stringMatching(/^LEASE_MS \(“x”\)/),
    expect.stringMatching(/^KEEP_PLAYER_NAMES_MONTHS \(1\)/),
  ]);
  expect(errorsOf({ NODE_ENV: 'production', MONGODB_URI: 'x', REDIS_URL: 'redis://redis' })).toEqual([
    expect.stringMatching(/^MONGODB_URI /),
    expect.stringMatching(/^SECRET_KEY is missing/),
  ]);
});

describe('the address of Redis', () => {
  test.each([
    'redis://redis',
    'redis://redis:6379/0',
    'redis://redis/0?family=6',
    'redis://redis:6379/2?family=6&connectionName=votes',
    'redis://redis?family=6',
    'redis://redis/?family=6',
    'rediss://:secret@redis/1?family=4',
    'redis+sentinel://a:26379,b/main/1?family=6',
    'redis+cluster://a,b?family=6',
    'rediss+sentinel://a:26379,b/main?sentinelPassword=s%26t',
    'rediss+cluster://a,b',
  ])('may be %s', (REDIS_URL) => {
    expect(errorsOf({ REDIS_URL })).toEqual([]);
    expect(loadConfig({ REDIS_URL }).REDIS_URL).toBe(REDIS_URL);
  });

  test.each([
    'redis',
    'http://redis',
    'redis://redis/votes',
    'redis://redis/0/1',
    'redis+sentinel://a',
  ])('may not be %s', (REDIS_URL) => {
    expect(errorsOf({ REDIS_URL })).toEqual([expect.stringContaining('must be redis://host:port')]);
  });

  test.each([
    ['redis://127.0.0.1:1/3?family=6', { db: 3, family: 6 }],
    ['redis+sentinel://127.0.0.1:1/main/3?family=6', { db: 3, family: 6, name: 'main' }],
  ])('%s opens its database with its options', (url, options) => {
    const connection = openRedis(url, pino({ level: 'silent' }));
    connection.disconnect();
    expect(connection.options).toMatchObject(options);
  });
});

describe('OpenID Connect', () => {
  const set = { OIDC_ISSUER: 'https://id.example.org/', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };

  test('needs an issuer, a client and its secret; a slash at the end of the issuer stays', () => {
    expect(loadConfig(set)).toMatchObject({ OIDC_ISSUER: 'https://id.example.org/' });
    expect(
      loadConfig({ OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '', OIDC_NAME: '' }),
    ).toBeTruthy();
    expect(errorsOf({ ...set, OIDC_CLIENT_SECRET: '' })).toEqual([
      'OIDC_CLIENT_SECRET is missing: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET belong together, set all or none',
    ]);
    expect(errorsOf({ OIDC_NAME: 'Our club' })).toEqual([
      'OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are missing: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET belong together, set all or none',
    ]);
  });

  test.each([
    ['http://id.example.org', 'must be an https:// address'],
    ['http://127.0.0.1.example.org', 'must be an https:// address'],
    ['id.example.org', 'must be an https:// address'],
    ['https://id.example.org/?realm=a', 'must have no user name, no query and no fragment'],
    ['https://user@id.example.org', 'must have no user name, no query and no fragment'],
  ])('the issuer %s is refused', (issuer, rule) => {
    expect(errorsOf({ ...set, OIDC_ISSUER: issuer })).toEqual([
      expect.stringContaining(`OIDC_ISSUER (“${issuer}”) ${rule}`),
    ]);
  });

  test.each([
    'http://127.0.0.1:8080',
    'http://localhost:8080/realms/a',
    'http://[::1]:8080',
  ])('the issuer %s on this machine may use http', (issuer) => {
    expect(errorsOf({ ...set, OIDC_ISSUER: issuer })).toEqual([]);
  });
});
