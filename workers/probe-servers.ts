import type { Processor } from 'bullmq';
import { ObjectId } from 'mongodb';
import { type Payload, QUEUES } from '../src/platform/queues.ts';
import { createAsk } from '../src/probing/ask-server.ts';
import { createCanary } from '../src/probing/canary.ts';
import { type Checking, checkClaimedServer } from '../src/probing/check-server.ts';
import type { Metrics } from '../src/process/metrics.ts';
import type { Platform } from '../src/process/platform.ts';

/**
 * Asks the game server that a job names.
 *
 * @throws {ConfigError} when `CANARY_ADDRESSES` names a game that is in no list
 */
export function probeServers(
  platform: Platform,
  metrics: Pick<Metrics, 'probeEnded'>,
  stop: AbortSignal,
): Processor<Payload<'probe-servers'>> {
  const ask = createAsk(platform.config);
  const deps: Checking = { ...platform, ask, canary: createCanary({ ...platform, ask }) };
  return async (job) => {
    const payload = QUEUES['probe-servers'].payload.parse(job.data);
    const checked = await checkClaimedServer(deps, new ObjectId(payload.serverId), stop);
    if (checked.kind !== 'recorded') {
      metrics.probeEnded(checked.kind);
      // The claim still stands: after a stop of ours another worker asks at once.
      if (checked.kind === 'stopped' && stop.aborted) await platform.producer.add('probe-servers', payload);
      return checked.kind;
    }
    const { probe, end, server } = checked;
    metrics.probeEnded(end);
    return probe.ok
      ? { status: server.probe.status, latencyMs: Math.round(probe.answer.latencyMs) }
      : { status: server.probe.status, failure: probe.failure, counted: end === 'failed' };
  };
}
