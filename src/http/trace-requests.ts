import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Span, type Tracing, traceField } from '../platform/tracing/tracing.ts';

const UNTRACED = /\/(healthz|readyz)$/;

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Each request begins a new trace. A caller's `traceparent` is only linked: otherwise callers could decide which
 * requests are recorded (docs/adr/0105-traces.md).
 */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, reply, done) => {
    // The path may contain a claim key or a player's name.
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
    reply.raw.once('close', () => endSpan(span, request, reply.raw));
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
  // The client can send any text as id.
  if (/^[0-9a-f]{24}$/.test(serverId)) span.set({ 'tallyport.server.id': serverId });
  if (answer.headersSent) span.set({ 'http.response.status_code': answer.statusCode });
  if (answer.headersSent && answer.statusCode >= 500) span.fail(String(answer.statusCode));
  if (!answer.writableFinished) span.fail('client-gone');
  span.end();
}
