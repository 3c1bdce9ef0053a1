import { expect, test } from 'vitest';
import { renderMarkdown } from '../../src/platform/markdown.ts';
import { profileFacts } from '../../src/site/shared/profile-parts.ts';
import { writtenLine, writtenText } from '../../src/site/shared/written-text.ts';

const rendered = async (content: ReturnType<typeof writtenText>) => (await content).toString();

test('a link in a review shows the address that it leads to, in ASCII', async () => {
  const shown = await rendered(writtenText('See https://bаnk.example/x, and (https://example.org/a?b=1).'));
  expect(shown).toContain('href="https://xn--bnk-6cd.example/x"');
  expect(shown).toContain('>https://xn--bnk-6cd.example/x</a>, and (');
  expect(shown).toContain('>https://example.org/a?b=1</a>).');
});

test.each([
  'https://bank.example@evil.example/',
  'https://bank.example:pass@evil.example',
  'https://bank.example\\@evil.example',
  'https:///evil.example',
  'https://bank.example\u200b.evil.example',
  'javascript:alert(1)',
  '//evil.example',
])('%s in a review is no link to another site', async (text) => {
  expect(await rendered(writtenText(text))).not.toMatch(/href="[^"]*(evil|alert)/);
});

test('characters that turn the direction of text are left out of reviews', async () => {
  expect(await rendered(writtenText('a\u202eb\u2066c'))).toContain('abc');
});

test('marks that would cover the lines above are left out, those of real writing stay', async () => {
  const covering = `Z${'\u0301'.repeat(199)}`;
  expect(await rendered(writtenLine(`${covering}!\u202e`))).toBe(`<bdi>Z${'\u0301'.repeat(4)}!</bdi>`);
  expect(await rendered(writtenText(covering))).toContain(`>Z${'\u0301'.repeat(4)}<`);
  expect(renderMarkdown(covering)).toContain(`>Z${'\u0301'.repeat(4)}<`);
  const hebrew = 'בְּ\u0591רֵאשִׁ֖ית';
  expect(await rendered(writtenLine(hebrew))).toBe(`<bdi>${hebrew}</bdi>`);
});

test('a long link of a profile shows its whole host', async () => {
  const host = `www.bank.example.${'account-'.repeat(6)}.evil.example`.replace('-.', '.');
  const website = `https://${host}/${'x'.repeat(100)}`;
  const shown = String(await profileFacts({ website }));
  expect(shown).toContain(`<bdi>${host}/`);
  expect(shown).toContain('…</bdi>');
});
