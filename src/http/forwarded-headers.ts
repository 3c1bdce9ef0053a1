import type { FastifyInstance, FastifyRequest } from 'fastify';

const HEADERS = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

const NONE_TRUSTED =
  'A request has the header of a reverse proxy, and TRUST_PROXY trusts none. Behind a proxy all clients now share one address and its rate limits: set TRUST_PROXY to the number of proxies, or to their addresses. Without a proxy, a client invented the header and nothing is wrong.';

const NOT_IN_LIST =
  'A request has the header of a reverse proxy and comes from an address that TRUST_PROXY does not name. If it is one of your proxies, all its clients now share one address and its rate limits: add its address to TRUST_PROXY. If it is a client, it invented the header and nothing is wrong.';

/**
 * Logs a warning, once in a process, if a proxy seems not to be trusted: then all its clients share one address and its
 * rate limits. If `trust` is a list, only `X-Forwarded-For` is checked. If it is a number, every address is trusted.
 */
export function warnOfForwardedHeaders(app: FastifyInstance, trust: false | number | string[]): void {
  if (typeof trust === 'number') return;
  let hasWarned = false;
  app.addHook('onRequest', (request, _reply, done) => {
    const header = hasWarned ? undefined : untrustedHeader(request, trust);
    if (header === undefined) return done();
    hasWarned = true;
    const message = trust === false ? NONE_TRUSTED : NOT_IN_LIST;
    request.log.warn({ event: 'proxy.not_trusted', header, address: request.ip }, message);
    done();
  });
}

function untrustedHeader({ headers, ips }: FastifyRequest, trust: false | string[]): string | undefined {
  if (trust === false) return HEADERS.find((name) => headers[name] !== undefined);
  // For a trusted address, `ips` also has the addresses of the header, so at least two.
  return headers['x-forwarded-for'] && ips?.length === 1 ? 'x-forwarded-for' : undefined;
}
