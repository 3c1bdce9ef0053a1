import { t } from '../../language/t.ts';
import { type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';

type Starred = { id: string; name: string; slug: string; isFavourite: boolean };

/** All star buttons of a page belong to this form. */
const FORM = 'stars';

/** `path`: the page to which the form redirects the user afterwards. */
export function starForm(path: string): Html {
  return html`<form id="${FORM}" method="post" hidden><input type="hidden" name="next" value="${path}" /></form>`;
}

/** After the form was sent, the page scrolls to the button. */
export function starAnchor({ slug }: Pick<Starred, 'slug'>): string {
  return `star-${slug}`;
}

/** The page must contain a `starForm`. */
export function star(base: string, server: Starred): Html {
  const { id, name, isFavourite } = server;
  const does = isFavourite ? t('Remove from your favourites') : t('Add to your favourites');
  const sign = icon('star', isFavourite ? 'solid' : 'outline');
  const words = html`<span class="for-readers">${does}: ${name}</span>`;
  return html`<button class="star" type="submit" form="${FORM}"
    formaction="${base}/favourites/${id}" name="favourite" value="${isFavourite ? 'no' : 'yes'}"
    id="${starAnchor(server)}" title="${does}">${sign}${words}</button>`;
}
