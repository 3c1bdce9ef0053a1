import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { allLanguages, inLanguage, useOwnTexts } from '../../src/language/language.ts';
import { t } from '../../src/language/t.ts';
import type { Logger } from '../../src/platform/log.ts';
import { followOwnTexts, readOwnTexts } from '../../src/settings/own-texts.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tallyport-languages-'));
});
afterEach(async () => {
  useOwnTexts({});
  await rm(folder, { recursive: true });
});

const write = (name: string, content: string | object) =>
  writeFile(
    join(folder, name),
    typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`,
  );
const shown = (language: string) => inLanguage(language, () => t('Sign in'));

/** The lines that were logged. */
async function follow(path = folder): Promise<string[]> {
  const lines: string[] = [];
  const log = { error: (_fields: object, line: string) => lines.push(line) } as unknown as Logger;
  const { close } = await followOwnTexts(path, log);
  onTestFinished(close);
  return lines;
}

test('a file changes texts of a language, another adds a language; the rest stays', async () => {
  await write('de.json', { 'Sign in': 'Einloggen', 'A text of another version': 'Egal' });
  await write('sv.json', { 'Sign in': 'Logga in', 'Sign out': '' });
  await write('notes.md', 'Ours.');
  expect(await follow()).toEqual([]);
  expect([shown('de'), shown('sv'), shown('en')]).toEqual(['Einloggen', 'Logga in', 'Sign in']);
  expect(inLanguage('de', () => t('Sign out'))).toBe('Abmelden');
  expect(inLanguage('sv', () => t('Sign out'))).toBe('Sign out');
  expect(allLanguages()).toContain('sv');
});

test('a change applies while the process runs; of a broken file the last good version stays', async () => {
  await write('de.json', { 'Sign in': 'Einloggen' });
  const lines = await follow();
  await write('de.json', '{\n  "Sign in": "Rein",\n}\n');
  await vi.waitUntil(() => lines.length > 0, 10_000);
  expect(lines).toEqual([expect.stringMatching(/de\.json: .*line 3/)]);
  expect(shown('de')).toBe('Einloggen');
  await write('de.json', { 'Sign in': 'Herein' });
  await vi.waitUntil(() => shown('de') === 'Herein', 10_000);
  await rm(join(folder, 'de.json'));
  await vi.waitUntil(() => shown('de') === 'Anmelden', 10_000);
  expect(lines).toHaveLength(1);
});

test('each text that cannot be shown is named with its line', async () => {
  await write('pl.json', {
    'Sign in': 'Zaloguj się',
    '{n, plural, one {# vote} other {# votes}}': '{n, plural, one {# głos} other {# głosów}}',
    'Page {page} of {pages}': 'Strona {page}',
    'Sign out': 5,
  });
  const { texts, mistakes } = await readOwnTexts(folder);
  expect(texts).toEqual({});
  expect(mistakes).toEqual([
    expect.stringMatching(/pl\.json, line 3: .*“many” missing$/),
    expect.stringMatching(/pl\.json, line 4: .*it lacks the value pages$/),
    expect.stringMatching(/pl\.json, line 5: “Sign out”: the translation must be a text in quotes$/),
  ]);
});

test('a file that is no object, and a folder that is not there, are named; the site goes on', async () => {
  await write('de.json', '[]');
  await mkdir(join(folder, 'fr.json'));
  expect(await follow()).toEqual([
    expect.stringMatching(/de\.json: it must be an object/),
    expect.stringMatching(/fr\.json: /),
  ]);
  expect(await follow(join(folder, 'none'))).toEqual([
    expect.stringMatching(/^LANGUAGES_DIR cannot be read/),
  ]);
  expect(shown('de')).toBe('Anmelden');
});
