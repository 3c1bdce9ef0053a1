import type { Game } from './games.ts';

/** Tallyport shows a name as the game's own client does. */
export type TextFormat = {
  /** Tried in this order until the bytes are valid in one. The last one reads any bytes. */
  encodings: readonly Encoding[];
  /** Resolves escapes, and removes codes for colours and formats. */
  shown: (name: string) => string;
};

/**
 * `quake`: the characters of the first Quake games, with coloured copies of ASCII from byte 128 on. `ansi`: the Windows
 * code page of the server's machine, 1251 or 1252; an answer does not say which.
 */
type Encoding = 'utf-8' | 'windows-1252' | 'ansi' | 'quake';

const PLAIN: TextFormat = { encodings: ['utf-8', 'windows-1252'], shown: (name) => name };

/** Codes in `kept` are replaced by their text. */
const without =
  (codes: RegExp, kept: Readonly<Record<string, string>> = {}): TextFormat['shown'] =>
  (name) =>
    name.replaceAll(codes, (code) => kept[code] ?? '').trim();

/** ioquake3 (`Q_IsColorString`): a caret before a letter or digit sets a colour. */
const IOQUAKE3 = without(/\^[0-9a-z]/gi);
const TEN_COLOURS = without(/\^[0-9]/g);
/** Qfusion and DarkPlaces show a doubled caret as one caret. DarkPlaces also has colours of the form `^xRGB`. */
const QFUSION = without(/\^[0-9^]/g, { '^^': '^' });
const DARKPLACES = without(/\^(?:[0-9^]|x[0-9a-f]{3})/gi, { '^^': '^' });

/** Unity's tags: those of its rich text and of TextMesh Pro. Any other word in angle brackets is ordinary text. */
const RICH_TEXT = without(
  /<\/?(?:align|allcaps|alpha|br?|color|cspace|font|font-weight|gradient|i|indent|line-height|line-indent|link|lowercase|margin|mark|material|mspace|nobr|noparse|page|pos|quad|rotate|s|size|smallcaps|space|sprite|style|su[bp]|u|uppercase|voffset|width)(?:[ =][^<>]*)?\/?>|<#[0-9a-f]{3,8}>/gi,
);

/** The escapes of TeamSpeak's ServerQuery manual (“Escaping”). Nothing else follows a backslash in an answer. */
const TEAMSPEAK = without(/\\[sp/\\abfnrtv]/g, {
  '\\s': ' ',
  '\\p': '|',
  '\\/': '/',
  '\\\\': '\\',
  '\\n': '\n',
  '\\t': ' ',
});

/** A protocol without an entry has plain text. */
const BY_PROTOCOL: Record<string, Partial<TextFormat>> = {
  fivem: { shown: TEN_COLOURS },
  hexen2: { encodings: ['quake'] },
  quake1: { encodings: ['quake'] },
  quake2: { encodings: ['quake'] },
  quake3: { shown: IOQUAKE3 },
  samp: { encodings: ['utf-8', 'ansi'] },
  gtasao: { encodings: ['utf-8', 'ansi'] },
  vcmp: { encodings: ['utf-8', 'ansi'] },
  teamspeak3: { shown: TEAMSPEAK },
  warsow: { shown: QFUSION },
  xonotic: { shown: DARKPLACES },
};

/** These override those of the protocol. */
const BY_GAME: Record<string, Partial<TextFormat>> = {
  rust: { shown: RICH_TEXT },
  unturned: { shown: RICH_TEXT },
};

export function textFormatOf({ id, protocol }: Pick<Game, 'id' | 'protocol'>): TextFormat {
  return { ...PLAIN, ...BY_PROTOCOL[protocol], ...BY_GAME[id] };
}

export function decodeText(bytes: Uint8Array, { encodings }: TextFormat): string {
  for (const encoding of encodings) {
    if (encoding === 'quake') return [...bytes].map(quakeCharacter).join('');
    if (encoding === 'ansi') return new TextDecoder(ansiCodePage(bytes)).decode(bytes);
    try {
      return new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch {}
  }
  return new TextDecoder(encodings.at(-1)).decode(bytes);
}

/**
 * In both code pages, the bytes from C0 on are letters. Cyrillic letters mostly have other Cyrillic letters beside
 * them; accented Latin letters mostly have plain ones. If the letters do not decide: Cyrillic, because most of these
 * servers are Russian.
 */
function ansiCodePage(bytes: Uint8Array): 'windows-1251' | 'windows-1252' {
  let besidePlain = 0;
  let besideOther = 0;
  for (let index = 1; index < bytes.length; index += 1) {
    const pair = [bytes[index - 1] ?? 0, bytes[index] ?? 0];
    const others = pair.filter((byte) => byte >= 0xc0).length;
    if (others === 2) besideOther += 1;
    else if (others === 1 && pair.some(isPlainLetter)) besidePlain += 1;
  }
  return besidePlain > besideOther ? 'windows-1252' : 'windows-1251';
}

function isPlainLetter(byte: number): boolean {
  const small = byte | 0x20;
  return byte < 0x80 && small >= 0x61 && small <= 0x7a;
}

/**
 * The bytes from 128 on are coloured copies of the others. Those before the space contain brackets and golden digits.
 */
function quakeCharacter(byte: number): string {
  const code = byte & 0x7f;
  if (code === 0x10) return '[';
  if (code === 0x11) return ']';
  if (code >= 0x12 && code <= 0x1b) return String(code - 0x12);
  if (code === 0x05 || code === 0x0e || code === 0x0f || code === 0x1c) return '·';
  return String.fromCharCode(code);
}
