import { t } from '../../language/t.ts';
import { type Content, html } from '../shared/html.ts';

/** Why the page `next` needs an account, as the first sentence of the forms to sign in and up. Empty for other pages. */
export function purposeOf(base: string, next: string): Content {
  const [path = ''] = next.split('?');
  if (path === `${base}/dashboard/servers/new`)
    return html`<p>${t('With an account, you list your server: its name and address are enough to begin.')}</p>`;
  if (path === `${base}/favourites` || path.startsWith(`${base}/favourites/`))
    return html`<p>${t(
      'With an account, your favourites are on one page, with the time of your next vote for each.',
    )}</p>`;
  return '';
}
