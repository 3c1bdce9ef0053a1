/** Name, § code and RGB value (minecraft.wiki, "Formatting codes"). */
const COLOURS: [name: string, code: string, rgb: number][] = [
  ['black', '0', 0x000000],
  ['dark_blue', '1', 0x0000aa],
  ['dark_green', '2', 0x00aa00],
  ['dark_aqua', '3', 0x00aaaa],
  ['dark_red', '4', 0xaa0000],
  ['dark_purple', '5', 0xaa00aa],
  ['gold', '6', 0xffaa00],
  ['gray', '7', 0xaaaaaa],
  ['dark_gray', '8', 0x555555],
  ['blue', '9', 0x5555ff],
  ['green', 'a', 0x55ff55],
  ['aqua', 'b', 0x55ffff],
  ['red', 'c', 0xff5555],
  ['light_purple', 'd', 0xff55ff],
  ['yellow', 'e', 0xffff55],
  ['white', 'f', 0xffffff],
];

const FORMATS: [name: string, code: string][] = [
  ['obfuscated', 'k'],
  ['bold', 'l'],
  ['strikethrough', 'm'],
  ['underlined', 'n'],
  ['italic', 'o'],
];

/** `translate` can repeat its parts: a short answer could become a very long text. The rest is ignored. */
const DEEPEST = 64;
const MOST_PARTS = 5_000;
const LONGEST_TEXT = 4_000;

type Style = { colour: string; formats: string };

const PLAIN: Style = { colour: '', formats: '' };

/**
 * A description is a text with § codes, an object, or a list whose first part is the parent of the others. Parts
 * inherit colour and formats (minecraft.wiki, "Text component format").
 */
export function legacyText(description: unknown): string {
  const writer: Writer = { written: '', style: PLAIN, parts: 0 };
  writeComponent(writer, description, PLAIN, 0);
  return writer.written;
}

/** `style`: at the end. `parts`: calls of `writeComponent` (three for an object with a `text`). */
type Writer = { written: string; style: Style; parts: number };

function writeComponent(writer: Writer, component: unknown, inherited: Style, depth: number): void {
  writer.parts += 1;
  if (depth > DEEPEST || isFull(writer)) return;
  if (Array.isArray(component)) {
    const [first, ...others] = component;
    writeComponent(writer, first, inherited, depth + 1);
    writeAll(writer, others, styleOfFirst(first, inherited), depth);
  } else if (typeof component === 'object' && component !== null) {
    const { text, translate, extra, ...fields } = component as Record<string, unknown>;
    const style = styleOf(fields, inherited);
    if (text !== undefined) writeComponent(writer, text, style, depth + 1);
    else if (typeof translate === 'string') writeTranslated(writer, { translate, ...fields }, style, depth);
    writeAll(writer, [extra].flat(), style, depth);
  } else if (component !== undefined && component !== null) {
    writeText(writer, String(component), inherited);
  }
}

function isFull({ parts, written }: Writer): boolean {
  return parts > MOST_PARTS || written.length >= LONGEST_TEXT;
}

function writeAll(writer: Writer, components: unknown[], style: Style, depth: number): void {
  for (const component of components) {
    if (isFull(writer)) return;
    writeComponent(writer, component, style, depth + 1);
  }
}

function writeText(writer: Writer, text: string, style: Style): void {
  if (text === '') return;
  writer.written += `${codesBetween(writer.style, style)}${text.slice(0, LONGEST_TEXT)}`;
  writer.style = style;
}

/**
 * Tallyport has no translations: it shows the fallback or the key, with the parts of `with` for `%s` and `%1$s`. A
 * pattern that refers to a missing part is shown unchanged, as in Minecraft.
 */
function writeTranslated(
  writer: Writer,
  { translate, fallback, with: parts }: Record<string, unknown>,
  style: Style,
  depth: number,
): void {
  const pattern = String(typeof fallback === 'string' ? fallback : translate).slice(0, LONGEST_TEXT);
  const pieces = piecesOf(pattern, Array.isArray(parts) ? parts : []);
  writeAll(writer, pieces ?? [pattern], style, depth);
}

