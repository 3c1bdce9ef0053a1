import { expect, test } from 'vitest';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import { createSecretBox } from '../../src/platform/secrets.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import {
  changeSettings,
  readStoredSettings,
  SettingsChangedError,
  undoSettings,
} from '../../src/settings/change-settings.ts';
import { openLiveSettings } from '../../src/settings/live-settings.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { mongoCommand, startFaultProxy } from '../support/fault-proxy.ts';
import { testDeps } from '../support/test-deps.ts';

const BY = 'operator@example.org';

test('a change is used by every process without a restart, and undone', async () => {
  const deps = await testDeps();
  const others = await Promise.all(['worker', 'web'].map((name) => openAppDeps(deps.config, name)));
  for (const other of others) atTheEnd(() => other.close());
  const started = deps.config.WEB_VOTE_PLAYERS;
  expect(await changeSettings(deps, { WEB_VOTE_PLAYERS: '7', SERVICE_NAME: 'Harbour' }, BY)).toEqual({
    WEB_VOTE_PLAYERS: { before: null, after: '7' },
    SERVICE_NAME: { before: null, after: 'Harbour' },
  });
  expect(deps.config).toMatchObject({ WEB_VOTE_PLAYERS: 7, SERVICE_NAME: 'Harbour' });
  for (const other of others)
    await expect.poll(() => other.config.WEB_VOTE_PLAYERS, { timeout: 5_000 }).toBe(7);
  const audit = await deps.auditLog.findOne({ action: 'settings.change' });
  expect(audit?.details).toMatchObject({ WEB_VOTE_PLAYERS: { before: null, after: '7' } });

  await undoSettings(deps, 1, BY);
  expect(deps.config.WEB_VOTE_PLAYERS).toBe(started);
  for (const other of others)
    await expect.poll(() => other.config.WEB_VOTE_PLAYERS, { timeout: 5_000 }).toBe(started);
  // A press on “Undo” of a page that shows an earlier change does nothing.
  expect(await undoSettings(deps, 1, BY)).toEqual({});
});

test('an environment variable wins, and its setting cannot be changed', async () => {
  const deps = await testDeps();
  const fixed = await openAppDeps({ ...deps.config, given: new Set(['WEB_VOTES']) }, 'web');
  atTheEnd(() => fixed.close());
  await changeSettings(deps, { WEB_VOTES: 'off' }, BY);
  await fixed.liveSettings.reload();
  expect(fixed.config.WEB_VOTES).toBe('on');
  await expect(changeSettings(fixed, { WEB_VOTES: 'off' }, BY)).rejects.toThrow(/environment gives/);
});

test('a process that starts waits for the settings while MongoDB does not answer', async () => {
  const { config } = await testDeps();
  const line = await startFaultProxy(Number(new URL(config.MONGODB_URI).port), 'mongodb');
  atTheEnd(() => line.close());
  // The driver itself repeats a read once.
  const cuts = [1, 2].map(() => line.cutBeforeNext(mongoCommand('find', 'settings')));
  const started = await openAppDeps({ ...config, MONGODB_URI: line.through(config.MONGODB_URI) }, 'web');
  await started.close();
  await Promise.all(cuts);
});

test.each([
  [{ SERVICE_NAME: 'x'.repeat(65) }, 'SERVICE_NAME', 'Must have at most 64 characters.'],
  [{ ACCENT_COLOUR: 'red' }, 'ACCENT_COLOUR', 'Must be a colour such as #0f6168.'],
  [{ WEB_VOTE_PLAYERS: '0' }, 'WEB_VOTE_PLAYERS', 'Must be a whole number, 1 to 300.'],
  [{ WEB_VOTE_PLAYERS: '301' }, 'WEB_VOTE_PLAYERS', 'Must be a whole number, 1 to 300.'],
  [{ SMTP_URL: 'ftp://x' }, 'SMTP_URL', 'Must be smtp://user'],
  [{ KEEP_PLAYER_NAMES_MONTHS: '2' }, 'KEEP_PLAYER_NAMES_MONTHS', 'Must be 0 or at least 3'],
  [{ FOOTER_LINKS: 'Forum' }, 'FOOTER_LINKS', '“Forum” is not a text'],
])('%o is refused with its reason', async (changes, name, reason) => {
  const deps = await testDeps();
  const error = await changeSettings(deps, changes, BY).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidDocumentError);
  expect((error as InvalidDocumentError).errors[name]).toContain(reason);
  expect(await readStoredSettings(deps)).toBeNull();
});

test('of two changes at once, none is lost', async () => {
  const deps = await testDeps();
  await Promise.all([
    changeSettings(deps, { WEB_VOTE_PLAYERS: '9' }, BY),
    changeSettings(deps, { SERVICE_NAME: 'Quay' }, BY),
  ]);
  const stored = await readStoredSettings(deps);
  expect(stored).toMatchObject({ revision: 2, texts: { WEB_VOTE_PLAYERS: '9', SERVICE_NAME: 'Quay' } });
});

test('of stored values that this version cannot use, the last good ones stay, and the others are used', async () => {
  const deps = await testDeps();
  await changeSettings(deps, { WEB_VOTE_PLAYERS: '9' }, BY);
  const texts = { WEB_VOTE_PLAYERS: 'many', SERVICE_NAME: 'Quay', LATER_SETTING: 'x' };
  await deps.settings.updateOne({ _id: 'site' }, { $set: { texts, revision: 5 } });
  await deps.liveSettings.reload();
  expect(deps.config).toMatchObject({ WEB_VOTE_PLAYERS: 9, SERVICE_NAME: 'Quay' });
});

