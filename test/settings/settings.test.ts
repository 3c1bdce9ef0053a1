import { expect, test } from 'vitest';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { changeSettings, readStoredSettings, undoSettings } from '../../src/settings/change-settings.ts';
import { atTheEnd } from '../support/at-the-end.ts';
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

test.each([
  [{ SERVICE_NAME: 'x'.repeat(65) }, 'SERVICE_NAME', 'Must have at most 64 characters.'],
  [{ ACCENT_COLOUR: 'red' }, 'ACCENT_COLOUR', 'Must be a colour such as #0f6168.'],
  [{ WEB_VOTE_PLAYERS: '0' }, 'WEB_VOTE_PLAYERS', 'Must be a whole number, 1 to 300.'],
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
