import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { vi } from 'vitest';
import { EVENTUALLY } from './eventually.ts';
import { listen } from './fake-http-listener.ts';
import { decodeSpans, type ExportedSpan } from './otlp-decoding.ts';

export type { ExportedSpan };

/**
 * How the collector answers. `refuse`: 503; `hang`: no answer; `drip`: an answer that never ends; `nonsense`: 200 with
 * a body that is not OTLP.
 */
type Behaviour = 'take' | 'refuse' | 'hang' | 'drip' | 'nonsense';

/** A trace collector that runs until the test ends. */
export type FakeCollector = {
  /** The value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** The accepted spans, in the order of their arrival. */
  spans: ExportedSpan[];
  /** The bodies of all requests as text. */
  bodies: string[];
  /** The headers of the last request. */
  headers: http.IncomingHttpHeaders;
  /** The number of received requests. */
  requests: number;
  behaviour: Behaviour;
  /** Waits until an accepted span matches. */
  span(matching: (span: ExportedSpan) => boolean): Promise<ExportedSpan>;
};

/** Starts a collector that answers as the OpenTelemetry Collector does for OTLP over HTTP with protobuf. */
export async function startFakeCollector(): Promise<FakeCollector> {
  const collector: FakeCollector = {
    url: '',
    spans: [],
    bodies: [],
    headers: {},
    requests: 0,
    behaviour: 'take',
    async span(matching) {
      await vi.waitUntil(() => collector.spans.some(matching), EVENTUALLY);
      return collector.spans.find(matching) as ExportedSpan;
    },
  };
  const server = http.createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    collector.requests += 1;
    collector.headers = request.headers;
    collector.bodies.push(body.toString('latin1'));
    answer(collector, request, body, response);
  });
  collector.url = `http://127.0.0.1:${await listen(server)}`;
  return collector;
}

function answer(
  collector: FakeCollector,
  { url, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  switch (collector.behaviour) {
    case 'hang':
      return;
    case 'drip': {
      response.writeHead(200, { 'content-type': 'application/x-protobuf' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
      return;
    }
    case 'refuse':
      response.writeHead(503, { 'retry-after': '0' }).end();
      return;
    default:
  }
  if (url !== '/v1/traces') response.writeHead(404).end();
  else if (headers['content-type'] !== 'application/x-protobuf') response.writeHead(415).end();
  else {
    collector.spans.push(...decodeSpans(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' });
    response.end(collector.behaviour === 'nonsense' ? '<html>not OTLP</html>' : '');
  }
}
