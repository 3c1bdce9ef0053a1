import type { FastifyInstance } from 'fastify';
import { t } from '../../language/t.ts';
import { PageError } from '../error-pages.ts';
import { CACHED } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import { html, raw } from '../shared/html.ts';
import { SITE_PAGES, type SitePageName } from '../site-pages.ts';
import { privacyPage } from './privacy-page.ts';
import type { PublicParts } from './public-parts.ts';

/**
 * `/contact`, `/imprint`, `/privacy`, `/terms`: the operator's own pages. If the operator has not written one: the
 * privacy page is made from the configuration, and the other pages are not found.
 */
export function sitePages(app: FastifyInstance, { deps: { config } }: PublicParts): void {
  for (const name of Object.keys(SITE_PAGES) as SitePageName[]) {
    const path = `/${name}`;
    app.get(path, CACHED, (request, reply) =>
      sendPublicPage(request, reply, path, async () => {
        const page = app.site.pages.get(name);
        const listing = app.site.name;
        if (!page && name === 'privacy') {
          const description = t('What {listing} stores about you, why, and for how long.', { listing });
          return {
            title: t(SITE_PAGES.privacy),
            metadata: { canonical: path, description },
            body: privacyPage(app.site, config),
          };
        }
        if (!page) throw new PageError(404, t('This listing does not have this page.'));
        const title = page.title ?? t(SITE_PAGES[name]);
        const heading = page.title ? '' : html`<h1>${title}</h1>\n`;
        return {
          title,
          width: 'text',
          metadata: { canonical: path, description: t('{title}: {listing}.', { title, listing }) },
          body: html`<article class="card prose">${heading}${raw(page.html)}</article>`,
        };
      }),
    );
  }
}
