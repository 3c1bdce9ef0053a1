import { z } from 'zod';
import { oneOf, wholeNumber } from '../config-values.ts';
import { setting, settingsSection } from './setting.ts';

const LONGEST_NAME = 255;
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
 * The settings of tracing, under OpenTelemetry's own names (docs/operating/settings.md, "Traces"). The SDK itself reads
 * further settings from the environment, such as OTEL_RESOURCE_ATTRIBUTES.
 */
export const traceSettings = settingsSection(
  {
    title: 'Traces',
    about:
      'Traces of votes from the request to the delivery, for a collector that takes OTLP over HTTP (port 4318), such as Jaeger or Tempo. Off without an endpoint (docs/operating/settings.md).',
  },
  {
    OTEL_SDK_DISABLED: setting(oneOf(['true', 'false']).default('false'), {
      description: '`true` switches traces off, whatever the other settings are.',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: setting(collectorUrl.optional(), {
      description: 'The collector. Traces go to `v1/traces` below it.',
      example: 'http://127.0.0.1:4318',
    }),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(collectorUrl.optional(), {
      description: 'The complete address for traces, which is used as it is and takes precedence.',
      example: 'https://collector.example.org/v1/traces',
    }),
    OTEL_EXPORTER_OTLP_PROTOCOL: setting(
      z
        .literal('http/protobuf', 'must be http/protobuf, the only protocol that Tallyport exports with')
        .default('http/protobuf'),
      { description: 'The only protocol that Tallyport exports with.' },
    ),
    OTEL_EXPORTER_OTLP_HEADERS: setting(headerList.optional(), {
      description:
        'The headers of each export, for a collector that wants a key: `name=value`, separated by commas. A space or comma in a value is percent-encoded.',
      example: 'x-api-key=KEY',
      secret: true,
    }),
    OTEL_EXPORTER_OTLP_TIMEOUT: setting(wholeNumber(1, 60_000).default(10_000), {
      description: 'The longest export.',
      unit: 'milliseconds',
    }),
    OTEL_SERVICE_NAME: setting(
      z.string().max(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`).optional(),
      {
        description:
          'The name of all processes; `service.instance.id` differs. By default `tallyport-web`, `tallyport-worker` and `tallyport-scheduler`.',
        example: 'tallyport',
      },
    ),
    OTEL_TRACES_SAMPLER: setting(oneOf(SAMPLERS).default('parentbased_always_on'), {
      description: `Which traces are recorded: \`${SAMPLERS.join('`, `')}\`. \`parentbased_traceidratio\` with \`OTEL_TRACES_SAMPLER_ARG\` \`0.1\` records one in ten.`,
    }),
    OTEL_TRACES_SAMPLER_ARG: setting(ratio.default(1), {
      description: 'The share of traces that the two ratio samplers record.',
    }),
    OTEL_BSP_SCHEDULE_DELAY: setting(wholeNumber(1, 60_000).default(5_000), {
      description: 'How long spans are collected before they are exported.',
      unit: 'milliseconds',
    }),
  },
);
