import { SECOND } from '../src/platform/clock.ts';
import type { QueueWork } from './queue-work.ts';

/** Passes at once in a process; slow and failing destinations get half of them. */
const PASSES_AT_ONCE = 16;

export const sendEventsWork: QueueWork<'send-events'> = {
  concurrency: PASSES_AT_ONCE,
  lockMs: 30 * SECOND,
  processor: () => async () => ({}),
};
