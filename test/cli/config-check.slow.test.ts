import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { MongoClient } from 'mongodb';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import type { Variables } from '../../src/platform/environment.ts';
import { FOR_OPERATORS, SETTINGS } from '../../src/platform/settings/definitions.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { changeSettings } from '../../src/settings/change-settings.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { environment } from './environment.ts';
import { type Cli, openCli, tallyport } from './tallyport.ts';

type Setting = { name: string; value: string | null; source: string; file?: string };
type Service = { service: string; status: string; facts: string[]; warnings: string[]; errors: string[] };
type Report = {
  ok: boolean;
  settings: Setting[];
  errors: string[];
  warnings: string[];
  services: Service[] | null;
};

async function check(env: Variables, ...more: string[]) {
  const result = await tallyport(['config', 'check', '--json', ...more], { env });
  const report = result.json as unknown as Report;
  const setting = (name: string) => report.settings.find((one) => one.name === name);
  const service = (name: string) => report.services?.find((one) => one.service === name);
  return { ...result, report, setting, service };
}

/** A complete configuration without warnings. */
const GOOD = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://vote.example.org',
  MONGODB_URI: 'mongodb://tallyport:m0ngo-pass@db:27017/tallyport?authSource=admin',
  REDIS_URL: 'redis://:r3dis-pass@redis:6379',
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
  SMTP_URL: 'smtps://votes:m41l-pass@mail.example.org:465',
  MAIL_FROM: 'votes@example.org',
};

describe('settings', () => {
  it('have their values and sources, and a good configuration has no warning', async () => {
    const { code, report, setting, stderr } = await check(GOOD);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(report).toMatchObject({ ok: true, errors: [], warnings: [], services: null });
    expect(setting('PORT')).toEqual({ name: 'PORT', value: '3000', source: 'default' });
    expect(setting('CONTACT')).toEqual({ name: 'CONTACT', value: null, source: 'default' });
    expect(setting('BREAKER_SCHEDULE')?.value).toBe('5s,30s,2m,10m');
    expect(setting('PUBLIC_URL')).toMatchObject({ value: GOOD.PUBLIC_URL, source: 'environment' });
  });

  it('say which of them are from `.env`', async () => {
    let text = '';
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        text += chunk;
        done();
      },
    });
    const streams = { stdin: process.stdin, stdout, stderr: stdout };
    const env = { ...GOOD, PORT: '80', HOST: '0.0.0.0' };
    await runCli(['config', 'check'], env, streams, undefined, { PORT: '80', HOST: '127.0.0.1' });

    expect(text).toMatch(/^PORT +\.env +80$/m);
    expect(text).toMatch(/^HOST +environment +0\.0\.0\.0$/m);
  });

  it('are listed with the errors of a wrong configuration', async () => {
    const { code, report, setting } = await check(
      { ...GOOD, PORT: 'eighty', SITE_PAGES_DIR: '/nowhere' },
      '--connect',
    );

    expect(code).toBe(1);
    expect(report).toMatchObject({ ok: false, services: null });
    expect(report.errors).toEqual([
      'PORT (“eighty”) must be a port number, 0 to 65535.',
      expect.stringMatching(/^SITE_PAGES_DIR \(“\/nowhere”\) cannot be read/),
    ]);
    expect(setting('PORT')).toMatchObject({ value: 'eighty', source: 'environment' });
  });

  it('of tests and of older versions are listed only if they are set', async () => {
    const names = async (env: Variables) => (await check(env)).report.settings.map(({ name }) => name);
    const hidden = SETTINGS.filter((name) => !FOR_OPERATORS.has(name) && !Object.hasOwn(GOOD, name));
    expect(hidden).toContain('CLOCK_OFFSET_MS');

    expect((await names(GOOD)).filter((name) => hidden.includes(name))).toEqual([]);
    expect(await names({ ...GOOD, CLOCK_OFFSET_MS: '1' })).toContain('CLOCK_OFFSET_MS');
  });

  it('of a file are named by it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'check-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = join(dir, 'key');
    writeFileSync(file, `${GOOD.SECRET_KEY}\n`);
    const { code, setting, stdout } = await check({ ...GOOD, SECRET_KEY: '', SECRET_KEY_FILE: file });

    expect(code).toBe(0);
    expect(setting('SECRET_KEY')).toEqual({ name: 'SECRET_KEY', value: '***', source: 'file', file });
    expect(stdout).not.toContain(GOOD.SECRET_KEY);
  });
});

