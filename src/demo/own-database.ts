import type { Collections } from '../database/collections.ts';

/**
 * Whether a demo may use a database: only one without servers and users, or one that an earlier demo filled. In another
 * database, the demo would mix made-up servers with real ones, and print an operator's password.
 */
export async function isForSamples({
  servers,
  users,
  auditLog,
}: Pick<Collections, 'servers' | 'users' | 'auditLog'>): Promise<boolean> {
  if (await auditLog.findOne({ by: 'demo' })) return true;
  return !(await servers.findOne({})) && !(await users.findOne({}));
}
