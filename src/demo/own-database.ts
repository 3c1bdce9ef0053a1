import type { Collections } from '../process/collections.ts';

/**
 * Whether a database is there for a demo: an earlier one filled it, or nobody has used it. In any other, made-up
 * servers would stand among real ones, and whoever reads the terminal would be their operator.
 */
export async function isForSamples({
  servers,
  users,
  auditLog,
}: Pick<Collections, 'servers' | 'users' | 'auditLog'>): Promise<boolean> {
  if (await auditLog.findOne({ by: 'demo' })) return true;
  return !(await servers.findOne({})) && !(await users.findOne({}));
}
