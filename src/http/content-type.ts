import type { FastifyInstance } from 'fastify';

/** The types of body that are read, before anything that clients write behind them. */
const READ = /^\s*(application\/json|application\/x-www-form-urlencoded)(?=[\s;,]|$)/i;

/**
 * Takes the content types of JSON and forms as clients write them: `application/json, charset=utf-8`,
 * `APPLICATION/JSON;`. Fastify refuses parameters that do not follow RFC 9110. The encoding is UTF-8 whatever they say.
 */
export function takeLooseContentTypes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const [, type] = READ.exec(request.headers['content-type'] ?? '') ?? [];
    if (type) request.headers['content-type'] = type.toLowerCase();
    done();
  });
}
