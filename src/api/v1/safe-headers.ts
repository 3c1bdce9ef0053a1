import type { FastifyInstance } from 'fastify';

/**
 * Sets helmet's headers on every answer of `app`. They are always the same here, so helmet says them once: it would
 * put them together anew for each request.
 */
export function setSafeHeaders(app: FastifyInstance): void {
  let headers: [name: string, value: string][] | undefined;

  app.addHook('onRoute', (route) => {
    // What `helmet: false` comes to; that would have to stand on each route.
    route.config = Object.assign(route.config ?? {}, { helmet: { skipRoute: true } });
  });
  app.addHook('onRequest', async (_request, { raw, helmet }) => {
    if (headers) {
      for (const [name, value] of headers) raw.setHeader(name, value);
      return;
    }
    await helmet();
    headers = Object.entries(raw.getHeaders()).map(([name, value]) => [name, String(value)]);
  });
}
