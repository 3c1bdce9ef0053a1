import { html } from 'hono/html';
import type { Content, Html } from './html.ts';

/** An address in a text: what stands behind it as a mark of the sentence does not belong to it. */
const ADDRESS = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/gi;

/**
 * What somebody wrote, in lines and with its addresses as links: to nobody's credit with search engines, and without
 * telling the far end where the reader came from.
 */
export function writtenText(text: string): Html {
  const lines = text.split('\n').map((line, index) => html`${index > 0 ? html`<br />` : ''}${linked(line)}`);
  return html`<div class="written" dir="auto">${lines}</div>`;
}

function linked(line: string): Content[] {
  const parts: Content[] = [];
  let end = 0;
  for (const { 0: address, index } of line.matchAll(ADDRESS)) {
    if (!URL.canParse(address)) continue;
    parts.push(line.slice(end, index));
    parts.push(html`<a href="${address}" rel="nofollow ugc noopener noreferrer">${address}</a>`);
    end = index + address.length;
  }
  return [...parts, line.slice(end)];
}
