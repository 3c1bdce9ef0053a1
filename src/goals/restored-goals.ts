import { DURABLE } from '../platform/mongo.ts';
import type { GoalsDeps } from './deps.ts';

/**
 * After a restore, the next looks count all votes of each goal again and store what the backup's votes reach without an
 * event: the site may have sent it after the backup. What later votes reach is announced.
 */
export async function holdRestoredGoals({ voteGoals, goalRounds, servers, clock }: GoalsDeps): Promise<void> {
  const again = { recountFrom: '$since', restoredAt: clock.now(), reached: 0 };
  await voteGoals.updateMany({}, [{ $set: again }], { writeConcern: DURABLE });
  await goalRounds.updateMany({ isUnannounced: true }, { $unset: { isUnannounced: '' } });
  // A goal may have been set or removed between the two collections of the backup.
  await servers.updateMany({ goalId: { $exists: true } }, { $unset: { goalId: '' } });
  for await (const { serverId, goalId } of voteGoals.find({}, { projection: { serverId: 1, goalId: 1 } }))
    await servers.updateOne({ _id: serverId, removedAt: null }, { $set: { goalId } });
}
