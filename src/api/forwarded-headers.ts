import type { FastifyInstance, FastifyRequest } from 'fastify';

/** By these a reverse proxy says from which address a request came. */
const HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

const NONE_TRUSTED =
  'A request has the header of a reverse proxy, and TRUST_PROXY trusts none. Behind a proxy all clients now share one address and its rate limits: set TRUST_PROXY to the number of proxies, or to their addresses. Without a proxy, a client made the header up and nothing is wrong.';

const NOT_IN_LIST =
  'A request has the header of a reverse proxy and comes from an address that TRUST_PROXY does not name. If it is a proxy of yours, all its clients now share one address and its rate limits: add its address to TRUST_PROXY. If it is a client, it made the header up and nothing is wrong.';

/**
 * Warns once in a process when a request has a header of a reverse proxy and comes from an address that is not trusted.
 * Behind a proxy every client then seems to have the proxy's address, and they share one set of rate limits. A number of
 * proxies trusts every address.
 */
export function warnOfForwardedHeaders(app: FastifyInstance, trust: false | number | string[]): void {
  if (typeof trust === 'number') return;
  const [find, message] = trust === false ? [forwardedBy, NONE_TRUSTED] : [forwardedPast, NOT_IN_LIST];
  let hasWarned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    const header = hasWarned ? undefined : find(request);
    if (header === undefined) return done();
    hasWarned = true;
    request.log.warn({ event: 'proxy.not_trusted', header, address: request.ip }, message);
    done();
  });
}

function forwardedBy({ headers }: FastifyRequest): string | undefined {
  return HEADERS.find((name) => headers[name] !== undefined);
}

/** Where the sender is trusted, `ips` has it and at least one address of the header. */
function forwardedPast(request: FastifyRequest): string | undefined {
  return request.headers['x-forwarded-for'] && request.ips?.length === 1 ? 'x-forwarded-for' : undefined;
}
