import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RefusedError, SENTENCES, unavailable } from '../process/http-errors.ts';

/**
 * Gives every answer its request's id, refuses a request without a Host, and logs how each one ended. Like all hooks
 * that wait for nothing they take a callback: a promise for each hook is 5 % of a request.
 */
export function watchRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new RefusedError({ status: 400, sentence: 'The Host header is missing.' });
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { server_id: serverId = '' } = (request.params ?? {}) as { server_id?: string };
    const end = {
      event: 'request.ended',
      method: request.method,
      // The pattern: an address may hold what is nobody's business, such as a player's name.
      route: request.routeOptions.url ?? 'none',
      // Whatever a stranger may have typed there instead of an id stays out.
      ...(/^[0-9a-f]{24}$/.test(serverId) ? { serverId } : {}),
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
    };
    if (/\/(healthz|readyz)$/.test(end.route)) request.log.debug(end);
    else request.log.info(end);
    done();
  });
}

/**
 * Ends connections before the process does: from `stopping` on every answer closes its own, and from `closing` on
 * that answer is a 503.
 */
export function leaveConnections(
  app: FastifyInstance,
  { stopping, closing }: { stopping: AbortSignal; closing: AbortSignal },
): void {
  app.addHook('onRequest', (_request, _reply, done) => {
    if (closing.aborted) throw new RefusedError(unavailable(SENTENCES.stopping));
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping.aborted) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Refuses a request while there is too much to do. The process lives all the same: `/healthz` says so. */
export async function refuseOverload(request: FastifyRequest): Promise<void> {
  if (request.routeOptions.url?.endsWith('/healthz')) return;
  throw new RefusedError(unavailable(SENTENCES.overload));
}
