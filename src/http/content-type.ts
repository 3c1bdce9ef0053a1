import type { FastifyInstance } from 'fastify';

/** Anything may follow after a space, `;` or `,`. */
const READ = /^\s*(application\/json|application\/x-www-form-urlencoded)(?=[\s;,]|$)/i;

/**
 * Accepts malformed content types such as `application/json, charset=utf-8`, which Fastify alone would refuse. A
 * charset is ignored: bodies are read as UTF-8.
 */
export function takeLooseContentTypes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const [, type] = READ.exec(request.headers['content-type'] ?? '') ?? [];
    if (type) request.headers['content-type'] = type.toLowerCase();
    done();
  });
}
