import type { Collection } from 'mongodb';
import type { Batcher } from '../platform/batching/batcher.ts';
import { insertLoader } from '../platform/batching/write-loaders.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { Logger } from '../platform/log.ts';
import { REPLICATED } from '../platform/mongo.ts';
import type { StatusSample } from './status-sample.ts';

const insertSamples = insertLoader<StatusSample>(REPLICATED);

const SAMPLE_TIMEOUT_MS = SECOND;

/** After the status was updated. A failure is only logged. */
export async function storeSample(
  { statusSamples, batcher, log }: { statusSamples: Collection<StatusSample>; batcher: Batcher; log: Logger },
  sample: StatusSample,
): Promise<void> {
  try {
    await within(SAMPLE_TIMEOUT_MS, batcher.load(insertSamples, statusSamples, sample));
  } catch (error) {
    const serverId = sample.serverId.toHexString();
    log.warn({ event: 'status.sample_lost', serverId, reason: String(error) });
  }
}
