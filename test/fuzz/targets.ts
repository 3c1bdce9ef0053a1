import { retryAfterMs } from '../../src/delivery/http/http-answer.ts';
import { challengeOutcome, newChallenge, repeats } from '../../src/delivery/http/http-message.ts';
import { isGreetingStart, readGreeting } from '../../src/delivery/votifier/votifier-greeting.ts';
import { meaningOfError, readVotifierReply } from '../../src/delivery/votifier/votifier-v2.ts';
import { parseQuery } from '../../src/http/query-string.ts';
import { outcome } from '../../src/listeners/outcomes.ts';
import { plainAddress } from '../../src/platform/limits/client-address.ts';
import { renderMarkdown } from '../../src/platform/markdown.ts';
import { checkBanner, checkIcon } from '../../src/platform/pictures/check-upload.ts';
import { PictureError } from '../../src/platform/pictures/picture-error.ts';
import { printable, readable } from '../../src/platform/printable.ts';
import { legacyText, plainText, styledLines } from '../../src/probing/minecraft-text.ts';
import { usernameKey, usernameSchema } from '../../src/votes/username.ts';
import { picture, pngOfSize } from '../support/pictures.ts';
import { GAME_SERVERS } from './game-servers.ts';
import type { Target } from './target.ts';

const never = () => false;
const texts = (...all: string[]) => all.map((text) => Buffer.from(text));

/** An offer of the challenge that the answers below repeat or not. */
const challenge = { ...newChallenge('0'.repeat(24)), challenge: 'f'.repeat(43) };

const PICTURES = await Promise.all([
  picture(320, 60).png().toBuffer(),
  picture(320, 60).jpeg({ quality: 20 }).toBuffer(),
  picture(320, 60).jpeg({ quality: 20, progressive: true }).toBuffer(),
  picture(320, 60).webp().toBuffer(),
  picture(320, 60).webp({ lossless: true }).toBuffer(),
]);

