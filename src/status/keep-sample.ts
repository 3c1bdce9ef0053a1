import type { Collection } from 'mongodb';
import { SECOND } from '../clock.ts';
import { within } from '../deadline.ts';
import type { Logger } from '../log.ts';
import type { StatusSample } from './status-sample.ts';

/** The sample is history: nobody waits for it longer than this. */
const SAMPLE_TIMEOUT_MS = SECOND;

/** Adds a sample to the history. It comes after what it tells of, and when it is lost it is only logged. */
export async function keepSample(
  { statusSamples, log }: { statusSamples: Collection<StatusSample>; log: Logger },
  sample: StatusSample,
): Promise<void> {
  try {
    await within(SAMPLE_TIMEOUT_MS, statusSamples.insertOne(sample));
  } catch (error) {
    const serverId = sample.serverId.toHexString();
    log.warn({ event: 'status.sample_lost', serverId, reason: String(error) });
  }
}
