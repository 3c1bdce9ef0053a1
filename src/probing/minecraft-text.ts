/** Minecraft's sixteen colours: name, § code and RGB value (minecraft.wiki, "Formatting codes"). */
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

/** Deeper nested text is ignored. */
const DEEPEST = 32;

/** The code of the colour and the codes of the active formats. */
type Style = { colour: string; formats: string };

const PLAIN: Style = { colour: '', formats: '' };

/**
 * Converts a server's description to text with § codes. The description is such a text or a component: an object, or a
 * list of objects, whose parts inherit colour and formats (minecraft.wiki, "Text component format").
 */
export function legacyText(description: unknown): string {
  let written = '';
  let style = PLAIN;
  for (const part of runs(description, PLAIN, 0)) {
    written += `${change(style, part.style)}${part.text}`;
    style = part.style;
  }
  return written;
}

type Run = { text: string; style: Style };

function* runs(component: unknown, inherited: Style, depth: number): Generator<Run> {
  if (depth > DEEPEST) return;
  if (typeof component === 'string') {
    if (component !== '') yield { text: component, style: inherited };
  } else if (Array.isArray(component)) {
    for (const part of component) yield* runs(part, inherited, depth + 1);
  } else if (typeof component === 'object' && component !== null) {
    const { text, translate, extra } = component as Record<string, unknown>;
    const style = styleOf(component as Record<string, unknown>, inherited);
    yield* runs(typeof text === 'string' ? text : translate, style, depth + 1);
    yield* runs(extra, style, depth + 1);
  }
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

/** The code of the colour that is nearest to `rgb`, six hex digits. */
function nearestCode(rgb: string): string {
  const sought = Number.parseInt(rgb, 16);
  const [nearest] = COLOURS.toSorted((a, b) => distance(a[2], sought) - distance(b[2], sought));
  return nearest?.[1] ?? '';
}

/** The squared distance of two RGB values. */
function distance(a: number, b: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum + (((a >> shift) & 0xff) - ((b >> shift) & 0xff)) ** 2, 0);
}

/** The codes that change one style to the next. A colour code resets the formats; `r` resets everything. */
function change(from: Style, to: Style): string {
  if (from.colour === to.colour && from.formats === to.formats) return '';
  const grows = from.colour === to.colour && [...from.formats].every((code) => to.formats.includes(code));
  const codes = grows
    ? [...to.formats].filter((code) => !from.formats.includes(code))
    : [to.colour === '' ? 'r' : to.colour, ...to.formats];
  return codes.map((code) => `§${code}`).join('');
}

/** Removes control characters except line feeds: they do not belong in a page, and a NUL makes it malformed. */
export function withoutControls(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, '');
}

/** A server's message without § codes, as plain text of one or more lines. */
export function plainText(motd: string): string {
  return withoutControls(motd)
    .replace(/§[0-9a-fk-orx]/gi, '')
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

/** A part of a message in one style. */
export type StyledText = {
  text: string;
  /** The code of the colour, `0` to `f`; empty for none. Other colours become the nearest of the sixteen. */
  colour: string;
  /** The names of the active formats: `bold`, `italic`, … */
  formats: string[];
};

/** A code, or a colour of six digits with a code for each: `§x§f§f§a§a§0§0`. */
const CODES = /§x((?:§[0-9a-f]){6})|§([0-9a-fk-orx])/gi;

/** The lines of a message with § codes, each as parts of one style. The text is that of `plainText`, untrimmed. */
export function styledLines(greeting: string): StyledText[][] {
  const motd = withoutControls(greeting);
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
  for (const { 0: code, 1: hex, 2: letter = '', index } of motd.matchAll(CODES)) {
    write(motd.slice(end, index));
    end = index + code.length;
    style = hex
      ? { colour: nearestCode(hex.replaceAll('§', '')), formats: '' }
      : changed(style, letter.toLowerCase());
  }
  write(motd.slice(end));
  return lines;
}

/** A colour resets the formats, `r` resets everything; an `x` without six digits after it changes nothing. */
function changed(style: Style, code: string): Style {
  if (code === 'r') return PLAIN;
  if (/[0-9a-f]/.test(code)) return { colour: code, formats: '' };
  return code === 'x' ? style : { ...style, formats: `${style.formats}${code}` };
}
