import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Span, type Tracing, traceField } from '../platform/tracing/tracing.ts';

/** Routes that monitors call every few seconds. They need no trace. */
const UNTRACED = /\/(healthz|readyz)$/;

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Makes a span for each request of `app`, except health checks, and adds its trace id to the request's log lines. Each
 * request begins a new trace. If the caller sends a `traceparent`, the span only links to it: otherwise callers could
 * decide which requests are recorded (docs/adr/0105-traces.md).
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    // The pattern of the route is recorded and not the path, which may contain a claim key or a player's name.
    const route = request.routeOptions.url ?? 'none';
    if (UNTRACED.test(route)) return done();
    const { method } = request;
    const { traceparent } = request.headers;
    const isLinked = typeof traceparent === 'string' && TRACEPARENT.test(traceparent);
    const span = tracing.start({
      name: `${method} ${route}`,
      kind: 'server',
      parent: null,
      links: isLinked ? [traceparent] : [],
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'tallyport.request.id': request.id,
      },
    });
    spans.set(request, span);
    const field = traceField(span.traceparent);
    if (field.traceId) {
      request.log = request.log.child(field);
      reply.log = request.log;
    }
    // `close` is also emitted if the client closes the connection before the answer.
    reply.raw.once('close', () => {
      endSpan(span, request, reply.raw);
    });
    tracing.inside(span, done);
  });
  // The events with which a body arrives run in the async context of the connection, not of the request. So after them,
  // the span is entered again.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) tracing.inside(span, done);
    else done();
  });
}

function endSpan(
  span: Span,
  request: FastifyRequest,
  answer: { headersSent: boolean; writableFinished: boolean; statusCode: number },
): void {
  const { server_id: serverId = '' } = (request.params ?? {}) as { server_id?: string };
  // If the id is not valid, it is not recorded, because the client can send any text.
  if (/^[0-9a-f]{24}$/.test(serverId)) span.set({ 'tallyport.server.id': serverId });
  if (answer.headersSent) span.set({ 'http.response.status_code': answer.statusCode });
  if (answer.headersSent && answer.statusCode >= 500) span.fail(String(answer.statusCode));
  if (!answer.writableFinished) span.fail('client-gone');
  span.end();
}
