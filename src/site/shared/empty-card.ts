import type { Site } from './decorate-site.ts';
import { type Content, type Html, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

/** The sign of an empty list. `height` is in CSS pixels. */
function strokes(height: number): Html {
  const size = html`width="${String(1.6 * height)}" height="${String(height)}"`;
  return html`<svg class="strokes" viewBox="0 0 64 40" ${size} aria-hidden="true"><path
    d="M12 6v28M25.5 6v28M39 6v28M52.5 6v28M4 30L60 12"/></svg>`;
}

export function emptyLine(text: Content): Html {
  return html`<div class="empty">${strokes(20)}<div>${text}</div></div>`;
}

export function emptyCard(part: {
  icon: IconName;
  text: Content;
  action?: { href: string; text: string } | undefined;
}): Html {
  const { text, action } = part;
  return html`<div class="empty-card">${drawing(part.icon)}<p>${text}</p>${
    action ? html`<a class="button quiet" href="${action.href}">${action.text}</a>` : ''
  }</div>`;
}

export function drawing(name: IconName): Html {
  return html`<div class="drawing">${strokes(60)}${icon(name)}</div>`;
}

export function emptyState({ asset }: Pick<Site, 'asset'>, text: Content, actions: Content): Html {
  return html`<div class="nothing"><img src="${asset('empty.svg')}" alt="" width="240" height="144" />
    <div>${text}</div>${actions ? html`<p class="actions">${actions}</p>` : ''}</div>`;
}
