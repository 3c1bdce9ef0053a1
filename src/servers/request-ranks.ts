import type { Producer } from '../platform/queues.ts';

/**
 * Asks for a ranking soon. Never throws: when Redis is away, the one that comes every 10 minutes does it.
 *
 * @returns whether Redis took it
 */
export function requestRanks(producer: Pick<Producer, 'add'>): Promise<boolean> {
  return producer.add('recompute-ranks', {});
}
