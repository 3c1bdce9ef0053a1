import type { FastifyInstance } from 'fastify';

/** By these a reverse proxy says from which address a request came. */
const HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

/**
 * Warns once in a process when a request has a header of a reverse proxy though none is trusted. Behind a proxy every
 * client then seems to have the proxy's address, and they share one set of rate limits.
 */
export function warnOfForwardedHeaders(app: FastifyInstance): void {
  let hasWarned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    const header = hasWarned ? undefined : HEADERS.find((name) => request.headers[name] !== undefined);
    if (header === undefined) return done();
    hasWarned = true;
    request.log.warn(
      { event: 'proxy.not_trusted', header, address: request.ip },
      'A request has the header of a reverse proxy, and TRUST_PROXY trusts none. Behind a proxy all clients now share one address and its rate limits: set TRUST_PROXY to the number of proxies, or to their addresses. Without a proxy, a client made the header up and nothing is wrong.',
    );
    done();
  });
}
