import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { compressOnce, encodedFor } from '../http/compressed.ts';
import { ERROR_CODES } from '../http/error-codes.ts';
import { onceForKey } from '../platform/once.ts';
import { html, raw } from './shared/html.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
  a { color: light-dark(#0f6168, #6fc7cc); }
  table { border-collapse: collapse; width: 100%; }
  th, td { padding: 0.5rem 0.75rem; text-align: start; vertical-align: top; border-bottom: 1px solid light-dark(#dbe1e2, #2e383b); }
  tr:target { background: light-dark(#e3f1f1, #173033); }
  code { overflow-wrap: anywhere; }`;

/** `/docs/errors`: the meaning of each error code. The `doc_url` of an error response links to its row. */
export async function errorDocs(app: FastifyInstance): Promise<void> {
  const { base } = app.site;
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  const pageFor = onceForKey(async (name) => compressOnce(await written(base, name, app.site.logo.href)));
  app.get('/docs/errors', { schema: { hide: true } }, async (request, reply) => {
    const page = await pageFor(app.site.name);
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'public, max-age=300' });
    return reply.type('text/html; charset=utf-8').send(encodedFor(request, reply, page));
  });
}

async function written(base: string, name: string, icon: string): Promise<string> {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { status, meaning }]) =>
      html`<tr id="${code}"><td>${status}</td><td><code>${code}</code></td>
        <td>${meaning.replaceAll('`', '')}</td></tr>`,
  );
  return String(
    await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Errors of the API – ${name}</title>
    <link rel="icon" href="${icon}" />
    <style>${raw(STYLE)}</style>
  </head>
  <body>
    <nav aria-label="Site"><a href="${base}/">← ${name}</a> · <a href="${base}/docs/">API reference</a></nav>
    <main>
      <h1>Errors of the API</h1>
      <p>Compare the <code>code</code>, not the sentence: a code never changes. If a code is unknown, use the status. A
        429 contains the time of the next request. Repeat a request later after every 5xx.</p>
      <table>
        <thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
        <tbody>${rows}</tbody>
      </table>
    </main>
  </body>
</html>
`,
  );
}
