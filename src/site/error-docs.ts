import type { FastifyInstance } from 'fastify';
import { compressOnce, encodedFor } from '../http/compressed.ts';
import { ERROR_CODES } from '../http/error-codes.ts';
import { onceForKey } from '../platform/once.ts';
import type { Site } from './shared/decorate-site.ts';
import { html } from './shared/html.ts';

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The `doc_url` of an error response links to the row of its code. */
export async function errorDocs(app: FastifyInstance): Promise<void> {
  const pageFor = onceForKey(async (_look) => compressOnce(await written(app.site)));
  app.get('/docs/errors', { schema: { hide: true } }, async (request, reply) => {
    const { name, logo, accentStyle } = app.site;
    const page = await pageFor([name, logo.href, accentStyle].join('\n'));
    reply.headers({ 'content-security-policy': POLICY, 'cache-control': 'public, max-age=300' });
    return reply.type('text/html; charset=utf-8').send(encodedFor(request, reply, page));
  });
}

async function written({ base, name, logo, accentStyle, asset }: Site): Promise<string> {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, meaning }]) =>
      html`<tr id="${code}"><td data-title="Status">${status}</td>
        <th scope="row" data-title="Code"><code>${code}</code></th>
        <td data-title="Meaning">${meaning.replaceAll('`', '')}</td></tr>`,
  );
  return String(
    await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Errors of the API – ${name}</title>
    <link rel="icon" href="${logo.href}" />
    <link rel="stylesheet" href="${asset('site.css')}" />
    ${accentStyle ? html`<link rel="stylesheet" href="${accentStyle}" />` : ''}
  </head>
  <body>
    <header class="site-head">
      <a class="brand" href="${base}/">${name}</a>
      <nav aria-label="Site"><a href="${base}/docs/">API reference</a></nav>
    </header>
    <main class="wide">
      <h1>Errors of the API</h1>
      <p class="prose">Compare the <code>code</code>, not the sentence: a code never changes. If a code is unknown, use
        the status. A 429 contains the time of the next request. Repeat a request later after every 5xx.</p>
      <section class="card">
        <table class="data">
          <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
          <tbody>${rows}</tbody>
        </table>
      </section>
    </main>
  </body>
</html>
`,
  );
}
