import type { ObjectId } from 'mongodb';
import { type Clock, MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import { createLocalLimit } from '../../platform/limits/local-limit.ts';

/** A list reads up to 500 votes. */
export const LIST_COST = 25;

/** A check or a claim counts as 1: a busy plugin that checks 500 players every 10 seconds uses 3,000. */
export const CLAIM_CALLS = defineLimit({
  key: 'claim-key',
  what: `Calls with a claim key; a list (\`object=servers\`) counts as ${LIST_COST}`,
  of: 'claim key',
  times: 3_000,
  windowMs: MINUTE,
  isOfProcess: true,
  beyond: '429 `too-many-requests`',
});

/** `cost` is 1 or `LIST_COST`. Returns null, or when the next call is allowed. */
export type ClaimCalls = (key: { _id: ObjectId }, cost?: number) => Date | null;

/** Claim keys leak: plugins send them in URLs, and proxies log URLs. In memory, so a refused call costs no write. */
export function createClaimCalls(clock: Clock): ClaimCalls {
  const limit = createLocalLimit(clock, CLAIM_CALLS);
  return ({ _id }, cost) => limit(_id.toHexString(), cost);
}
