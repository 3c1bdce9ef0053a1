import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { type Compressed, compressOnce, encodedFor } from '../process/compressed.ts';
import type { ErrorCode } from '../process/error-codes.ts';

/** Scalar's script is inline and allowed by its hash. Scalar also sets inline styles. */
function contentSecurityPolicy(page: string): string {
  const scripts = [...page.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script);
  const hashes = scripts.filter(Boolean).map(hashSource);
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

/** The Content-Security-Policy source of an inline script. */
function hashSource(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
}

let scalarHash: Promise<string> | undefined;
let compressedScript: Promise<Compressed> | undefined;

/** The hash of the package that contains Scalar's script, computed once in a process. */
function hashOfScalar(): Promise<string> {
  scalarHash ??= readFile(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'))).then((file) =>
    createHash('sha256').update(file).digest('base64url').slice(0, 12),
  );
  return scalarHash;
}

/** Scalar's script is 3.8 MB. It is compressed at its first request, once in a process. */
function compressScript(script: string): Promise<Compressed> {
  compressedScript ??= compressOnce(script);
  return compressedScript;
}

/** A bar above the reference with a link to the site. Scalar leaves room of this height for it. */
async function backTo(href: string, name: string): Promise<string> {
  return String(
    await html`<style>
        :root { --scalar-custom-header-height: 2.75rem; }
        .back { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 2.75rem; padding: 0.6rem 1.5rem;
          font: 1rem/1.5 system-ui, sans-serif; color-scheme: light dark;
          background: light-dark(#ffffff, #1a2124); border-bottom: 1px solid light-dark(#dbe1e2, #2e383b); }
        .back a { color: light-dark(#0f6168, #6fc7cc); }
      </style>
      <nav class="back" aria-label="Site"><a href="${href}">← ${name}</a></nav>`,
  );
}

/**
 * `/docs`: the API reference, made from `openApiUrl` (`/listing/openapi.json`). Its script comes from this server.
 * Scalar's remote fonts, telemetry, proxy and AI services are off.
 */
export async function docsPage(app: FastifyInstance, { openApiUrl }: { openApiUrl: string }): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    // Scalar builds a URL from the Host header and would throw on an invalid one.
    if (URL.canParse(`http://${request.hostname}`)) return;
    return reply
      .code(400)
      .send({ error: 'The Host header is not a valid host.', code: 'malformed' satisfies ErrorCode });
  });
  const version = await hashOfScalar();
  const linkBack = await backTo(`${app.prefix}/`, app.site.name);
  // The page is the same for everybody.
  const made = new Map<string, Promise<Compressed & { policy: string }>>();
  const makePage = async (written: string) => {
    const page = written
      .replace('<html>', '<html lang="en">')
      .replace(/<body[^>]*>/, (body) => body + linkBack);
    return { ...(await compressOnce(page)), policy: contentSecurityPolicy(page) };
  };
  app.addHook('onSend', async (request, reply, payload) => {
    const type = String(reply.getHeader('content-type'));
    if (type.startsWith('text/html')) {
      const written = String(payload);
      const page = made.get(written) ?? makePage(written);
      if (made.size === 0) made.set(written, page);
      const { policy, ...bodies } = await page;
      reply.headers({ 'content-security-policy': policy, 'cache-control': 'public, max-age=300' });
      return encodedFor(request, reply, bodies);
    }
    if (type.startsWith('application/javascript')) {
      const isCurrent = (request.query as { v?: unknown }).v === version;
      reply.header('cache-control', isCurrent ? 'public, max-age=31536000, immutable' : 'max-age=3600');
      return encodedFor(request, reply, await compressScript(String(payload)));
    }
    return payload;
  });
  await app.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: openApiUrl,
      cdn: `js/scalar.js?v=${version}`,
      pageTitle: 'Tallyport API',
      favicon: app.site.logo.href,
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
}
