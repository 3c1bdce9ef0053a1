import type { Producer } from '../platform/producer.ts';

/**
 * Adds a job that computes the ranking. Never throws: without Redis, the regular ranking every 10 minutes is enough.
 *
 * @returns whether Redis accepted the job
 */
export function requestRanks(producer: Pick<Producer, 'add'>): Promise<boolean> {
  return producer.add('recompute-ranks', {});
}
