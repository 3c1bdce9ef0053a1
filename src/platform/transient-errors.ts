import { MongoBulkWriteError } from 'mongodb';
import { OverloadError } from './batching/batcher.ts';
import { DeadlineError } from './deadline.ts';
import { isUnknownResult } from './mongo.ts';
import { LeaseLostError } from './periods/work-lease.ts';

/** A cursor or plan that mongod forgot when it was restarted, stepped down or was short of memory. */
const FORGOTTEN_CODES = new Set([43, 175, 237]);

/** How Redis answers while it loads its data, or is not the primary any more. */
const REDIS_NOT_READY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|UNBLOCKED)\b/;

/**
 * Whether `error` passes by itself, so that nobody has to be told: MongoDB or Redis is away, changes its primary
 * or answers too late, too much is to be done at once, or another run took over the lease of the work.
 */
export function isTransientError(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError && error.errorResponse instanceof Error)
    return isTransientError(error.errorResponse);
  if (error instanceof LeaseLostError || error instanceof DeadlineError || error instanceof OverloadError)
    return true;
  if (isUnknownResult(error)) return true;
  if (!(error instanceof Error)) return false;
  if (error.name.startsWith('Mongo') && 'code' in error) return FORGOTTEN_CODES.has(Number(error.code));
  return error.name === 'ReplyError' && REDIS_NOT_READY.test(error.message);
}
