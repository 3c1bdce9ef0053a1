import type { Site } from './decorate-site.ts';
import { type Content, type Html, html } from './html.ts';

export function emptyState({ asset }: Pick<Site, 'asset'>, text: Content, actions: Content): Html {
  return html`<div class="nothing"><img src="${asset('empty.svg')}" alt="" width="240" height="144" />
    <div>${text}</div>${actions ? html`<p class="actions">${actions}</p>` : ''}</div>`;
}
