import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SECOND } from '../platform/clock.ts';
import { RefusedError, SENTENCES, unavailable } from './http-errors.ts';

/**
 * Refuses requests without `Host` and logs the results. With promises in place of callbacks, each request would be 5 %
 * slower.
 */
export function watchRequests(app: FastifyInstance): void {
  app.decorateRequest('result', null);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new RefusedError({ status: 400, code: 'malformed', sentence: 'The Host header is missing.' });
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { server_id: serverId = '' } = (request.params ?? {}) as { server_id?: string };
    const fields = {
      event: 'request.ended',
      ...request.result,
      method: request.method,
      // The pattern of the route is logged and not the path, which may contain private data, such as a player's name.
      route: request.routeOptions.url ?? 'none',
      // The client can send any text as id.
      ...(/^[0-9a-f]{24}$/.test(serverId) ? { serverId } : {}),
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 100) / 100,
    };
    const isQuiet = request.routeOptions.config.isPolled && reply.statusCode < 400;
    if (isQuiet || /\/(healthz|readyz)$/.test(fields.route)) request.log.debug(fields);
    else request.log.info(fields);
    request.result = null;
    done();
  });
}

export function closeConnections(
  app: FastifyInstance,
  { stopping, closing }: { stopping: AbortSignal; closing: AbortSignal },
): void {
  app.addHook('onRequest', (_request, _reply, done) => {
    if (closing.aborted) throw new RefusedError(unavailable('stopping', SENTENCES.stopping));
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping.aborted) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** For the line of the ended request; logged too if the client has gone, since Fastify then ends the request silently. */
export function noteResult(
  request: FastifyRequest,
  { raw }: FastifyReply,
  result: NonNullable<FastifyRequest['result']>,
): void {
  request.result = result;
  const logIfGone = () => {
    if (request.result) request.log.info({ ...result, clientGone: true });
  };
  if (raw.destroyed) logIfGone();
  else raw.once('close', logIfGone);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the line of the ended request says in place of `request.ended`; null once it is logged. */
    result: { event: string; [field: string]: unknown } | null;
  }
  interface FastifyContextConfig {
    /** A file that pages load. An overloaded process does not refuse it, and no session is read for it. */
    isFile?: true;
    isOfVotes?: true;
    isOneClick?: true;
    isOfPrograms?: true;
  }
}

export function putVotesFirst(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isOfVotes: true, isOfPrograms: true };
  });
}

const VOTES_FACTOR = 4;

/**
 * Answers 503 while the event loop is delayed for more than `maxDelayMs` (0: no limit) or the heap is nearly full.
 * Files are answered whatever the delay, since pages that were answered need them; routes of votes up to four times the
 * delay. `/healthz` is never refused, because the process is alive.
 */
export async function refuseOverload(app: FastifyInstance, maxDelayMs: number): Promise<void> {
  let delaysCountFrom = 0;
  const mostHeap = 0.9 * getHeapStatistics().heap_size_limit;
  app.addHook('onReady', (done) => {
    // The library measures the delay for a second and uses it during the next one; loading the application causes
    // delays.
    delaysCountFrom = performance.now() + 2 * SECOND;
    done();
  });
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    maxHeapUsedBytes: mostHeap,
    sampleInterval: SECOND,
    async pressureHandler({ routeOptions: { url, config } }, _reply, kind, delayMs) {
      if (url?.endsWith('/healthz')) return;
      // The library looks at the delay first, and a nearly full heap delays too.
      const isDelay = kind === underPressure.TYPE_EVENT_LOOP_DELAY && app.memoryUsage().heapUsed <= mostHeap;
      if (isDelay) {
        if (performance.now() < delaysCountFrom || config.isFile) return;
        if (config.isOfVotes && Number(delayMs) <= VOTES_FACTOR * maxDelayMs) return;
      }
      throw new RefusedError(unavailable('overloaded', SENTENCES.overload));
    },
  });
}

/** Most requests are answered within 5 s. What is left then mostly waits for a client or a remote peer. */
const CLOSE_TIMEOUT_MS = 8 * SECOND;

export async function closeApp(app: FastifyInstance): Promise<void> {
  const timeout = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await app.close();
  clearTimeout(timeout);
}
