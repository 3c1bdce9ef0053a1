import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { compressOnce, encodedFor } from '../http/compressed.ts';
import { onceForKey } from '../platform/once.ts';
import { renderDocument } from './doc-markdown.ts';
import { DOC_PAGES, type DocPageName, docsFrame, docsStyles } from './docs-frame.ts';
import type { Site } from './shared/decorate-site.ts';
import { html, raw } from './shared/html.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** In the documents; a page shows the listing's own address. */
const EXAMPLE_URL = 'https://listing.example';

/** The `doc_url` of an error response links to the row of its code in `/docs/errors`. */
export async function docPages(app: FastifyInstance): Promise<void> {
  for (const { name } of DOC_PAGES) {
    if (!name) continue;
    const pageFor = onceForKey(async (_look) => compressOnce(await written(app.site, name)));
    app.get(`/docs/${name}`, { schema: { hide: true } }, async (request, reply) => {
      const { name: ofSite, logo, accentStyle } = app.site;
      const page = await pageFor([ofSite, logo.href, accentStyle].join('\n'));
      reply.headers({ 'content-security-policy': POLICY, 'cache-control': 'public, max-age=300' });
      return reply.type('text/html; charset=utf-8').send(encodedFor(request, reply, page));
    });
  }
}

async function written(site: Site, name: DocPageName): Promise<string> {
  const { base, url, logo, asset } = site;
  const text = await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
  const { title, parts, body } = renderDocument(text.replaceAll(EXAMPLE_URL, url), (document, hash) =>
    DOC_PAGES.some((page) => page.name === document) ? `${base}/docs/${document}${hash}` : null,
  );
  return String(
    await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title} – ${site.name}</title>
    <link rel="icon" href="${logo.href}" />
    <script src="${asset('theme.js')}"></script>
    ${docsStyles(site, 'site.css')}
  </head>
  <body class="docs">
    <a class="skip" href="#content">Skip to the content</a>
    ${docsFrame(site, name, parts)}
    <main id="content" tabindex="-1">
      <h1>${title}</h1>
      <article class="card">${raw(body)}</article>
    </main>
  </body>
</html>
`,
  );
}
