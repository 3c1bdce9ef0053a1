import type { Logger } from '../log.ts';
import { type TraceSettings, tracesUrl } from './traces-url.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/** Opens the tracing of a process. If no endpoint is set, tracing is off, and OpenTelemetry's SDK is not loaded. */
export async function openTracing(
  settings: TraceSettings,
  { process, processId, log }: { process: string; processId: string; log: Logger },
): Promise<Tracing> {
  const url = tracesUrl(settings);
  if (!url) return NO_TRACING;
  const { exportTraces } = await import('./export-traces.ts');
  return exportTraces(settings, { url, process, processId, log });
}
