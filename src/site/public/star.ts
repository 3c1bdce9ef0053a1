import { t } from '../../language/t.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';

/** A server that a user can make a favourite, and whether it is one. */
export type Starred = { id: string; name: string; slug: string; isFavourite: boolean };

/** The id of the form that all star buttons of a page belong to. */
const FORM = 'stars';

/** The form of all star buttons of a page. `path` is the page to which the form redirects the user afterwards. */
export function starForm(path: string): Html {
  return html`<form id="${FORM}" method="post" hidden><input type="hidden" name="next" value="${path}" /></form>`;
}

/** The anchor of a server's star button. After the form was sent, the page scrolls to it. */
export function starAnchor({ slug }: Pick<Starred, 'slug'>): string {
  return `star-${slug}`;
}

/** The button that adds a server to the user's favourites or removes it. The page must contain a `starForm`. */
export function star({ base }: Pick<Site, 'base'>, server: Starred, text: Content = ''): Html {
  const { id, name, isFavourite } = server;
  const does = isFavourite ? t('Remove from your favourites') : t('Add to your favourites');
  const sign = icon('star', isFavourite ? 'solid' : 'outline');
  // Screen readers skip the visible text, because the hidden text for them says the same.
  const seen = text ? html`<span aria-hidden="true">${text}</span>` : '';
  const words = html`<span class="for-readers">${does}: ${name}</span>`;
  return html`<button class="star" type="submit" form="${FORM}"
    formaction="${base}/favourites/${id}" name="favourite" value="${isFavourite ? 'no' : 'yes'}"
    id="${starAnchor(server)}" title="${does}">${sign}${seen}${words}</button>`;
}
