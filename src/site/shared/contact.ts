import { t } from '../../language/t.ts';
import type { Site } from './decorate-site.ts';
import { type Content, html } from './html.ts';
import { linkTo } from './parts.ts';

type Contact = Pick<Site, 'base' | 'pages' | 'contact'>;

export function contactHref({ base, pages, contact }: Contact): string | null {
  if (pages.has('contact')) return `${base}/contact`;
  if (contact === undefined) return null;
  return contact.includes('://') ? contact : `mailto:${contact}`;
}

export function contactLine(site: Contact): Content {
  const href = contactHref(site);
  if (href === null) return '';
  return html`<p>${t('Contact: <a>{contact}</a>', {
    a: linkTo(href),
    contact: site.contact ?? t('the operator of this listing'),
  })}</p>`;
}

export function contactText({ url, pages, contact }: Pick<Site, 'url' | 'pages' | 'contact'>): string {
  const where = contact ?? (pages.has('contact') ? `${url}/contact` : undefined);
  return where === undefined ? '' : ` ${t('Contact: {where}', { where })}`;
}
