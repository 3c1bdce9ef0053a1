/** Looks at all goals again and again, and announces their rounds, until it is killed. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { countGoal, watchedGoals } from '../../src/goals/count-goal.ts';
import { markAnnounced, unannouncedRounds } from '../../src/goals/goal-rounds.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';

const EVERY_MS = 100;

const opened = await openAppDeps(loadConfig(process.env) as ConnectedConfig, 'looker');
process.on('disconnect', () => process.exit());
process.send?.('ready');
const [offsetMs] = await once(process, 'message');
const deps = { ...opened, clock: systemClock(Number(offsetMs)) };
const announced = deps.mongo.db.collection<{ _id: string; times: number }>('announced');
for (;;) {
  for (const { serverId } of await watchedGoals(deps)) await countGoal(deps, serverId);
  const rounds = await unannouncedRounds(deps);
  for (const { goalId, round } of rounds)
    await announced.updateOne(
      { _id: `${goalId.toHexString()} ${round}` },
      { $inc: { times: 1 } },
      { upsert: true },
    );
  await markAnnounced(deps, rounds);
  process.send?.('looked');
  await pause(EVERY_MS);
}
