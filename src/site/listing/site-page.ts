import type { FastifyInstance } from 'fastify';
import { html, raw } from 'hono/html';
import { t } from '../../platform/language/t.ts';
import { PageError } from '../error-pages.ts';
import { PUBLIC } from '../page-route.ts';
import { sendPublicPage } from '../public-page.ts';
import { SITE_PAGES, type SitePageName } from '../site-pages.ts';

/** `/contact`, `/imprint`, `/privacy`, `/terms`: the operator's own pages. A page without a file is not found. */
export function sitePages(app: FastifyInstance): void {
  const { name: listing, pages } = app.site;
  for (const name of Object.keys(SITE_PAGES) as SitePageName[]) {
    const path = `/${name}`;
    app.get(path, PUBLIC, (request, reply) =>
      sendPublicPage(request, reply, path, async () => {
        const page = pages.get(name);
        if (!page) throw new PageError(404, t('This listing does not have this page.'));
        return {
          title: page.title,
          listed: {
            canonical: path,
            description: t('{title}: {listing}.', { title: page.title, listing }),
          },
          body: html`<article class="card prose">${raw(page.html)}</article>`,
        };
      }),
    );
  }
}
