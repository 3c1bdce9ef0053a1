import { html } from 'hono/html';
import type { Content, Html } from './html.ts';

/** A URL in a text, without punctuation at its end. */
const ADDRESS = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/gi;

/**
 * Text written by a user, with line breaks and links. Links are `nofollow ugc` for search engines and send no referrer.
 */
export function writtenText(text: string): Html {
  const lines = text.split('\n').map((line, index) => html`${index > 0 ? html`<br />` : ''}${linked(line)}`);
  return html`<div class="written" dir="auto">${lines}</div>`;
}

function linked(line: string): Content[] {
  const parts: Content[] = [];
  let linkedUntil = 0;
  for (const { 0: address, index } of line.matchAll(ADDRESS)) {
    if (!URL.canParse(address)) continue;
    parts.push(line.slice(linkedUntil, index));
    parts.push(html`<a href="${address}" rel="nofollow ugc noopener noreferrer">${address}</a>`);
    linkedUntil = index + address.length;
  }
  return [...parts, line.slice(linkedUntil)];
}
