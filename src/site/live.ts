import { html } from 'hono/html';
import { t } from '../platform/language/t.ts';
import type { Content, Html } from './html.ts';

/** Refresh intervals in seconds, while work is in progress and otherwise. */
const FAST = 3;
const SLOW = 15;

/**
 * A part of a page that refreshes itself every few seconds while the tab is visible, without moving focus or scroll
 * (see scripts/page.js). Without a script it offers a link. The page must be sent with `live: true`.
 *
 * @param part - `href`: the page itself, which contains this part; `announcement`: the state in words without times,
 *   which a screen reader reads out when it changes; `open`: work is in progress
 */
export function livePart(part: {
  id: string;
  href: string;
  announcement: string;
  open: boolean;
  body: Content;
}): Html {
  const { id, href, announcement, open, body } = part;
  return html`<div class="live" id="${id}" data-live data-hx-get="${href}" data-hx-select="#${id}"
    data-hx-swap="outerMorph" data-hx-trigger="every ${String(open ? FAST : SLOW)}s, seen">
    <p class="for-readers" role="status">${announcement}</p>
    ${body}
    <p class="small soft"><span class="kept-fresh">${t('This section refreshes automatically.')}</span>
      <span class="not-fresh">${t('Could not refresh: the connection was lost or the listing is restarting.')}</span>
      <a href="${href}">${t('Refresh')}</a></p>
  </div>`;
}
