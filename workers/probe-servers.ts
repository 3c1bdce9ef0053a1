import type { Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import { createAsk } from '../src/probing/ask-server.ts';
import { createCanary } from '../src/probing/canary.ts';
import { type CheckDeps, checkTakenServer } from '../src/probing/check-server.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Metrics } from '../src/process/metrics.ts';

/**
 * Returns the processor of `probe-servers`. It probes the job's game server.
 *
 * @throws {ConfigError} when `CANARY_ADDRESSES` has a game that is not in gamedig's list
 */
export function probeServers(
  deps: AppDeps,
  metrics: Pick<Metrics, 'probeEnded'>,
  stop: AbortSignal,
): Processor<Payload<'probe-servers'>> {
  const ask = createAsk(deps.config);
  const checkDeps: CheckDeps = { ...deps, ask, canary: createCanary({ ...deps, ask }) };
  return async (job) => {
    const payload = QUEUES['probe-servers'].payload.parse(job.data);
    const checked = await checkTakenServer(checkDeps, new ObjectId(payload.serverId), stop);
    if (checked.kind !== 'recorded') {
      metrics.probeEnded(checked.kind);
      // The take is still valid, so another worker can probe the server at once.
      if (checked.kind === 'stopped' && stop.aborted) await deps.producer.add('probe-servers', payload);
      return checked.kind;
    }
    const { probe, end, server } = checked;
    metrics.probeEnded(end);
    return probe.ok
      ? { status: server.probe.status, latencyMs: Math.round(probe.answer.latencyMs) }
      : { status: server.probe.status, failure: probe.failure, counted: end === 'failed' };
  };
}
