import type { Collections } from '../database/collections.ts';

/**
 * Whether a demo may use a database: an earlier demo filled it, or it is empty. In any other database the demo would
 * mix made-up servers with real ones, and everybody who reads the terminal could sign in as the operator.
 */
export async function isForSamples({
  servers,
  users,
  auditLog,
}: Pick<Collections, 'servers' | 'users' | 'auditLog'>): Promise<boolean> {
  if (await auditLog.findOne({ by: 'demo' })) return true;
  return !(await servers.findOne({})) && !(await users.findOne({}));
}
