import { t } from '../../language/t.ts';
import { type Content, html } from './html.ts';
import { linkTo } from './parts.ts';
import type { Site } from './site-settings.ts';

/** A link to the operator: the page that the operator wrote, else `CONTACT`; null without both. */
export function contactHref({
  base,
  pages,
  contact,
}: Pick<Site, 'base' | 'pages' | 'contact'>): string | null {
  if (pages.has('contact')) return `${base}/contact`;
  if (contact === undefined) return null;
  return contact.includes('://') ? contact : `mailto:${contact}`;
}

/** How to reach the operator, as a paragraph; nothing if the operator gave no contact. */
export function contactLine(site: Pick<Site, 'base' | 'pages' | 'contact'>): Content {
  const href = contactHref(site);
  if (href === null) return '';
  return html`<p>${t('Contact: <a>{contact}</a>', {
    a: linkTo(href),
    contact: site.contact ?? t('the operator of this listing'),
  })}</p>`;
}

/** The same as text after a sentence, for messages that cannot contain a link. */
export function contactText({ url, pages, contact }: Pick<Site, 'url' | 'pages' | 'contact'>): string {
  const where = contact ?? (pages.has('contact') ? `${url}/contact` : undefined);
  return where === undefined ? '' : ` ${t('Contact: {where}', { where })}`;
}
