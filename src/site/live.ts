import { html } from 'hono/html';
import type { Content, Html } from './html.ts';

/** How often a part of a page is asked for anew, in seconds: while something is on its way, and else. */
const QUICKLY = 3;
const SLOWLY = 15;

/**
 * A part of a page that shows how things are now. With a script it is asked for anew every few seconds, but not
 * in a tab that nobody sees, and put in place without moving focus or scroll (see scripts/page.js); without one
 * there is a link. The page must be sent with `live: true`.
 *
 * @param part - `href`: the page itself, whose answer holds this part again; `said`: how things stand, in words
 *   without times: a screen reader says it when it changes; `open`: something is on its way
 */
export function livePart(part: {
  id: string;
  href: string;
  said: string;
  open: boolean;
  body: Content;
}): Html {
  const { id, href, said, open, body } = part;
  return html`<div class="live" id="${id}" data-live data-hx-get="${href}" data-hx-select="#${id}"
    data-hx-swap="outerMorph" data-hx-trigger="every ${String(open ? QUICKLY : SLOWLY)}s, seen">
    <p class="for-readers" role="status">${said}</p>
    ${body}
    <p class="small soft"><span class="kept-fresh">This part refreshes itself.</span>
      <span class="not-fresh">It could not be refreshed: the connection is lost, or the listing restarts.</span>
      <a href="${href}">Refresh</a></p>
  </div>`;
}
