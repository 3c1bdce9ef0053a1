import type { FastifyInstance } from 'fastify';
import { RefusedError, SENTENCES } from './errors.ts';

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

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Answers 404 for a path that no route has and 405 for a method that the path does not take, before anything
 * else of the request is looked at (contract, order of precedence). Covers every route registered after it.
 */
export function refuseUnknownPaths(app: FastifyInstance): void {
  const methods = new Map<string, { expression: RegExp; allowed: Set<string> }>();

  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? { expression: asExpression(url), allowed: new Set<string>() };
    for (const one of [method].flat()) known.allowed.add(one);
    methods.set(url, known);
  });

  app.addHook('onRequest', async (request) => {
    if (!request.is404) return;
    const path = decoded(request.url.split('?')[0] ?? '');
    const fitting = [...methods.values()].filter(({ expression }) => expression.test(path));
    const allow = [...new Set(fitting.flatMap(({ allowed }) => [...allowed]))].toSorted();
    if (allow.length === 0) throw new RefusedError({ status: 404, sentence: SENTENCES[404] });
    throw new RefusedError({ status: 405, sentence: SENTENCES[405], headers: { allow: allow.join(', ') } });
  });
  // Never reached: the hook answers first. Fastify wants a handler of the same shape all the same.
  app.setNotFoundHandler(async () => {
    throw new RefusedError({ status: 404, sentence: SENTENCES[404] });
  });
}
