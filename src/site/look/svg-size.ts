import { AppError } from '../../platform/app-error.ts';
/**
 * Also for an uploaded logo of any format with too many pixels. Messages of `svgSize` follow a colon: “is no usable
 * SVG, PNG or WebP picture: it ends before its last element”.
 */
export class SvgError extends AppError {
  readonly code = 'svg';
}

/** Whether a file begins like an XML document. */
export function isSvg(bytes: Buffer): boolean {
  return /^\ufeff?\s*</.test(bytes.toString('utf8', 0, 200));
}

/** What is not an element. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<?', '?>'],
  ['<![CDATA[', ']]>'],
] as const;
const DOCTYPE = '<!DOCTYPE';
const ATTRIBUTE = /\s+([\w:.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const TAG = /<(\/?)([A-Za-z_][\w:.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;

/** CSS pixels per unit of length. */
const UNITS: Record<string, number> = {
  '': 1,
  px: 1,
  pt: 96 / 72,
  pc: 16,
  mm: 96 / 25.4,
  cm: 96 / 2.54,
  in: 96,
};
/** In CSS pixels. */
const WITHOUT_SIZE = 100;

/** In CSS pixels. Checks that the elements are well nested, but not what they mean. Throws `SvgError`. */
export function svgSize(bytes: Buffer): { width: number; height: number } {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const open: string[] = [];
  let root: Map<string, string> | undefined;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const next = endOfSkipped(text, at);
    if (next !== at) {
      at = next;
      continue;
    }
    TAG.lastIndex = at;
    const found = TAG.exec(text);
    if (!found) throw new SvgError('an element is damaged or incomplete');
    const [whole, closes, name = '', attributes = '', isEmpty] = found;
    if (root && open.length === 0) throw new SvgError('it has more than one root element');
    if (closes) {
      if (open.pop() !== name) throw new SvgError(`“${name}” is closed and was not opened`);
    } else {
      root ??= rootOf(name, attributes);
      if (!isEmpty) open.push(name);
    }
    at += whole.length;
  }
  if (!root || open.length > 0) throw new SvgError('it ends before its last element');
  return sizeOf(root);
}

/** The end of what is not an element; `at` if there is one. Each character is read a constant number of times. */
function endOfSkipped(text: string, at: number): number {
  const skipped = SKIPPED.find(([begin]) => text.startsWith(begin, at));
  if (skipped) return endOf(text, skipped[1], at + skipped[0].length);
  if (text.slice(at, at + DOCTYPE.length).toUpperCase() !== DOCTYPE) return at;
  const end = endOf(text, '>', at);
  const entities = text.slice(at, end).indexOf('[');
  return entities === -1 ? end : endOf(text, '>', endOf(text, ']', at + entities));
}

/** Throws if the text ends before `mark`, so that no later search reads the rest of the text again. */
function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  if (found === -1) throw new SvgError('it ends before its last element');
  return found + mark.length;
}

function rootOf(name: string, attributes: string): Map<string, string> {
  const found = [...attributes.matchAll(ATTRIBUTE)];
  const root = new Map(found.map(([, key = '', double, single]) => [key, double ?? single ?? '']));
  const [prefix] = name.includes(':') ? name.split(':') : [];
  const space = root.get(prefix ? `xmlns:${prefix}` : 'xmlns');
  if (name.replace(/^.*:/, '') !== 'svg' || space !== 'http://www.w3.org/2000/svg')
    throw new SvgError('its root element is not “svg” of the namespace http://www.w3.org/2000/svg');
  return root;
}

/** From `width` and `height`, or from one of them and the ratio of `viewBox`, or from `viewBox` alone. */
function sizeOf(root: Map<string, string>): { width: number; height: number } {
  const [, , boxWidth, boxHeight] = (root.get('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const hasBox = boxWidth !== undefined && boxHeight !== undefined && boxWidth > 0 && boxHeight > 0;
  const ratio = hasBox ? boxWidth / boxHeight : 1;
  const [width, height] = [lengthOf(root.get('width')), lengthOf(root.get('height'))];
  if (width && height) return { width, height };
  if (width) return { width, height: width / ratio };
  if (height) return { width: height * ratio, height };
  return hasBox ? { width: boxWidth, height: boxHeight } : { width: WITHOUT_SIZE, height: WITHOUT_SIZE };
}

/** In CSS pixels; undefined if it is missing or zero, or if `UNITS` does not have its unit. */
function lengthOf(value = ''): number | undefined {
  const [, number, unit = ''] = /^\s*(\d*\.?\d+(?:e[+-]?\d+)?)\s*([a-z]*)\s*$/i.exec(value) ?? [];
  const pixels = UNITS[unit.toLowerCase()];
  const length = Number(number) * (pixels ?? Number.NaN);
  return length > 0 ? length : undefined;
}
