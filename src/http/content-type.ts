import type { FastifyInstance } from 'fastify';

/** Matches the types of body that are read; clients may write anything after the type. */
const READ = /^\s*(application\/json|application\/x-www-form-urlencoded)(?=[\s;,]|$)/i;

/**
 * Accepts the content types of JSON and forms in the forms that clients write: `application/json, charset=utf-8`,
 * `APPLICATION/JSON;`. Fastify refuses parameters that do not follow RFC 9110. Any given charset is ignored: bodies are
 * read as UTF-8.
 */
export function takeLooseContentTypes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const [, type] = READ.exec(request.headers['content-type'] ?? '') ?? [];
    if (type) request.headers['content-type'] = type.toLowerCase();
    done();
  });
}
