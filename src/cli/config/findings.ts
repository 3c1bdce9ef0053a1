import type { Findings } from '../../process/redis-findings.ts';

/** Findings of a service that cannot be used. */
export function failed(error: string): Findings {
  return { facts: [], warnings: [], errors: [error] };
}
