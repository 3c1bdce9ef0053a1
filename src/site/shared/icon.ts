import { ICON_SHAPES } from '../look/icon-shapes.ts';
import { type Html, html, raw } from './html.ts';

/** As in Lucide. `tools/look.ts` has the list. */
export type IconName = keyof typeof ICON_SHAPES;

/** As high as the text beside it. Screen readers skip it, so a text must say the same. */
export function icon(name: IconName, kind: 'outline' | 'solid' = 'outline'): Html {
  const shape = raw(ICON_SHAPES[name]);
  return html`<svg class="${kind === 'solid' ? 'i solid' : 'i'}" viewBox="0 0 24 24" aria-hidden="true">${shape}</svg>`;
}
