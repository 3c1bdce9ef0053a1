import type { WithId } from 'mongodb';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';
import type { EventTone } from '../kinds.ts';
import { dashboardUrl, type NotificationText } from '../notification-text.ts';

/** Discord's limits, in characters. */
const LONGEST_TITLE = 256;
const LONGEST_DESCRIPTION = 4_096;

const COLOURS: Record<EventTone, number> = {
  good: 0x2e_9e_5b,
  attention: 0xd9_8e_04,
  bad: 0xc9_38_2f,
  quiet: 0x6b_75_85,
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

/** No text in it can mention anybody. */
export function discordBody(
  config: Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>,
  server: Pick<WithId<Server>, '_id' | 'name'>,
  text: NotificationText,
  at: Date,
): string {
  const url = dashboardUrl(config, server, text);
  const description = literal(text.paragraphs.join('\n\n'), LONGEST_DESCRIPTION - url.length - 2);
  const embed = {
    title: literal(`${server.name}: ${text.subject}`, LONGEST_TITLE),
    url,
    description: `${description}\n\n${url}`,
    color: COLOURS[text.tone],
    timestamp: at.toISOString(),
    footer: { text: config.SERVICE_NAME },
  };
  return JSON.stringify({ embeds: [embed], allowed_mentions: { parse: [] } });
}
