import http from 'node:http';
import https from 'node:https';
import { ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../log.ts';
import type { TraceSettings } from './tracing.ts';

/** How many exports run at once; the spans of a further export are lost. A shutdown exports up to 4 batches at once. */
const MOST_EXPORTS = 8;

/**
 * Exports spans with OTLP over HTTP. If the collector fails, spans are lost and nothing else happens: one warning is
 * logged at the beginning of an outage and one line at its end.
 */
export function openExporter(settings: TraceSettings, url: string, log: Logger): SpanExporter {
  const { OTEL_EXPORTER_OTLP_TIMEOUT: timeoutMillis } = settings;
  const exporter = new OTLPTraceExporter({
    url,
    headers: parseKeyPairsIntoRecord(settings.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    concurrencyLimit: MOST_EXPORTS,
    timeoutMillis,
    httpAgentOptions: (protocol) => shortLivedConnections(protocol, 2 * timeoutMillis),
  });
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) {
          if (lost > 0) log.info({ event: 'traces.exported_again', lostSpans: lost });
          lost = 0;
        } else {
          if (lost === 0)
            log.warn(
              { event: 'traces.not_exported', reason: reasonOf(result.error) },
              'spans are lost until the collector takes them again; nothing else is affected',
            );
          lost += spans.length;
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

/** Why an export failed: a code or HTTP status if there is one, because the collector's text may repeat a key. */
function reasonOf(error: Error | undefined): string {
  if (!error) return 'unknown';
  // If the exporter has retried in vain, its error does not state the status.
  if (error.message.includes('retryable')) return 'HTTP 429, 502, 503 or 504';
  if (!('code' in error) || error.code === undefined) return error.message;
  return typeof error.code === 'number' ? `HTTP ${error.code}` : String(error.code);
}

/** An agent that closes a connection after `ms`. The exporter's own timeout starts again with every byte received. */
function shortLivedConnections(protocol: string, ms: number): http.Agent {
  const agent = protocol === 'https:' ? new https.Agent() : new http.Agent();
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...request) => {
    const socket = connect(...request);
    const timer = setTimeout(() => socket?.destroy(), ms).unref();
    socket?.once('close', () => clearTimeout(timer));
    return socket;
  };
  return agent;
}
