import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { t } from '../../language/t.ts';
import { after, SECOND } from '../../platform/clock.ts';
import { type Content, type Html, html } from './html.ts';

/** While work is in progress, and otherwise. */
const FAST_MS = 3 * SECOND;
const SLOW_MS = 15 * SECOND;
/** Short, because the answer is empty while nothing has changed. */
const MARKED_MS = 1.2 * SECOND;

/**
 * A part that refreshes itself while the tab is visible, without moving focus or scroll position (scripts/page.js). The
 * page must have `live: true`. `announcement` is the state without times, which screen readers read out when it
 * changes; `open`: work is in progress; `mark`: of `markOf`, for pages that check it with `isUnchanged`.
 */
export function livePart(part: {
  id: string;
  href: string;
  announcement: string;
  open: boolean;
  mark?: string;
  body: Content;
}): Html {
  const { id, href, announcement, open, mark, body } = part;
  const polled = mark ? `${href}${href.includes('?') ? '&' : '?'}seen=${mark}` : href;
  const interval = mark ? MARKED_MS : open ? FAST_MS : SLOW_MS;
  return html`<div class="live" id="${id}" data-live data-hx-get="${polled}" data-hx-select="#${id}"
    data-hx-swap="outerMorph" data-hx-sync="drop" data-hx-trigger="every ${String(interval)}ms, seen">
    <p class="for-readers" role="status">${announcement}</p>
    ${body}
    <p class="small soft"><span class="kept-fresh">${t('This section refreshes automatically.')}</span>
      <span class="not-fresh">${t('Could not refresh: the connection was lost or the listing is restarting.')}</span>
      <a href="${href}">${t('Refresh')}</a></p>
  </div>`;
}

export function pageState(...shown: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16);
}

/** It also contains the time from which the page is sent again, because its relative times are too old by then. */
export function markOf(state: string, open: boolean, now: Date): string {
  const until = after(now, open ? FAST_MS : SLOW_MS);
  return `${state}.${until.getTime().toString(36)}`;
}

export function seenMark(request: FastifyRequest): string | null {
  const { seen } = request.query as { seen?: unknown };
  return typeof seen === 'string' ? seen : null;
}

export function isUnchanged(mark: string, state: string, now: Date): boolean {
  const [seen, until = ''] = mark.split('.');
  return seen === state && now.getTime() < Number.parseInt(until, 36);
}

export function sendUnchanged(reply: FastifyReply): FastifyReply {
  return reply.code(204).header('cache-control', 'no-store').send();
}
