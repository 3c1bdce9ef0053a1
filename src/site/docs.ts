import { createHash } from 'node:crypto';
import { type FastifyInstance, fastify } from 'fastify';
import { compressOnce, encodedFor } from '../http/compressed.ts';
import { defineMessage } from '../language/t.ts';
import { MINUTE } from '../platform/clock.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { once, onceForKey } from '../platform/once.ts';
import type { AppDeps } from '../process/app-deps.ts';
import type { Site } from './shared/decorate-site.ts';
import { html, raw } from './shared/html.ts';
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

/** Its styles also give Scalar the site's colours and font, and room for the bar. */
async function backTo(href: string, { asset, logo, name }: Site): Promise<string> {
  const face = `"Bricolage Grotesque", system-ui, sans-serif`;
  return String(
    await html`<style>
        @font-face { font-family: "Bricolage Grotesque"; font-weight: 500 800; font-display: swap;
          src: url("${asset('bricolage-grotesque.woff2')}") format("woff2"); }
        :root { --scalar-custom-header-height: 3.25rem; }
        body.light-mode { --scalar-color-accent: #0f6168; --scalar-color-1: #10262a; --scalar-color-2: #4b6065;
          --scalar-background-2: #f1f6f5; --scalar-border-color: #d3dedd; }
        body.dark-mode { --scalar-color-accent: #74cbcf; --scalar-color-1: #e8f0ef; --scalar-color-2: #9db1b3;
          --scalar-background-1: #0b1416; --scalar-background-2: #132023; --scalar-border-color: #26373a; }
        body :is(h1, h2, h3) { font-family: ${raw(face)}; }
        .back { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 3.25rem; padding: 0 1.5rem;
          display: flex; align-items: center; color-scheme: light dark; background: light-dark(#0c3b41, #08262b); }
        .back a { display: flex; align-items: center; gap: 0.75rem; color: #f1f7f4; text-decoration: none;
          font: 800 1.25rem/1.5 ${raw(face)}; }
        .back a:hover { text-decoration: underline; }
        .back a:focus-visible { outline: 3px solid #f1f7f4; outline-offset: 2px; }
      </style>
      <nav class="back" aria-label="Site"><a href="${href}"><span aria-hidden="true">←</span><img
        src="${logo.href}" alt="" width="${String(logo.width)}" height="${String(logo.height)}" />${name}</a></nav>`,
  );
}

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
    const linkBack = await backTo(`${app.prefix}/`, app.site);
    const page = written.body
      .replaceAll(firstLogo, app.site.logo.href)
      .replace('<html>', '<html lang="en">')
      .replace(/<body[^>]*>/, (body) => body + linkBack)
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
