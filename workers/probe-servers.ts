import { ObjectId } from 'mongodb';
import { createAsk } from '../src/probing/ask-server.ts';
import { createCanary } from '../src/probing/canary.ts';
import { type CheckDeps, checkTakenServer } from '../src/probing/check-server.ts';
import type { SeriesOf } from '../src/process/metric-definitions.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { QueueWork } from './queue-work.ts';

/** The processor throws a ConfigError if `CANARY_ADDRESSES` has a game that is not in gamedig's list. */
export const probeServersWork: QueueWork<'probe-servers'> = {
  concurrency: 'PROBE_CONCURRENCY',
  processor({ deps, metrics, stop }) {
    const ask = createAsk(deps.config);
    const checkDeps: CheckDeps = { ...deps, ask, canary: createCanary({ ...deps, ask }) };
    return async (payload) => {
      const checked = await checkTakenServer(checkDeps, new ObjectId(payload.serverId), stop);
      if (checked.kind !== 'recorded') {
        countProbe(metrics, checked.kind);
        // The take is still valid, so another worker can probe the server at once.
        if (checked.kind === 'stopped' && stop.aborted) await deps.producer.add('probe-servers', payload);
        return checked.kind;
      }
      const { probe, end, server } = checked;
      countProbe(metrics, end);
      return probe.ok
        ? { status: server.probe.status, latencyMs: Math.round(probe.answer.latencyMs) }
        : { status: server.probe.status, failure: probe.failure, counted: end === 'failed' };
    };
  },
};

export function countProbe(metrics: Metrics, outcome: SeriesOf<'tallyport_probes_total'>['outcome']): void {
  metrics.count('tallyport_probes_total', { outcome });
  if (outcome === 'canary-failed') metrics.set('tallyport_canary_up', 0);
  else if (outcome === 'answered' || outcome === 'failed') metrics.set('tallyport_canary_up', 1);
}