describe('secrets', () => {
  it.each([
    ['REDIS_URL', 'redis://:p%40ss-w0rd@redis:6379/2', 'redis://***@redis:6379/2'],
    ['MONGODB_URI', 'mongodb://u:p%40ss-w0rd@a:1,b:2/db?replicaSet=rs', 'mongodb://***@a:1,b:2/db?'],
    ['MONGODB_URI', 'mongodb+srv://db.example.org/x?tlsCertificateKeyFilePassword=p%40ss-w0rd', null],
    ['MONGODB_URI', 'mongodb://u:x/p%40ss-w0rd@db/x', '***'],
    ['MONGODB_URI', 'mongodb://u:p%40ss-w0rd@x@db/x', '***'],
    ['REDIS_URL', 'redis://p%40ss-w0rd?x@redis', '***'],
    ['REDIS_URL', 'redis+cluster://u:p%40ss-w0rd@[::1]:7000,b:7001', 'redis+cluster://***@[::1]:7000,b:7001'],
    ['SECRET_KEY_PREVIOUS', 'p%40ss-w0rd-p%40ss-w0rd-p%40ss-w0rd-p', '***'],
    ['DISCORD_CLIENT_SECRET', 'p%40ss-w0rd', '***'],
    ['OIDC_CLIENT_SECRET', 'p%40ss-w0rd', '***'],
    ['OPERATOR_PASSWORD_HASH', 'p%40ss-w0rd', '***'],
  ])('are not in the output: %s=%s', async (name, value, shown) => {
    const text = await tallyport(['config', 'check'], { env: { ...GOOD, [name]: value } });
    const { stdout, setting } = await check({ ...GOOD, [name]: value });

    for (const output of [stdout, text.stdout, text.stderr]) {
      expect(output).not.toMatch(/ss-w0rd|m0ngo-pass|r3dis-pass|m41l-pass|k3y-for-tests/);
    }
    if (shown) expect(`${setting(name)?.value}?`).toContain(shown);
  });

  it('are not in the errors of drivers', async () => {
    const env = {
      ...GOOD,
      MONGODB_URI: 'mongodb://n%20ame:m0ngo-pass@127.0.0.1:1/x?authMechanism=m0ngo-pass',
      REDIS_URL: 'redis://:r3dis-pass#@127.0.0.1:1',
      SMTP_URL: 'smtp://votes:m41l-pass@127.0.0.1:1',
    };
    const { code, report, stdout } = await check(env, '--connect');

    expect(code).toBe(1);
    expect(report.services?.map(({ status }) => status)).toEqual([
      'failed',
      'failed',
      'failed',
      'skipped',
      'ok',
    ]);
    expect(report.services?.[1]?.errors).toEqual([
      'REDIS_URL cannot be read: special characters of its user name and password must be encoded, such as %40 for @.',
    ]);
    expect(stdout).not.toMatch(/m0ngo-pass|r3dis-pass|m41l-pass/);
  });
});

describe('errors', () => {
  it('name a canary whose game is unknown, with which no worker would start', async () => {
    const { code, report } = await check({ ...GOOD, CANARY_ADDRESSES: 'nosuchgame@play.example.org:25565' });

    expect(code).toBe(1);
    expect(report.errors).toEqual([expect.stringMatching(/^CANARY_ADDRESSES: .*nosuchgame/)]);
  });
});