/** Undefined if the pattern is invalid. */
function piecesOf(pattern: string, parts: unknown[]): unknown[] | undefined {
  const pieces: unknown[] = [];
  let next = 0;
  let end = 0;
  for (const { 0: mark, 1: number, index } of pattern.matchAll(/%(?:(?:(\d{1,9})\$)?s|%)/g)) {
    const at = number === undefined ? next : Number(number) - 1;
    const piece = mark === '%%' ? '%' : parts[at];
    const before = pattern.slice(end, index);
    if (piece === undefined || before.includes('%')) return undefined;
    if (mark === '%s') next += 1;
    pieces.push(before, piece);
    end = index + mark.length;
  }
  const rest = pattern.slice(end);
  return rest.includes('%') ? undefined : [...pieces, rest];
}

/** The other parts of a list inherit it. */
function styleOfFirst(first: unknown, inherited: Style): Style {
  let component = first;
  for (let depth = 0; Array.isArray(component) && depth < DEEPEST; depth += 1) component = component[0];
  return typeof component === 'object' && component !== null && !Array.isArray(component)
    ? styleOf(component as Record<string, unknown>, inherited)
    : inherited;
}

function styleOf(component: Record<string, unknown>, inherited: Style): Style {
  const formats = FORMATS.filter(([name, code]) => {
    const own = component[name];
    return own === undefined ? inherited.formats.includes(code) : own === true || own === 'true';
  });
  return {
    colour: colourCode(component.color) ?? inherited.colour,
    formats: formats.map(([, code]) => code).join(''),
  };
}

function colourCode(colour: unknown): string | undefined {
  if (typeof colour !== 'string') return undefined;
  const rgb = /^#([0-9a-f]{6})$/i.exec(colour)?.[1];
  if (rgb === undefined) return COLOURS.find(([name]) => name === colour)?.[1];
  return nearestCode(rgb);
}

/** `rgb`: six hexadecimal digits. */
function nearestCode(rgb: string): string {
  const sought = Number.parseInt(rgb, 16);
  const [nearest] = COLOURS.toSorted((a, b) => distance(a[2], sought) - distance(b[2], sought));
  return nearest?.[1] ?? '';
}

function distance(a: number, b: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 0xff) - ((b >> shift) & 0xff)) ** 2, 0);
}

/** A colour code resets the formats; `r` resets everything. */
function codesBetween(from: Style, to: Style): string {
  if (from.colour === to.colour && from.formats === to.formats) return '';
  const grows = from.colour === to.colour && [...from.formats].every((code) => to.formats.includes(code));
  const codes = grows
    ? [...to.formats].filter((code) => !from.formats.includes(code))
    : [to.colour === '' ? 'r' : to.colour, ...to.formats];
  return codes.map((code) => `§${code}`).join('');
}

/** A page should not contain control characters, and a NUL makes it malformed. */
export function withoutControls(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, '');
}

/** All § codes are removed, known or not. */
export function plainText(message: string): string {
  return withoutControls(message)
    .replace(/§[0-9a-z]/gi, '')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

export type StyledText = {
  text: string;
  /** `0` to `f`, the nearest of the sixteen; empty if there is none. */
  colour: string;
  /** `bold`, `italic`, … */
  formats: string[];
};

/** Also a colour of six digits with a code for each: `§x§f§f§a§a§0§0`. */
const CODES = /§x((?:§[0-9a-f]){6})|§([0-9a-z])/gi;

/** Each line as parts in one style. The text is `plainText`'s, but not trimmed. */
export function styledLines(message: string): StyledText[][] {
  const shown = withoutControls(message);
  const lines: StyledText[][] = [[]];
  let style = PLAIN;
  const write = (text: string) => {
    const formats = FORMATS.filter(([, code]) => style.formats.includes(code)).map(([name]) => name);
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (line !== '') lines.at(-1)?.push({ text: line, colour: style.colour, formats });
    }
  };
  let end = 0;
  for (const { 0: code, 1: hex, 2: letter = '', index } of shown.matchAll(CODES)) {
    write(shown.slice(end, index));
    end = index + code.length;
    style = hex
      ? { colour: nearestCode(hex.replaceAll('§', '')), formats: '' }
      : withCode(style, letter.toLowerCase());
  }
  write(shown.slice(end));
  return lines;
}

/** A colour resets the formats, `r` everything, `k` to `o` add a format; others do nothing. */
function withCode(style: Style, code: string): Style {
  if (code === 'r') return PLAIN;
  if (/[0-9a-f]/.test(code)) return { colour: code, formats: '' };
  return /[k-o]/.test(code) ? { ...style, formats: `${style.formats}${code}` } : style;
}
