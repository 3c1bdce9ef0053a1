import { expect, test } from 'vitest';
import { literal } from '../../src/events/discord/discord-embed.ts';
import { readWebhookAddress } from '../../src/events/discord/webhook-address.ts';
import { WEBHOOK_ADDRESS, WEBHOOK_ID, WEBHOOK_TOKEN } from '../support/fake-discord.ts';

test.each([
  WEBHOOK_ADDRESS,
  ` ${WEBHOOK_ADDRESS}/ `,
  WEBHOOK_ADDRESS.replace('discord.com', 'discordapp.com'),
  WEBHOOK_ADDRESS.replace('discord.com', 'ptb.discord.com'),
  WEBHOOK_ADDRESS.replace('discord.com', 'canary.discord.com'),
  WEBHOOK_ADDRESS.replace('/api/', '/api/v10/'),
])('the address of a webhook is accepted: %s', (address) => {
  expect(readWebhookAddress(address)).toEqual({ id: WEBHOOK_ID, token: WEBHOOK_TOKEN });
});

const THREAD = '1199999999999995678';

test('an address may name a thread, or a post of a forum', () => {
  const key = { id: WEBHOOK_ID, token: WEBHOOK_TOKEN, threadId: THREAD };
  expect(readWebhookAddress(` ${WEBHOOK_ADDRESS}?thread_id=${THREAD} `)).toEqual(key);
  expect(readWebhookAddress(`${WEBHOOK_ADDRESS}/?thread_id=${THREAD}`)).toEqual(key);
});

test.each([
  '',
  'alpha',
  WEBHOOK_ADDRESS.replace('https', 'http'),
  WEBHOOK_ADDRESS.replace('discord.com', 'discord.com.example.org'),
  WEBHOOK_ADDRESS.replace('discord.com', 'discord.com:8443'),
  WEBHOOK_ADDRESS.replace('discord.com', 'owner@discord.com'),
  WEBHOOK_ADDRESS.replace('discord.com', 'evildiscord.com'),
  `${WEBHOOK_ADDRESS}/slack`,
  `${WEBHOOK_ADDRESS}/../../users/@me`,
  `${WEBHOOK_ADDRESS}?wait=true`,
  `${WEBHOOK_ADDRESS}?thread_id=`,
  `${WEBHOOK_ADDRESS}?thread_id=general`,
  `${WEBHOOK_ADDRESS}?thread_id=12`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}&wait=true`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}&thread_id=${THREAD}`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}%26wait=true`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}#x`,
  `${WEBHOOK_ADDRESS}%0d%0aHost: example.org`,
  'https://discord.com/api/webhooks/1099999999999991234',
  'https://discord.com/channels/1099999999999991234/1',
])('another address is refused, and the error does not repeat it: %s', (address) => {
  const message = (() => {
    try {
      return JSON.stringify(readWebhookAddress(address));
    } catch (error) {
      return `refused ${String(error)}`;
    }
  })();
  expect(message).toContain('refused');
  expect(message).not.toContain(WEBHOOK_TOKEN);
});

/** What Discord shows of a text: a backslash before punctuation is removed. */
function unescaped(text: string): string {
  return text.replace(/\\([^0-9A-Za-z\s])/g, '$1');
}

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
  expect(unescaped(written)).toBe(text);
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
