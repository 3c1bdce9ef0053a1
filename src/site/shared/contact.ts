import { t } from '../../language/t.ts';
import type { Site } from './decorate-site.ts';
import { type Content, html } from './html.ts';
import { linkTo } from './parts.ts';

/** The operator's contact page, or else `CONTACT`. */
export function contactHref({
  base,
  pages,
  contact,
}: Pick<Site, 'base' | 'pages' | 'contact'>): string | null {
  if (pages.has('contact')) return `${base}/contact`;
  if (contact === undefined) return null;
  return contact.includes('://') ? contact : `mailto:${contact}`;
}

export function contactLine(site: Pick<Site, 'base' | 'pages' | 'contact'>): Content {
  const href = contactHref(site);
  if (href === null) return '';
  return html`<p>${t('Contact: <a>{contact}</a>', {
    a: linkTo(href),
    contact: site.contact ?? t('the operator of this listing'),
  })}</p>`;
}

/** For messages that cannot contain a link. */
export function contactText({ url, pages, contact }: Pick<Site, 'url' | 'pages' | 'contact'>): string {
  const where = contact ?? (pages.has('contact') ? `${url}/contact` : undefined);
  return where === undefined ? '' : ` ${t('Contact: {where}', { where })}`;
}