describe('warnings', () => {
  it.each<[Variables, string]>([
    [{ PUBLIC_URL_FILE: '/x' }, 'The variable PUBLIC_URL_FILE is not read: only secrets can be in a file.'],
    [{ PUBLIC_URL: 'http://vote.example.org' }, 'PUBLIC_URL begins with http:'],
    [{ PUBLIC_URL: '' }, 'PUBLIC_URL is not set: links in mails'],
    [{ NODE_ENV: '' }, 'NODE_ENV is development: a public listing needs production.'],
    [{ SMTP_URL: '' }, 'SMTP_URL is not set: no mail is sent'],
    [{ SMTP_URL: 'smtp://u:p@mail.example.org' }, 'SMTP_URL does not require TLS'],
    [{ OPERATOR_TWO_FACTOR: 'optional' }, 'OPERATOR_TWO_FACTOR is optional'],
    [{ ALLOWED_PRIVATE_RANGES: '10.0.0.0/8' }, 'ALLOWED_PRIVATE_RANGES is open to'],
    [{ SECRET_KEY_PREVIOUS: GOOD.SECRET_KEY }, 'SECRET_KEY_PREVIOUS is the same as SECRET_KEY'],
    [{ OPERATOR_PASSWORD_HASH: 'x' }, 'OPERATOR_PASSWORD_HASH is not used any more'],
    [{ METRICS_PORT: '3000' }, 'PORT and METRICS_PORT are both 3000'],
    [{ NODE_ENV: '', PUBLIC_URL: '', SECRET_KEY: '' }, 'Not set: SECRET_KEY. Only `npm start` runs without'],
  ])('%o', async (changes, line) => {
    const { code, report } = await check({ ...GOOD, ...changes });

    expect(code).toBe(0);
    expect(report.warnings).toEqual([expect.stringContaining(line)]);
  });

  it('variables of other programs cause none', async () => {
    const others = [
      'HOME',
      'PATH',
      'PWD',
      'LOGNAME',
      'LANG',
      'HOSTNAME',
      'NODE_OPTIONS',
      'MAIL',
      'USER',
      'TERM',
    ];
    const env = Object.fromEntries([...others, 'DEBUG', 'CI', 'NODE_PATH'].map((name) => [name, 'x']));

    expect((await check({ ...GOOD, ...env })).report.warnings).toEqual([]);
  });
});

