import type { Cause } from '../listeners/causes.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import { after } from '../platform/clock.ts';
import type { Delivery } from './vote.ts';

/** The delivery of a vote that is not forwarded. */
export function noDelivery(): Delivery {
  return { state: 'none', step: 0, ambiguousEnds: 0, attemptCount: 0, attempts: [], ends: {}, events: [] };
}

/** The fields of a delivery that put its vote at the end of its listener's queue. */
export function queued(now: Date, dueBy: Cause) {
  return {
    state: 'waiting',
    nextAt: now,
    dueBy,
    queuedAt: now,
    expiresAt: after(now, DELIVERY_EXPIRES_MS),
  } as const satisfies Partial<Delivery>;
}
