import { z } from 'zod';
import { oneOf, wholeNumber } from '../config-values.ts';

/** The samplers of the OpenTelemetry specification that Tallyport supports. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const collectorUrl = z
  .string()
  .refine(
    (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
    'must be an http:// or https:// address, such as http://collector:4318',
  );

/** `name=value` pairs; a comma or a space in a value is percent-encoded. */
const headerList = z
  .string()
  .regex(
    /^\s*[\w!#$%&'*+.^`|~-]+\s*=[^,\p{Cc}]*(,\s*[\w!#$%&'*+.^`|~-]+\s*=[^,\p{Cc}]*)*$/u,
    'must be name=value, or several of them separated by commas',
  );

const ratio = z
  .string()
  .regex(/^(0|1|0?\.\d{1,10}|1\.0{1,10})$/, 'must be a number from 0 to 1, such as 0.1')
  .transform(Number);

/**
 * The settings of tracing, under OpenTelemetry's own names (docs/operating/settings.md, "Traces"). Tracing is on if an
 * endpoint is set and OTEL_SDK_DISABLED is not `true`. The SDK itself reads further settings from the environment, such
 * as OTEL_RESOURCE_ATTRIBUTES.
 */
export const traceSettings = {
  OTEL_SDK_DISABLED: oneOf(['true', 'false']).default('false'),
  /** The collector's address. Traces go to `v1/traces` below it. */
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl.optional(),
  /** The complete address for traces, if it is not below the collector's address. */
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collectorUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .literal('http/protobuf', 'must be http/protobuf, the only protocol that Tallyport exports with')
    .default('http/protobuf'),
  /** The headers of each export, which often contain a key. */
  OTEL_EXPORTER_OTLP_HEADERS: headerList.optional(),
  /** How long an export may take, in milliseconds. */
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, 60_000).default(10_000),
  /** The service name of all processes; by default `tallyport-web`, `tallyport-worker` and `tallyport-scheduler`. */
  OTEL_SERVICE_NAME: z.string().max(255, 'must have at most 255 characters').optional(),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS).default('parentbased_always_on'),
  /** The share of traces that the two ratio samplers record. */
  OTEL_TRACES_SAMPLER_ARG: ratio.default(1),
  /** How long spans are collected before they are exported, in milliseconds. */
  OTEL_BSP_SCHEDULE_DELAY: wholeNumber(1, 60_000).default(5_000),
};

export type TraceSettings = z.infer<z.ZodObject<typeof traceSettings>>;

/** Where traces are exported to; null when they are off. */
export function tracesUrl(settings: TraceSettings): string | null {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces, OTEL_EXPORTER_OTLP_ENDPOINT: base } = settings;
  if (settings.OTEL_SDK_DISABLED === 'true') return null;
  return traces ?? (base ? `${base.replace(/\/+$/, '')}/v1/traces` : null);
}
