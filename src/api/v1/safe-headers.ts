import type { FastifyInstance, FastifyReply } from 'fastify';

/** Sets the headers of helmet. They never change, so helmet computes them only once. */
export function setSafeHeaders(app: FastifyInstance): void {
  let headers: [name: string, value: string][] | undefined;

  async function readHeaders(raw: FastifyReply['raw'], helmet: FastifyReply['helmet']): Promise<void> {
    await helmet();
    headers = Object.entries(raw.getHeaders()).map(([name, value]) => [name, String(value)]);
  }

  app.addHook('onRoute', (route) => {
    // Turns helmet off for the route, as the route option `helmet: false` does.
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