const SMTP_URL = 'smtps://robot:t0p-s3cret@mail.example.org:465';

test('a secret is sealed, and in clear in no document; a process with another key keeps its values', async () => {
  const deps = await testDeps();
  await changeSettings(deps, { SMTP_URL, MAIL_FROM: 'votes@example.org' }, BY);
  expect(deps.config).toMatchObject({ SMTP_URL, MAIL_FROM: 'votes@example.org' });
  const documents = [await readStoredSettings(deps), ...(await deps.auditLog.find().toArray())];
  expect(documents).toHaveLength(2);
  expect(JSON.stringify(documents)).not.toMatch(/t0p-s3cret|robot/);
  expect(documents[1]).toMatchObject({ details: { SMTP_URL: { before: null, after: '***' } } });

  const lines: object[] = [];
  const log = { ...deps.log, warn: (line: object) => void lines.push(line), info: () => undefined } as never;
  const config = { ...deps.config, SMTP_URL: undefined, MAIL_FROM: undefined };
  const live = await openLiveSettings({ ...deps, config, log, secrets: createSecretBox('x'.repeat(40)) });
  atTheEnd(() => live.close());
  expect(config).toMatchObject({ SMTP_URL: undefined, MAIL_FROM: 'votes@example.org' });
  expect(lines).toMatchObject([{ event: 'settings.unusable', name: 'SMTP_URL' }]);
});

test('a change of what somebody else changed after it was shown is refused; another setting is not', async () => {
  const deps = await testDeps();
  await changeSettings(deps, { SERVICE_NAME: 'Quay' }, BY, 0);
  await changeSettings(deps, { WEB_VOTES: 'off' }, BY, 0);
  const late = changeSettings(deps, { SERVICE_NAME: 'Harbour' }, BY, 0);
  await expect(late).rejects.toThrow(SettingsChangedError);
  expect(deps.config).toMatchObject({ SERVICE_NAME: 'Quay', WEB_VOTES: 'off' });
  expect(await changeSettings(deps, { SERVICE_NAME: 'Harbour' }, BY, 2)).toEqual({
    SERVICE_NAME: { before: 'Quay', after: 'Harbour' },
  });
});

test('the undo of a secret brings the earlier one back', async () => {
  const deps = await testDeps();
  await changeSettings(deps, { SMTP_URL, MAIL_FROM: 'votes@example.org' }, BY);
  await changeSettings(deps, { SMTP_URL: 'smtp://other.example.org' }, BY);
  await undoSettings(deps, 2, BY);
  expect(deps.config.SMTP_URL).toBe(SMTP_URL);
  expect(await deps.auditLog.countDocuments({ action: 'settings.undo' })).toBe(1);
});

test('settings that belong together are refused alone, and so is the removal of one of them', async () => {
  const deps = await testDeps();
  const alone = changeSettings(deps, { OIDC_ISSUER: 'https://id.example.org' }, BY);
  await expect(alone).rejects.toThrow(/belong together/);
  await changeSettings(deps, { DISCORD_CLIENT_ID: '1', DISCORD_CLIENT_SECRET: 'hush-hush' }, BY);
  await expect(changeSettings(deps, { DISCORD_CLIENT_SECRET: null }, BY)).rejects.toThrow(/belong together/);
  expect(deps.config).toMatchObject({ DISCORD_CLIENT_ID: '1', DISCORD_CLIENT_SECRET: 'hush-hush' });
});

test.each([
  ['SMTP_URL', 'smtp://10.0.0.5:25'],
  ['OIDC_ISSUER', 'https://169.254.169.254'],
])('%s with a private address is refused, unless its range is allowed', async (name, text) => {
  const others = {
    MAIL_FROM: 'a@example.org',
    ...(name === 'OIDC_ISSUER' ? { OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' } : {}),
  };
  const deps = await testDeps();
  await expect(changeSettings(deps, { ...others, [name]: text }, BY)).rejects.toThrow(/not a public address/);
  const ranges = '10.0.0.0/8,169.254.0.0/16';
  const allowed = await testDeps({ ALLOWED_PRIVATE_RANGES: ranges });
  await changeSettings(allowed, { ...others, [name]: text }, BY);
  expect(allowed.config[name as 'SMTP_URL']).toBe(text);
});

test('an unusable retention deletes nothing when a process starts', async () => {
  const deps = await testDeps();
  await changeSettings(deps, { KEEP_ADDRESSES_MONTHS: '48' }, BY);
  await deps.settings.updateOne({ _id: 'site' }, { $set: { 'texts.KEEP_ADDRESSES_MONTHS': '4 years' } });
  const started = await openAppDeps(deps.config, 'scheduler', { mongo: deps.mongo });
  atTheEnd(() => started.liveSettings.close());
  expect(started.config.KEEP_ADDRESSES_MONTHS).toBe(0);
});

test('the audit log has the changed part of a long page', async () => {
  const deps = await testDeps();
  const page = (word: string) => `${'Rules of the harbour. '.repeat(200)}${word}`;
  await changeSettings(deps, { PAGE_TERMS: page('No swimming.') }, BY);
  const { PAGE_TERMS } = await changeSettings(deps, { PAGE_TERMS: page('No fishing.') }, BY);
  expect(PAGE_TERMS?.before).toMatch(/^….*No swimming\.$/);
  expect(PAGE_TERMS?.after).toMatch(/^….*No fishing\.$/);
});
