import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import apiReference from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
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

/**
 * `/docs`: the API reference, made from `openApiUrl` (`/listing/openapi.json`). Its script comes from this server.
 * Scalar's remote fonts, telemetry, proxy and AI services are off.
 */
export async function docsPage(app: FastifyInstance, { openApiUrl }: { openApiUrl: string }): Promise<void> {
  const icon = await readFile(new URL('./tallyport.svg', import.meta.url));
  app.get('/docs/tallyport.svg', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('cache-control', 'max-age=3600').type('image/svg+xml').send(icon),
  );
  app.addHook('onRequest', async (request, reply) => {
    // Scalar builds a URL from the Host header and would throw on an invalid one.
    if (URL.canParse(`http://${request.hostname}`)) return;
    return reply
      .code(400)
      .send({ error: 'The Host header is not a valid host.', code: 'malformed' satisfies ErrorCode });
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    const type = String(reply.getHeader('content-type'));
    if (type.startsWith('text/html')) {
      const page = String(payload).replace('<html>', '<html lang="en">');
      reply.header('content-security-policy', contentSecurityPolicy(page));
      return page;
    }
    if (type.startsWith('application/javascript')) {
      reply.header('cache-control', 'max-age=3600');
    }
    return payload;
  });
  await app.register(apiReference, {
    routePrefix: '/docs',
    configuration: {
      url: openApiUrl,
      pageTitle: 'Tallyport API',
      favicon: `${app.prefix}/docs/tallyport.svg`,
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
