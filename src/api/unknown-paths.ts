import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES } from '../process/http-errors.ts';

/** `/servers/:id/vote` as an expression; `*` stands for any rest. */
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

/** An encoded slash stays one: it parts nothing. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path.replace(/%2f/gi, '%252F'));
  } catch {
    return path;
  }
}

/** A path of this site with one slash too many, and its query; never `//elsewhere/`, which is another site's address. */
const SLASH_AT_END = /^(\/(?![/\\])[^?]*[^?/])\/(\?.*)?$/;

/**
 * Answers 404 for a path that no route has and 405 for a method that the path does not take, before anything
 * else of the request is looked at (contract, order of precedence). A page that is asked for with a slash at its end is
 * answered with a redirect to its path. Covers every route registered after it.
 */
export function refuseUnknownPaths(app: FastifyInstance): void {
  const methods = new Map<string, { expression: RegExp; allowed: Set<string>; isPage: boolean }>();

  app.addHook('onRoute', ({ url, method, config }) => {
    // Only pages say whom they are for.
    const isPage = config !== undefined && 'access' in config;
    const known = methods.get(url) ?? { expression: asExpression(url), allowed: new Set<string>(), isPage };
    for (const one of [method].flat()) known.allowed.add(one);
    methods.set(url, known);
  });

  const fittingTo = (path: string) => [...methods.values()].filter(({ expression }) => expression.test(path));
  const methodsOf = (path: string): string[] => {
    const fitting = fittingTo(path);
    return [...new Set(fitting.flatMap(({ allowed }) => [...allowed]))].toSorted();
  };

  const isPage = (path: string, method: string) =>
    fittingTo(path).some(({ isPage, allowed }) => isPage && allowed.has(method));

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
      throw new RefusedError({ status: 404, sentence: withoutSlash ? SENTENCES.slash : SENTENCES[404] });
    }
    throw new RefusedError({ status: 405, sentence: SENTENCES[405], headers: { allow: allow.join(', ') } });
  });
  // Never reached: the hook answers first. Fastify wants a handler of the same shape all the same.
  app.setNotFoundHandler(async () => {
    throw new RefusedError({ status: 404, sentence: SENTENCES[404] });
  });
}
