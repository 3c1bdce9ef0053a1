import { type Html, html, raw } from '../shared/html.ts';

/** Characters that XML does not allow, even escaped (XML 1.0, "Char"). With one of them, the image would be invalid. */
const NOT_IN_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The most code points of a grapheme. With many combining marks, one could cover the image. Real text has fewer. */
const MAX_CODE_POINTS = 12;

/** Makes user input safe for an image: one line of valid XML. */
export function imageText(text: string): string {
  const line = text.toWellFormed().replace(NOT_IN_XML, '').replace(/\s+/g, ' ').trim();
  return Array.from(graphemes.segment(line), ({ segment }) =>
    [...segment].slice(0, MAX_CODE_POINTS).join(''),
  ).join('');
}

/** Relative to the font size. An estimate, because the reader's font is unknown. */
function widthOf(grapheme: string): number {
  if (/^[iIl.,:;'|!]/.test(grapheme)) return 0.32;
  if (/^[ftr()[\] -]/.test(grapheme)) return 0.42;
  if (/^[mwMW@%]/.test(grapheme)) return 0.9;
  if (/^[A-Z&]/.test(grapheme)) return 0.72;
  if (/^[a-z0-9]/.test(grapheme)) return 0.6;
  return /^[\p{L}\p{N}\p{P}]/u.test(grapheme) && (grapheme.codePointAt(0) ?? 0) < 0x11_00 ? 0.7 : 1.1;
}

/** Approximate; in the unit of `size`, the font size. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += size * widthOf(segment);
  return width;
}

const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]\P{L}*$/u;
const RIGHT_TO_LEFT_MARK = '\u200f';

/**
 * `width` is in the unit of `size`. A cut text ends with an ellipsis: after text that runs from right to left, on its
 * left.
 */
export function fitted(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text;
  let shown = '';
  let room = width - size;
  for (const { segment } of graphemes.segment(text)) {
    room -= size * widthOf(segment);
    if (room < 0) break;
    shown += segment;
  }
  return `${shown.trimEnd()}…${RIGHT_TO_LEFT.test(shown) ? RIGHT_TO_LEFT_MARK : ''}`;
}

/** `label` is for screen readers. */
export function svgImage(image: { width: number; height: number; label: string; drawing: Html }): Html {
  const { width, height, label, drawing } = image;
  return html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"
  role="img" aria-label="${label}"
  font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif">
<title>${label}</title>${drawing}</svg>`;
}
