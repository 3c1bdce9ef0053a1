import type { SettingValues } from '../settings/definitions.ts';
import type { traceSettings } from '../settings/trace-settings.ts';

/** The settings of tracing, which is on if an endpoint is set and OTEL_SDK_DISABLED is not `true`. */
export type TraceSettings = Pick<SettingValues, keyof typeof traceSettings>;

/** Where traces are exported to; null when they are off. */
export function tracesUrl(settings: TraceSettings): string | null {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces, OTEL_EXPORTER_OTLP_ENDPOINT: base } = settings;
  if (settings.OTEL_SDK_DISABLED === 'true') return null;
  return traces ?? (base ? `${base.replace(/\/+$/, '')}/v1/traces` : null);
}
