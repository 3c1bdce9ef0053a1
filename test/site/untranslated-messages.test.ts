import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inLanguage } from '../../src/language/language.ts';
import { defineMessage, t } from '../../src/language/t.ts';
import { html } from '../../src/site/shared/html.ts';

const SAVE = defineMessage('Save');

test('a message becomes text in the language of the page; names and numbers need no translation', () => {
  const part = () => String(html`<p title="Ann">${t(SAVE)} ${2}</p>`);
  expect([part(), inLanguage('de', part)]).toEqual([
    '<p title="Ann">Save 2</p>',
    '<p title="Ann">Speichern 2</p>',
  ]);
});

const files = globSync('src/site/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));

test('pages use the template tag that refuses untranslated messages', () => {
  const others = files.filter(({ text }) => text.includes("'hono/html'")).map(({ path }) => path);
  expect(others).toEqual(['src/site/shared/html.ts']);
});

test('the errors of public and owner pages are translated', () => {
  const untranslated = files
    .filter(({ path }) => !path.startsWith('src/site/admin/'))
    .filter(({ text }) => /new PageError\(\s*\d+,\s*['"]/.test(text))
    .map(({ path }) => path);
  expect(untranslated).toEqual([]);
});
