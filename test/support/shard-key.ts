import type { Document } from 'mongodb';

/** Operations whose first argument is a filter. */
const WRITES = /^(update|delete|replace|findOneAnd)/;

/**
 * Throws if our code writes votes without naming their server. `votes` may be sharded by server and player (design rule
 * 1): such an operation would be refused, or would go to every shard. mongoose calls this for each operation on
 * `Model.collection`; commands are not checked. Operators' searches and periodic work may read from every shard.
 */
export function requireShardKey(collection: string, operation: string, first: unknown, stack?: string): void {
  if (collection !== 'votes') return;
  const filters = filtersOf(operation, first);
  if (filters.every((filter) => 'serverId' in filter)) return;
  const caller = callerOf(stack ?? new Error().stack ?? '');
  if (caller.includes('/src/'))
    throw new Error(`${operation} of votes does not name their server: ${caller.trim()}`);
}

function filtersOf(operation: string, first: unknown): Document[] {
  if (operation === 'bulkWrite')
    return (first as Document[]).flatMap((one) => Object.values(one).map(({ filter = {} }) => filter));
  return WRITES.test(operation) ? [first ?? {}] : [];
}

/** The first line of a stack that is neither in a package nor in this folder. */
function callerOf(stack: string): string {
  const lines = stack.split('\n').slice(1);
  return lines.find((line) => !/node_modules|test\/support\/|node:/.test(line)) ?? '';
}
