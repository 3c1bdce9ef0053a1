import { type Content, type Html, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

/** Five tally strokes that nobody has drawn yet. */
const STROKES = html`<svg viewBox="0 0 64 40" width="96" height="60" aria-hidden="true"><path
  d="M12 6v28M25.5 6v28M39 6v28M52.5 6v28M4 30L60 12"/></svg>`;

/**
 * What a page or a card shows instead of an empty list: a drawing, a sentence, and the button that leads on.
 *
 * @param part - `icon` names the thing that is missing
 */
export function emptyState(part: {
  icon: IconName;
  text: Content;
  action?: { href: string; text: string } | undefined;
}): Html {
  const { text, action } = part;
  return html`<div class="empty-state"><div class="drawing">${STROKES}${icon(part.icon)}</div><p>${text}</p>${
    action ? html`<a class="button quiet" href="${action.href}">${action.text}</a>` : ''
  }</div>`;
}
