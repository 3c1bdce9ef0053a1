import type { Producer } from '../platform/producer.ts';

/**
 * Never throws: without Redis, the regular ranking every 10 minutes is enough. Returns whether Redis accepted the job.
 */
export function requestRanks(producer: Pick<Producer, 'add'>): Promise<boolean> {
  return producer.add('recompute-ranks', {});
}
