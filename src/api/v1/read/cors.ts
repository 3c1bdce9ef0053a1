import type { FastifyInstance, FastifyReply } from 'fastify';

const EXPOSED = 'ETag, Link, RateLimit, RateLimit-Policy, Retry-After, Location, X-Request-Id';

const A_DAY_IN_SECONDS = 86_400;

/** Scripts of any page may read the answer. Without credentials, so it has only what everybody may see. */
export function allowAllOrigins(reply: FastifyReply): void {
  reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED });
}

/** Answers what browsers ask before a call with a header such as `If-None-Match`. A token does not belong in a page. */
export function answerPreflight(app: FastifyInstance, url: string): void {
  app.options(url, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        'access-control-allow-headers': 'If-None-Match, Last-Event-ID, Cache-Control',
        'access-control-max-age': String(A_DAY_IN_SECONDS),
      })
      .code(204)
      .send(),
  );
}
