import { ObjectId } from 'mongodb';
import { FIGURE_DAYS } from '../../src/delivery/figures/delivery-day.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { countFigures } from '../../src/workflows/figures/count-figures.ts';
import { SITE_FIGURE_DAYS } from '../../src/workflows/figures/site-figures.ts';

/**
 * Counts the site's figures and the deliveries of today and yesterday. Those of earlier days, of these servers, are
 * copies of yesterday's: to count them all takes longer than everything else together.
 */
export async function loadFigures(deps: AppDeps, serverIds: ObjectId[]): Promise<void> {
  const { siteFigures, deliveryDays, clock } = deps;
  const yesterday = addDays(dayOf(clock.now()), -1);
  const earlier = (days: number) => Array.from({ length: days - 2 }, (_, n) => addDays(yesterday, -(n + 1)));
  const countedAt = clock.now();
  const marks = earlier(SITE_FIGURE_DAYS).map((day) => ({ _id: new ObjectId(), day, countedAt }));
  await siteFigures.insertMany(marks as never);
  await countFigures(deps, async () => ({ votes: {}, queues: {} }));
  const counted = await siteFigures.findOne({ day: yesterday }, { projection: { _id: 0, day: 0 } });
  if (!counted) throw new Error('yesterday was not counted');
  await siteFigures.updateMany({ day: { $lt: yesterday } }, { $set: counted });
  const ofServers = await deliveryDays.find({ serverId: { $in: serverIds }, day: yesterday }).toArray();
  for (const day of earlier(FIGURE_DAYS))
    await deliveryDays.insertMany(ofServers.map((one) => ({ ...one, _id: new ObjectId(), day })));
}
