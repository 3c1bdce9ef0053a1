import { createHash } from 'node:crypto';
import { type FastifyInstance, fastify } from 'fastify';
import { compressOnce, encodedFor } from '../http/compressed.ts';
import { defineMessage } from '../language/t.ts';
import { MINUTE } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { once, onceForKey } from '../platform/once.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { docsFrame, docsStyles } from './docs-frame.ts';
import { type Html, html } from './shared/html.ts';
import { throwIfUsedUp } from './shared/used-up.ts';

/** Scalar's inline scripts are allowed by their hashes, its inline styles all. */
function contentSecurityPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script);
  const hashes = scripts
    .filter(Boolean)
    .map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Beside Scalar's element: Scalar would take what is in it for its own. */
function waiting(openApiUrl: string): Html {
  const document = html`<a href="${openApiUrl}">the OpenAPI document</a>`;
  return html`<div class="docs-waiting"><noscript><p>A script writes the reference, and scripts are off in this browser.
      The same is in ${document}.</p></noscript>
    <p id="docs-failed" hidden>The script of the reference could not be loaded. Try again later, or read
      ${document}.</p></div>`;
}

/** Runs after Scalar's script. */
const SHOW_FAILURE = "if (!window.Scalar) document.getElementById('docs-failed').hidden = false";

const SCRIPT = 'js/scalar.js';

/**
 * Scalar's package loads 200 modules, so it is imported at the first request. Its remote fonts, telemetry, proxy and AI
 * services are turned off.
 */
async function makeReference(app: FastifyInstance, openApiUrl: string) {
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  const scalar = fastify();
  const firstLogo = app.site.logo.href;
  await scalar.register(apiReference, {
    routePrefix: '/',
    configuration: {
      url: openApiUrl,
      cdn: SCRIPT,
      pageTitle: 'Tallyport API',
      favicon: firstLogo,
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    },
  });
  const [written, code] = await Promise.all(['/', `/${SCRIPT}`].map((url) => scalar.inject(url)));
  if (written?.statusCode !== 200 || code?.statusCode !== 200) throw new Error('Scalar wrote no reference');
  const version = createHash('sha256').update(code.body).digest('base64url').slice(0, 12);
  /** Made again if the listing's name or logo (`_look`) differs from the last call. */
  const pageFor = async (_look: string) => {
    const [styles, frame, within] = await Promise.all([
      docsStyles(app.site, 'tokens.css'),
      docsFrame(app.site, ''),
      waiting(openApiUrl),
    ]).then((parts) => parts.map(String));
    const page = written.body
      .replaceAll(firstLogo, app.site.logo.href)
      .replace('<html>', '<html lang="en">')
      .replace('</head>', (end) => styles + end)
      .replace(/<body[^>]*>/, (body) => body + frame)
      .replace('<div id="app"></div>', (app) => app + within)
      .replace('</body>', (end) => `<script>${SHOW_FAILURE}</script>${end}`)
      .replace(`src="${SCRIPT}"`, `src="${SCRIPT}?v=${version}"`);
    return { ...(await compressOnce(page)), policy: contentSecurityPolicy(page) };
  };
  // The script has 3.8 MB, so it is compressed only when it is first requested.
  return {
    pageFor: onceForKey(pageFor),
    script: once(() => compressOnce(code.body)),
    version,
  };
}

/** Browsers cache it for a year, so they need one. */
const SCRIPTS = defineLimit({
  key: 'reference-script',
  what: 'Downloads of the script of the API reference',
  of: 'network',
  times: 20,
  windowMs: MINUTE,
  sentence: defineMessage('Your network asked for the API reference too often.'),
});

export async function docsPage(
  app: FastifyInstance,
  { deps, openApiUrl }: { deps: AppDeps; openApiUrl: string },
): Promise<void> {
  const reference = once(() => makeReference(app, openApiUrl));
  const hidden = { schema: { hide: true } };

  app.get('/docs', hidden, (_request, reply) => reply.redirect(`${app.prefix}/docs/`, 301));

  app.get('/docs/', hidden, async (request, reply) => {
    const { policy, ...bodies } = await (await reference()).pageFor(
      `${app.site.name}\n${app.site.logo.href}`,
    );
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'public, max-age=300' });
    return reply.type('text/html; charset=utf-8').send(encodedFor(request, reply, bodies));
  });

  const file = { ...hidden, config: { isFile: true } } as const;
  app.get<{ Querystring: { v?: unknown } }>(`/docs/${SCRIPT}`, file, async (request, reply) => {
    await throwIfUsedUp(deps, SCRIPTS, request.ip);
    // Without the header, the client accepts any encoding (RFC 9110, section 12.5.3).
    request.headers['accept-encoding'] ??= 'gzip';
    const { script, version } = await reference();
    const bodies = await script();
    const isCurrent = request.query.v === version;
    reply.header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'max-age=3600');
    return reply.type('application/javascript; charset=utf-8').send(encodedFor(request, reply, bodies));
  });
}
