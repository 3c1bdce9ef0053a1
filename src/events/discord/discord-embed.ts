import type { Config } from '../../platform/config.ts';
import type { EventTone } from '../kinds.ts';

/** Discord's limits, in characters. */
const LONGEST_TITLE = 256;
export const LONGEST_EMBED_TEXT = 4_096;
/** Of all embeds of a message together. */
const LONGEST_TOTAL = 6_000;
const MOST_EMBEDS = 10;

export const TONE_COLOURS: Record<EventTone, number> = {
  good: 0x2e_9e_5b,
  attention: 0xd9_8e_04,
  bad: 0xc9_38_2f,
  quiet: 0x6b_75_85,
};

export type Embed = {
  title?: string;
  url?: string;
  description: string;
  color: number;
  timestamp: string;
  footer: { text: string };
};

/** ASCII punctuation: if a backslash precedes such a character, Discord shows the character without the backslash. */
const PUNCTUATION = /[!-/:-@[-`{-~]/;
/** Control characters except the line feed, and characters that change the direction of text. */
const UNSAFE = /[^\P{Cc}\n]|[\u{202a}-\u{202e}\u{2066}-\u{2069}]/u;

/** Discord shows no formatting, links and mentions in it. Cut to `most` UTF-16 units. */
export function literal(text: string, most: number): string {
  let shown = '';
  for (const character of text) {
    const safe = UNSAFE.test(character) ? '\u{fffd}' : character;
    const piece = PUNCTUATION.test(safe) ? `\\${safe}` : safe;
    if (shown.length + piece.length >= most) return `${shown}…`;
    shown += piece;
  }
  return shown;
}

type EmbedText = { tone: EventTone; subject: string; paragraphs: readonly string[]; url: string; at: Date };

/** No text in it is formatted. The address is also shown, as the last line. */
export function embedOf(
  { tone, subject, paragraphs, url, at }: EmbedText,
  { SERVICE_NAME }: Pick<Config, 'SERVICE_NAME'>,
): Embed {
  const description = literal(paragraphs.join('\n\n'), LONGEST_EMBED_TEXT - url.length - 2);
  return {
    title: literal(subject, LONGEST_TITLE),
    url,
    description: `${description}\n\n${url}`,
    color: TONE_COLOURS[tone],
    timestamp: at.toISOString(),
    footer: { text: SERVICE_NAME },
  };
}

/** Nothing in it can mention anybody. */
export function embedsMessage(embeds: readonly object[]): object {
  return { embeds, allowed_mentions: { parse: [] } };
}

/** As few messages as Discord's limits allow, in the same order. */
export function inMessages<T extends { embed: Embed }>(items: readonly T[]): T[][] {
  const messages: T[][] = [];
  let room = 0;
  for (const item of items) {
    const { title = '', description, footer } = item.embed;
    const length = title.length + description.length + footer.text.length;
    const last = messages.at(-1);
    if (last && length <= room && last.length < MOST_EMBEDS) {
      last.push(item);
      room -= length;
    } else {
      messages.push([item]);
      room = LONGEST_TOTAL - length;
    }
  }
  return messages;
}
