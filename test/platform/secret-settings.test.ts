import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { ConfigError, type Variables } from '../../src/platform/environment.ts';
import { SECRETS, SETTINGS } from '../../src/platform/settings/definitions.ts';

const KEY = 'k3y-for-tests-0123456789-abcdefghij';
const dir = mkdtempSync(join(tmpdir(), 'secrets-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Writes a file and returns its path. */
function file(name: string, content: string | Uint8Array): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

function errorsOf(env: Variables): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
  return [];
}

test.each([
  ['SECRET_KEY', KEY],
  ['SECRET_KEY_PREVIOUS', KEY],
  ['MONGODB_URI', 'mongodb://user:password@db/tallyport'],
  ['REDIS_URL', 'redis://:password@redis:6379'],
  ['SMTP_URL', 'smtps://user:password@mail.example.org'],
  ['DISCORD_CLIENT_SECRET', 'discord'],
  ['OIDC_CLIENT_SECRET', 'oidc'],
] as const)('%s is read from %s_FILE', (name, value) => {
  const others = {
    MAIL_FROM: 'a@example.org',
    ...(name.startsWith('DISCORD') ? { DISCORD_CLIENT_ID: '1' } : {}),
    ...(name.startsWith('OIDC') ? { OIDC_CLIENT_ID: '1', OIDC_ISSUER: 'https://login.example.org' } : {}),
  };
  const config = loadConfig({ ...others, [name]: '', [`${name}_FILE`]: file(name, `${value}\n`) });

  expect(config[name]).toBe(value);
});

test.each([
  ['one line end', `${KEY}\n`],
  ['none', KEY],
  ['several', `${KEY}\r\n\n`],
  ['a byte order mark', `\ufeff${KEY}\n`],
])('a file may end its text with line ends: %s', (name, content) => {
  expect(loadConfig({ SECRET_KEY_FILE: file(name, content) }).SECRET_KEY).toBe(KEY);
});

test.each([
  ['a missing file', () => join(dir, 'missing'), 'cannot be read: no such file or directory'],
  ['a folder', () => dir, 'is not a file'],
  ['an empty file', () => file('empty', ''), 'is empty'],
  ['a file of line ends', () => file('lines', '\n\n'), 'is empty'],
  ['a large file', () => file('large', 'k'.repeat(16 * 1_024 + 1)), 'has more than 16 KB'],
  ['a binary file', () => file('binary', Buffer.from('c3284b4559', 'hex')), 'is not a text in UTF-8'],
  ['a zero byte', () => file('zero', `${KEY}\0`), 'must have one line of text'],
  ['two lines', () => file('two', `${KEY}\n${KEY}`), 'must have one line of text'],
])('%s is refused with the names of setting and file', (_, path, reason) => {
  const given = path();
  const [line, ...more] = errorsOf({ SECRET_KEY_FILE: given });

  expect(line).toBe(`SECRET_KEY_FILE (“${given}”) ${reason}`);
  expect(more).toEqual([]);
});

test('a named pipe without a writer does not block', () => {
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);

  expect(errorsOf({ SECRET_KEY_FILE: path })).toEqual([`SECRET_KEY_FILE (“${path}”) is not a file`]);
});

test('a value and a file of it are refused', () => {
  expect(errorsOf({ SECRET_KEY: KEY, SECRET_KEY_FILE: file('both', KEY) })).toEqual([
    'SECRET_KEY and SECRET_KEY_FILE are both set: remove one of them',
  ]);
});

test('a wrong value in a file is refused without its content', () => {
  const path = file('short', 'hunter2');

  expect(errorsOf({ SECRET_KEY_FILE: path })).toEqual([
    `SECRET_KEY (in “${path}”) must have at least 32 characters: make one with \`openssl rand -base64 32\``,
  ]);
});

test('a secret in place of its path is refused and not shown', () => {
  const errors = errorsOf({ SECRET_KEY_FILE: KEY, MONGODB_URI_FILE: 'mongodb://user:hunter2@db' });

  expect(errors).toEqual([
    'MONGODB_URI_FILE must be an absolute path, or one that begins with ./, such as /run/secrets/mongodb_uri',
    'SECRET_KEY_FILE must be an absolute path, or one that begins with ./, such as /run/secrets/secret_key',
  ]);
});

test('every wrong file and value is reported at once', () => {
  expect(errorsOf({ SECRET_KEY_FILE: join(dir, 'missing'), REDIS_URL_FILE: dir, PORT: 'x' })).toHaveLength(3);
});

test('other settings are not read from files', () => {
  expect(loadConfig({ SERVICE_NAME_FILE: file('name', 'Another') }).SERVICE_NAME).toBe('Tallyport');
});

test('every setting that looks like a secret is one', () => {
  const open = ['PUBLIC_URL', 'DISCORD_API_URL', 'STEAM_OPENID_URL'];
  const named = SETTINGS.filter((name) => /SECRET|PASSWORD|TOKEN|KEY$|URI$|URL$/.test(name));

  expect(named.filter((name) => !SECRETS.has(name))).toEqual(open);
});
