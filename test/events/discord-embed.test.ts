import { expect, test } from 'vitest';
import { embedOf, literal } from '../../src/events/discord/discord-embed.ts';
import { asShown } from './discord-bench.ts';

const HOSTILE = [
  '@everyone <@1099999999999991234> <@&2> <#3>',
  '**bold** __line__ ~~gone~~ `code` ||spoiler|| *x* _y_',
  '[click](https://evil.example) https://evil.example <https://evil.example>',
  '# Heading\n> quote\n- item\n1. item\n-# small',
  '<:smile:1> :smile: <t:0:R> </vote:1>',
  '\\*already escaped\\*',
];

test.each(HOSTILE)('Discord shows the text as it is: %j', (text) => {
  const written = literal(text, 4_000);
  expect(asShown(written)).toBe(text);
  // Every mark-up character has a backslash of its own.
  expect(written.replace(/\\[^0-9A-Za-z\s]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
});

test('a text is cut to its limit, never between a backslash and its character', () => {
  for (const most of [10, 11, 12, 13]) {
    const written = literal('*'.repeat(50), most);
    expect(written.length).toBeLessThanOrEqual(most);
    expect(written).toMatch(/^(\\\*)+…$/);
  }
  expect(literal('\u{1f600}'.repeat(20), 9)).toBe(`${'\u{1f600}'.repeat(4)}…`);
  expect(literal('a\u{202e}b\u{7}c\nd', 20)).toBe('a\u{fffd}b\u{fffd}c\nd');
});

test('the longest text stays within the limits of Discord, and its address is whole', () => {
  const url = 'https://example.org/dashboard/servers/0123456789abcdef01234567/listener';
  const paragraphs = Array.from({ length: 10 }, () => '_'.repeat(1_000));
  const text = { tone: 'bad', subject: '*'.repeat(400), paragraphs, url, at: new Date() } as const;
  const { title = '', description } = embedOf(text, { SERVICE_NAME: 'Tallyport' });
  expect(title.length).toBeLessThanOrEqual(256);
  expect(description.length).toBeLessThanOrEqual(4_096);
  expect(description.endsWith(`\n\n${url}`)).toBe(true);
});
