import { MongoBulkWriteError } from 'mongodb';
import { OverloadError } from './batching/batcher.ts';
import { DeadlineError } from './deadline.ts';
import { isUnknownResult } from './mongo.ts';
import { LeaseLostError } from './periods/work-lease.ts';

/** Codes with which mongod reports a lost cursor or plan, after a restart, a step-down or a memory shortage. */
const CURSOR_LOST_CODES = new Set([43, 175, 237]);

/** Matches Redis's errors while it loads its data or is no longer the primary. */
const REDIS_NOT_READY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|UNBLOCKED)\b/;

/** Matches ioredis's errors while a cluster has no primary for a key, and after a connection was given up. */
const REDIS_UNREACHABLE = /^(Too many Cluster redirections|Connection is closed)\b/;

/** Whether `error` will pass without an operator's help. */
export function isTransientError(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError && error.errorResponse instanceof Error)
    return isTransientError(error.errorResponse);
  if (error instanceof LeaseLostError || error instanceof DeadlineError || error instanceof OverloadError)
    return true;
  if (isUnknownResult(error)) return true;
  if (!(error instanceof Error)) return false;
  if (REDIS_UNREACHABLE.test(error.message)) return true;
  if (error.name.startsWith('Mongo') && 'code' in error) return CURSOR_LOST_CODES.has(Number(error.code));
  return error.name === 'ReplyError' && REDIS_NOT_READY.test(error.message);
}

export function throwUnlessTransient(error: unknown): void {
  if (!isTransientError(error)) throw error;
}
