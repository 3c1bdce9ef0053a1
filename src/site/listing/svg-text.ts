import { html, raw } from 'hono/html';
import type { Html } from '../html.ts';

/** What XML has no place for, not even escaped (XML 1.0, "Char"): the image would be a fault in place of a picture. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Enough for every letter and every family; more marks on one letter would be drawn over the whole image. */
const MOST_MARKS = 12;

/** Text that a stranger may have chosen, for the inside of an image: one line of what XML can hold. */
export function imageText(text: string): string {
  const line = text.toWellFormed().replace(NO_XML, '').replace(/\s+/g, ' ').trim();
  return Array.from(graphemes.segment(line), ({ segment }) =>
    [...segment].slice(0, MOST_MARKS).join(''),
  ).join('');
}

/** About how wide a character is, in parts of the font's size: images are drawn without the reader's fonts. */
function widthOf(grapheme: string): number {
  if (/^[iIl.,:;'|!]/.test(grapheme)) return 0.32;
  if (/^[ftr()[\] -]/.test(grapheme)) return 0.42;
  if (/^[mwMW@%]/.test(grapheme)) return 0.9;
  if (/^[A-Z&]/.test(grapheme)) return 0.72;
  if (/^[a-z0-9]/.test(grapheme)) return 0.6;
  return /^[\p{L}\p{N}\p{P}]/u.test(grapheme) && (grapheme.codePointAt(0) ?? 0) < 0x11_00 ? 0.7 : 1.1;
}

/** About how wide a text is, in the unit of `size`. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += size * widthOf(segment);
  return width;
}

/** As much of a text as fits into `width`, with an ellipsis where something is left out. */
export function fitted(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text;
  let kept = '';
  let room = width - size;
  for (const { segment } of graphemes.segment(text)) {
    room -= size * widthOf(segment);
    if (room < 0) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** An image of its own, in the reader's own fonts; `label` says it to those who do not see it. */
export function svgImage(image: { width: number; height: number; label: string; drawing: Html }): Html {
  const { width, height, label, drawing } = image;
  return html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"><title>${label}</title>${drawing}</svg>`;
}
