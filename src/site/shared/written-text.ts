import { containedText } from '../../platform/contained-text.ts';
import { writtenLink } from '../../platform/written-link.ts';
import { type Content, type Html, html } from './html.ts';

/** Punctuation at the end is not part of a URL. */
const URLS = /https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]}]/gi;

/**
 * Links in a user's text are `nofollow ugc` for search engines. Each shows its real host in ASCII (Punycode), so that
 * look-alike letters are visible.
 */
export function writtenText(text: string): Html {
  const lines = containedText(text)
    .split('\n')
    .map((line, index) => html`${index > 0 ? html`<br />` : ''}${linked(line)}`);
  return html`<div class="written" dir="auto">${lines}</div>`;
}

/** One line of a user's text, or a player's name. */
export function writtenLine(text: string): Html {
  return html`<bdi>${containedText(text)}</bdi>`;
}

function linked(line: string): Content[] {
  const parts: Content[] = [];
  let linkedUntil = 0;
  for (const { 0: address, index } of line.matchAll(URLS)) {
    const link = writtenLink(address);
    if (!link) continue;
    parts.push(line.slice(linkedUntil, index));
    parts.push(html`<a href="${link.href}" rel="nofollow ugc noopener noreferrer">${link.href}</a>`);
    linkedUntil = index + address.length;
  }
  return [...parts, line.slice(linkedUntil)];
}