describe('--connect', () => {
  let cli: Cli;
  beforeAll(async () => {
    cli = await openCli();
    return () => cli.close();
  });

  it('shows which values are stored in the admin area, without secrets', async () => {
    const env = { ...cli.env, SERVICE_NAME: 'Fixed name' };
    const deps = await openAppDeps(loadConfig({ ...cli.env }) as ConnectedConfig, 'test');
    onTestFinished(() => deps.close());
    const mail = { SMTP_URL: 'smtp://votes:t0p-s3cret@mail.invalid', MAIL_FROM: 'votes@example.org' };
    const site = { SERVICE_NAME: 'Quay', CONTACT: 'help@example.org', PAGE_TERMS: 'Be kind.' };
    await changeSettings(deps, { ...mail, ...site }, 'test');
    const { setting, stdout } = await check(env, '--connect');

    expect(setting('SERVICE_NAME')).toMatchObject({ value: 'Fixed name', source: 'environment' });
    expect(setting('CONTACT')).toEqual({ name: 'CONTACT', value: 'help@example.org', source: 'stored' });
    expect(setting('SMTP_URL')).toMatchObject({ value: 'smtp://***@mail.invalid', source: 'stored' });
    expect(setting('PAGE_TERMS')).toMatchObject({ value: '8 characters', source: 'stored' });
    expect(setting('NOTICE')).toMatchObject({ source: 'default' });
    expect(stdout).not.toContain('t0p-s3cret');
    await deps.settings.deleteMany({});
  });

  it('says what answers, and changes nothing', async () => {
    const mails = await startMailServer();
    const env = { ...cli.env, SMTP_URL: mails.url, MAIL_FROM: 'votes@example.org' };
    const { code, report, service } = await check(env, '--connect');

    expect(report.errors).toEqual([]);
    expect(service('mongodb')).toMatchObject({ status: 'ok', errors: [] });
    expect(service('mongodb')?.facts).toEqual([
      expect.stringMatching(/^MongoDB \d+\.\S+ answers: a standalone, without a failover\.$/),
      expect.stringMatching(/^All \d+ migrations are applied\.$/),
    ]);
    expect(service('redis')).toMatchObject({ status: 'ok', errors: [] });
    expect(service('redis')?.facts).toEqual([
      expect.stringMatching(/^(Redis|Valkey) \d+\.\S+ answers: a single server\.$/),
      'maxmemory-policy is noeviction.',
    ]);
    expect(service('smtp')).toMatchObject({
      status: 'ok',
      facts: ['The mail server answers. No mail was sent.'],
    });
    expect(mails.received).toEqual([]);
    expect(code).toBe(0);
  });

  it('an OpenID Connect provider answers, or the error says why it cannot be used', async () => {
    const op = await startOidcProvider();
    const right = await check({ ...cli.env, ...op.env }, '--connect');
    op.lies.discovery = (document) => ({ ...document, issuer: 'https://another.example' });
    const wrong = await check({ ...cli.env, ...op.env }, '--connect');

    expect(right.service('oidc')).toMatchObject({
      status: 'ok',
      facts: [`The OpenID Connect provider ${op.issuer} answers.`],
      warnings: [],
    });
    expect(right.setting('OIDC_ISSUER')?.value).toBe(op.issuer);
    expect(right.stdout).not.toContain(op.env.OIDC_CLIENT_SECRET);
    expect(wrong.code).toBe(1);
    expect(wrong.service('oidc')?.errors).toEqual([
      `The OpenID Connect provider ${op.issuer} cannot be used: its discovery document is of another issuer, “https://another.example”: OIDC_ISSUER must be the same.`,
    ]);
  });

  it('a database that is not migrated is an error, and stays empty', async () => {
    const env = environment();
    const { code, service } = await check(env, '--connect');
    const client = new MongoClient(env.MONGODB_URI ?? '');
    onTestFinished(() => client.close());

    expect(code).toBe(1);
    expect(service('mongodb')?.errors).toEqual([
      expect.stringMatching(
        /^The database is not migrated \(.*pending: 0001-complete-servers.*Run `tallyport migrate`\.$/,
      ),
    ]);
    expect(await client.db().listCollections().toArray()).toEqual([]);
  });

  it('a pending migration is an error', async () => {
    await cli.deps.migrations.deleteOne({ _id: '0001-complete-servers' });
    const { service } = await check(cli.env, '--connect');
    await cli.run('migrate');

    expect(service('mongodb')?.errors).toEqual([
      'The database is not migrated (pending: 0001-complete-servers). Run `tallyport migrate`.',
    ]);
  });

  it('a clock that is off is an error', async () => {
    const { service } = await check({ ...cli.env, CLOCK_OFFSET_MS: '60000' }, '--connect');

    expect(service('mongodb')?.errors).toEqual([
      expect.stringMatching(/^This machine's clock is \d+\.\d s ahead of MongoDB's/),
    ]);
  });

  it('a user that MongoDB refuses is an error', async () => {
    const MONGODB_URI = cli.env.MONGODB_URI?.replace('//', '//somebody:hunter2-hunter2@');
    const { service, stdout } = await check({ ...cli.env, MONGODB_URI }, '--connect');

    expect(service('mongodb')?.errors).toEqual(['MongoDB refuses the user name or password in MONGODB_URI.']);
    expect(stdout).not.toContain('hunter2');
  });

  it('services that are not configured are skipped', async () => {
    const { code, report } = await check({ NODE_ENV: 'test' }, '--connect');

    expect(code).toBe(0);
    // The site itself is looked for where visitors open it.
    const services = report.services?.filter(({ service }) => service !== 'site');
    expect(services?.map(({ status, facts }) => [status, ...facts])).toEqual([
      ['skipped', 'MONGODB_URI is not set: `npm start` runs its own.'],
      ['skipped', 'REDIS_URL is not set: `npm start` runs its own.'],
      ['skipped', 'SMTP_URL is not set: no mail is sent.'],
      ['skipped', 'OIDC_ISSUER is not set: nobody signs in with OpenID Connect.'],
    ]);
  });

  it('as text it is one page with a count', async () => {
    const { stdout, code } = await cli.run('config check --connect');

    expect(code).toBe(0);
    expect(stdout).toMatch(/\nServices:\n {2}MongoDB .*\n/);
    expect(stdout).toMatch(/\n0 errors, \d warnings?\.\n$/);
  });
});