export const TARGETS: Target[] = [
  ...GAME_SERVERS,
  {
    name: 'greeting of a vote listener',
    seeds: texts(
      'VOTIFIER 1.9\n',
      'VOTIFIER 2 3f8a2b1c9d\n',
      'VOTIFIER 2.9 3f8a2b1c9d\r\n',
      'SSH-2.0-OpenSSH_9.2\r\n',
      '220 mail.example.org ESMTP\r\n',
      'HTTP/1.1 400 Bad Request\r\n\r\n',
    ),
    parse: (input) => [readGreeting(input), isGreetingStart(input)],
    isOwnError: never,
    repeated: [{ piece: 'VOTIFIER 2 ' }, { before: 'VOTIFIER 2', piece: ' ' }, { piece: '\x80' }],
  },
  {
    name: 'reply of a vote listener',
    seeds: texts(
      '{"status":"ok"}',
      '{"status":"error","cause":"java.lang.RuntimeException","error":"Signature is not valid"}\r\n',
      '{"status":"error","errorMessage":"Unknown service \'Tallyport\'"}\n',
      '-ERR unknown command\r\n',
    ),
    parse(input) {
      const reply = readVotifierReply(input);
      if (typeof reply === 'object' && reply.status === 'error') meaningOfError(reply.text, 'Steve');
    },
    isOwnError: never,
    repeated: [{ piece: '{"a":' }, { before: '{"status":"', piece: '\\"' }, { piece: 'challenge ' }],
  },
  {
    name: 'answer of a website to a challenge',
    seeds: texts(
      `{"challenge":"${challenge.challenge}"}`,
      challenge.challenge,
      '<!doctype html><title>Not found</title>',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      '120',
    ),
    parse(input) {
      const said = input.toString();
      repeats(said, challenge);
      challengeOutcome({ result: outcome('acknowledged', 'acknowledged'), status: 200, said }, challenge);
      retryAfterMs(said, new Date(0));
    },
    isOwnError: never,
    repeated: [{ piece: '{"challenge":' }, { before: '"', piece: '\\u0000' }, { piece: '9' }],
  },
  {
    name: 'words of a stranger, as pages show them',
    seeds: texts(
      'a plain sentence',
      '\u202Eevil\u0000',
      'bytes \xff\xfe\x01 and text',
      'e\u0301\u0302\u0303',
    ),
    parse: (input) => [printable(input), readable(input)],
    isOwnError: never,
    repeated: [{ piece: ' ' }, { piece: '\xff' }, { piece: 'abcd\xff' }, { piece: '\xe2\x80\xae' }],
  },
  {
    name: 'message of the day',
    seeds: texts(
      '"A Minecraft Server"',
      '"§x§f§f§a§a§0§0Hello §lWorld§r\\n§z!"',
      '{"text":"","extra":[{"text":"Alpha","color":"#ff8800","bold":true},{"translate":"a.b","fallback":"c"}]}',
      '["",{"text":"a","extra":["b",1,true]}]',
    ),
    parse(input) {
      let description: unknown;
      try {
        description = JSON.parse(input.toString());
      } catch {
        description = input.toString();
      }
      const text = legacyText(description);
      styledLines(text);
      plainText(text);
    },
    isOwnError: never,
    repeated: [
      { piece: '\xc2\xa7l' },
      { piece: '\xc2\xa7x' },
      { before: '[""', piece: ',{"text":"a","color":"red"}', behind: ']' },
      { before: '['.repeat(20), piece: '[1],', behind: `1${']'.repeat(20)}` },
    ],
  },
  {
    name: 'Markdown of a profile',
    seeds: texts(
      '# Hello\n\n* one\n* [two](https://example.org/a?b=c "t")\n\n> `code` **bold** <b>html</b>\n',
      '![x](http://a) <https://bank.example@evil.example> https://xn--bcher-kva.example',
      '```\ncode\n```\n1. a\n2. b\n\n---\n',
    ),
    parse: (input) => renderMarkdown(input.toString()),
    isOwnError: never,
    repeated: [
      { piece: '[' },
      { piece: '**a' },
      { piece: '> ' },
      { piece: '`' },
      { piece: '[a](b' },
      { piece: '* a\n' },
    ],
  },
  {
    name: 'name of a player',
    seeds: texts('Steve', ' STEAM_0:1:42 ', 'ﬃ ẞ ς ı', '\u200bA\u00a0B'),
    parse(input) {
      const name = input.toString();
      if (usernameSchema.safeParse(name).success) usernameKey(name);
    },
    isOwnError: never,
    repeated: [{ piece: 'a' }, { piece: '\xcc\x81' }, { piece: ' ' }, { piece: '\xe2\x80\x8b' }],
  },
  {
    name: 'query string',
    seeds: texts('username=Steve&limit=5', 'a=%F0%9F%98%80&a=%zz&=&&b', '%5B%5D=%00'),
    parse: (input) => parseQuery(input.toString('latin1')),
    isOwnError: never,
    repeated: [{ piece: '&' }, { piece: 'a=&' }, { piece: '%41' }, { piece: '%' }],
  },
  {
    name: 'address in a header of a proxy',
    seeds: texts(
      '203.0.113.9',
      '203.0.113.9:41234',
      '[2001:db8::1]:443',
      '2001:db8::1%eth0',
      '::ffff:203.0.113.9',
    ),
    parse: (input) => plainAddress(input.toString('latin1')),
    isOwnError: never,
    repeated: [{ piece: ':' }, { piece: '[' }, { piece: '1.' }],
  },
  ...(
    [
      ['uploaded banner', checkBanner],
      ['icon of a game server', checkIcon],
    ] as const
  ).map(
    ([name, parse]): Target => ({
      name,
      seeds: [...PICTURES, pngOfSize(300, 60), pngOfSize(64, 64)],
      parse,
      isOwnError: (error) => error instanceof PictureError,
      repeated: [
        { before: '\x89PNG\r\n\x1a\n', piece: '\0\0\0\0IDATxxxx' },
        { before: '\xff\xd8', piece: '\xff\xe0\0\x02' },
        { before: '\xff\xd8\xff\xda\0\x02', piece: '\xff\0' },
      ],
    }),
  ),
];
