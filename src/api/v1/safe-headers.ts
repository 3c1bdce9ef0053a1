import type { FastifyInstance, FastifyReply } from 'fastify';

/**
 * Sets helmet's headers on every answer of `app`. They are always the same, so they are taken from helmet once; helmet
 * would build them for each request.
 */
export function setSafeHeaders(app: FastifyInstance): void {
  let headers: [name: string, value: string][] | undefined;

  async function readHeaders(raw: FastifyReply['raw'], helmet: FastifyReply['helmet']): Promise<void> {
    await helmet();
    headers = Object.entries(raw.getHeaders()).map(([name, value]) => [name, String(value)]);
  }

  app.addHook('onRoute', (route) => {
    // The same as `helmet: false` on each route.
    route.config = Object.assign(route.config ?? {}, { helmet: { skipRoute: true } });
  });
  app.addHook('onRequest', (_request, { raw, helmet }, done) => {
    if (headers) {
      for (const [name, value] of headers) raw.setHeader(name, value);
      return done();
    }
    return readHeaders(raw, helmet);
  });
}
