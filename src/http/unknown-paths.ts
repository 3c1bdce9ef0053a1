import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES } from './http-errors.ts';

declare module 'fastify' {
  interface FastifyInstance {
    refusesGet(path: string): boolean;
  }
}

function asExpression(pattern: string): RegExp {
  const source = pattern
    .split('/')
    .map((part) => {
      if (part.includes('*')) return '.*';
      if (part.includes(':')) return '[^/]+';
      return part.replace(/[^\w-]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}$`);
}

/** An encoded slash (`%2F`) stays encoded: it does not separate segments. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path.replace(/%2f/gi, '%252F'));
  } catch {
    return path;
  }
}

/** It must not match `//elsewhere/`: a redirect to `//elsewhere` would lead to another site. */
const SLASH_AT_END = /^(\/(?![/\\])[^?]*[^?/])\/(\?.*)?$/;

/**
 * Answers 404 for unknown paths and 405 for other methods, before any other check (docs/errors.md has the order).
 * Redirects a page's path with a trailing slash. Register it before all routes.
 */
export function refuseUnknownPaths(app: FastifyInstance, basePath: string): void {
  const methods = new Map<string, { expression?: RegExp; allowed: Set<string>; isPage: boolean }>();

  app.addHook('onRoute', ({ url, method, config }) => {
    const isPage = config !== undefined && 'access' in config;
    const known = methods.get(url) ?? { allowed: new Set<string>(), isPage };
    for (const one of [method].flat()) known.allowed.add(one);
    methods.set(url, known);
  });

  // Made at the first unknown path, because hundreds of expressions would delay each start.
  const matching = (path: string) =>
    [...methods].flatMap(([url, known]) => {
      known.expression ??= asExpression(url);
      return known.expression.test(path) ? [known] : [];
    });
  const methodsOf = (path: string): string[] => {
    const matched = matching(path);
    return [...new Set(matched.flatMap(({ allowed }) => [...allowed]))].toSorted();
  };

  app.decorate('refusesGet', (path) => {
    const allowed = methodsOf(decoded(path));
    return allowed.length > 0 && !allowed.includes('GET');
  });

  const isPage = (path: string, method: string) =>
    matching(path).some(({ isPage, allowed }) => isPage && allowed.has(method));

  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const path = decoded(request.url.split('?')[0] ?? '');
    const [, bare, query = ''] = SLASH_AT_END.exec(request.url) ?? [];
    if (bare !== undefined && /^(GET|HEAD)$/.test(request.method) && isPage(decoded(bare), request.method)) {
      return reply.redirect(`${bare}${query}`, 308);
    }
    const allow = methodsOf(path);
    if (allow.length === 0) {
      const withoutSlash = path.endsWith('/') && methodsOf(path.slice(0, -1)).length > 0;
      const isOutside = basePath !== '' && !`${path}/`.startsWith(`${basePath}/`);
      const sentence = isOutside
        ? `There is nothing at this address: this listing is under ${basePath}/. A proxy in front of it must pass on the path of PUBLIC_URL, not strip it.`
        : SENTENCES[404];
      throw new RefusedError({
        status: 404,
        code: 'not-found',
        sentence: withoutSlash ? SENTENCES.slash : sentence,
      });
    }
    throw new RefusedError({
      status: 405,
      code: 'method-not-allowed',
      sentence: SENTENCES[405],
      headers: { allow: allow.join(', ') },
    });
  });
  // Never called, because the hook above answers first; but Fastify needs one.
  app.setNotFoundHandler(async () => {
    throw new RefusedError({ status: 404, code: 'not-found', sentence: SENTENCES[404] });
  });
}
