import { type Html, html } from '../shared/html.ts';
import { imageText } from './svg-text.ts';

/** Texts whose characters the fonts contain. If a name does not match, the address is drawn instead. */
const DRAWABLE =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]+$/u;

/** Without pictographs, which are not in the fonts. `fallback`, if no letter or digit of it can be drawn. */
export function drawable(text: string, fallback: string): string {
  const plain = imageText(text.replace(/\p{Extended_Pictographic}|\p{Regional_Indicator}|\ufe0f/gu, ''));
  return DRAWABLE.test(plain) && /[\p{L}\p{N}]/u.test(plain) ? plain : fallback;
}

/** The fonts of the drawing are wider by this factor than those for which `fitted` estimates widths. */
export const WIDER = 1.1;

/** The font for headings (src/site/look/). The renderer knows it by the name that its file states. */
export const DISPLAY = html`font-family="Bricolage Grotesque 96pt ExtraBold" font-weight="700"`;
const BOLD = html`font-family="DejaVu Sans" font-weight="700"`;
export const MONO = html`font-family="DejaVu Sans Mono"`;

/** DejaVu if the display font lacks characters of the text. */
export function face(text: string): Html {
  return /^[\u0020-\u00ff‐–—‘’‚“”„†•…‹›€™]*$/.test(text) ? DISPLAY : BOLD;
}
