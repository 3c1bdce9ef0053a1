import type { Logger } from '../log.ts';
import type { SettingValues } from '../settings/definitions.ts';
import type { traceSettings } from '../settings/trace-settings.ts';

/** Attributes of a span. Never a secret, a player's name or an address of a player (docs/adr/0105-traces.md). */
export type Attributes = Record<string, string | number | boolean>;

export type NewSpan = {
  /** One of a few names; ids belong in the attributes. */
  name: string;
  /** `internal` by default. */
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  attributes?: Attributes;
  /** The `traceparent` of its parent; null begins a new trace. By default, the active span is the parent. */
  parent?: string | null;
  links?: string[];
  /** In milliseconds since 1970; by default now. */
  startedAt?: number;
};

export type Span = {
  /** Its W3C trace context: `00-…-…-01`. Absent when traces are off. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed. `type` is an error's code or name, not its message, which may contain private data. */
  fail(type: string): void;
  /** @param at - in milliseconds since 1970; by default now */
  end(at?: number): void;
};

/** Makes the spans of a process. If tracing is off (`NO_TRACING`), `inside` and `run` only call `work`. */
export type Tracing = {
  readonly isOn: boolean;
  start(span: NewSpan): Span;
  /** Runs `work`, and everything that it starts, with `span` as the active span. */
  inside<T>(span: Span, work: () => T): T;
  /** Runs `work` in a new span, which ends when `work` ends. If it throws, the span is marked as failed. */
  run<T>(span: NewSpan, work: (span: Span) => Promise<T>): Promise<T>;
  active(): string | undefined;
  /** Exports the remaining spans, for at most 2 s. Never throws. */
  close(): Promise<void>;
};

const NO_SPAN: Span = {
  traceparent: undefined,
  set: () => undefined,
  fail: () => undefined,
  end: () => undefined,
};

export const NO_TRACING: Tracing = {
  isOn: false,
  start: () => NO_SPAN,
  inside: (_span, work) => work(),
  run: (_span, work) => work(NO_SPAN),
  active: () => undefined,
  close: async () => undefined,
};

/** The settings of tracing, which is on if an endpoint is set and OTEL_SDK_DISABLED is not `true`. */
export type TraceSettings = Pick<SettingValues, keyof typeof traceSettings>;

function tracesUrl(settings: TraceSettings): string | null {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces, OTEL_EXPORTER_OTLP_ENDPOINT: base } = settings;
  if (settings.OTEL_SDK_DISABLED === 'true') return null;
  return traces ?? (base ? `${base.replace(/\/+$/, '')}/v1/traces` : null);
}

/** If no endpoint is set, tracing is off, and OpenTelemetry's SDK is not loaded. */
export async function openTracing(
  settings: TraceSettings,
  { process, processId, log }: { process: string; processId: string; log: Logger },
): Promise<Tracing> {
  const url = tracesUrl(settings);
  if (!url) return NO_TRACING;
  const { exportTraces } = await import('./export-traces.ts');
  return exportTraces(settings, { url, process, processId, log });
}

/** Whether the trace of a `traceparent` is recorded: its last field contains flags. */
export function isSampled(traceparent: string | null | undefined): traceparent is string {
  return typeof traceparent === 'string' && (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
}

/** The id of a recorded trace as a field of a log line; no field otherwise. */
export function traceField(traceparent: string | null | undefined): { traceId?: string } {
  return isSampled(traceparent) ? { traceId: traceparent.slice(3, 35) } : {};
}
