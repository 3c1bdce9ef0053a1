import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import manifest from '../../../package.json' with { type: 'json' };
import { SECOND } from '../clock.ts';
import { within } from '../deadline.ts';
import { errorType } from '../error-type.ts';
import type { Logger } from '../log.ts';
import { openExporter } from './exporter.ts';
import type { NewSpan, Span, TraceSettings, Tracing } from './tracing.ts';

/** If the last export takes longer, the process ends without it. */
const LAST_EXPORT_MS = 2 * SECOND;

/** In characters. Longer values are cut, so that waiting spans use a limited amount of memory. */
const LONGEST_VALUE = 256;

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/**
 * Makes spans and exports them in batches. Nothing is registered with OpenTelemetry's global API: otherwise other
 * libraries would export their own spans, with attributes that nobody has checked.
 */
export function exportTraces(
  settings: TraceSettings,
  { url, process, processId, log }: { url: string; process: string; processId: string; log: Logger },
): Tracing {
  const provider = new TracerProvider({
    resource: resourceOf(settings, process, processId),
    sampler: samplerOf(settings),
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: openExporter(settings, url, log),
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY,
        // Longer than a connection may last (see exporter.ts), so that exports do not pile up.
        exportTimeoutMillis: 3 * settings.OTEL_EXPORTER_OTLP_TIMEOUT,
      }),
    ],
  });
  const tracer = provider.getTracer('tallyport', manifest.version);
  const active = new AsyncLocalStorage<Span>();
  let closed: Promise<void> | undefined;

  function start({ name, kind = 'internal', attributes = {}, parent, links = [], startedAt }: NewSpan): Span {
    const parentContext = parent === undefined ? active.getStore()?.traceparent : parent;
    return spanOf(
      tracer.startSpan(
        name,
        {
          kind: KINDS[kind],
          attributes,
          links: links
            .map(remote)
            .filter((context) => context !== null)
            .map((context) => ({ context })),
          ...(startedAt === undefined ? {} : { startTime: startedAt }),
        },
        contextOf(parentContext),
      ),
    );
  }

  return {
    isOn: true,
    start,
    inside: (span, work) => active.run(span, work),
    async run(added, work) {
      const span = start(added);
      try {
        return await active.run(span, () => work(span));
      } catch (error) {
        span.fail(errorType(error));
        throw error;
      } finally {
        span.end();
      }
    },
    active: () => active.getStore()?.traceparent,
    close() {
      closed ??= within(LAST_EXPORT_MS, provider.shutdown()).catch(() => undefined);
      return closed;
    },
  };
}

function spanOf(span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
    set: (attributes) => void span.setAttributes(attributes),
    fail: (type) =>
      void span.setStatus({ code: SpanStatusCode.ERROR, message: type }).setAttribute('error.type', type),
    end: (at) => span.end(at),
  };
}

function remote(traceparent: string): SpanContext | null {
  const context = parseTraceParent(traceparent);
  return context && { ...context, isRemote: true };
}

function contextOf(traceparent: string | null | undefined): Context {
  const context = traceparent ? remote(traceparent) : null;
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TraceSettings): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/**
 * The attributes of all spans of a process. Of the environment, only OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME are
 * used: other variables and the command line may contain secrets.
 */
function resourceOf({ OTEL_SERVICE_NAME: name }: TraceSettings, process: string, processId: string) {
  const ours = resourceFromAttributes({
    'service.name': `tallyport-${process}`,
    'service.version': manifest.version,
    'service.instance.id': processId,
  });
  return defaultResource()
    .merge(ours)
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(name ? { 'service.name': name } : {}));
}
