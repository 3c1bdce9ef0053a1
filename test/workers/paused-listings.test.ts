import { expect, test, vi } from 'vitest';
import { after, HOUR, SECOND } from '../../src/platform/clock.ts';
import { pauseListing } from '../../src/workflows/pause-listing.ts';
import { listServer } from '../history/samples.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

test('the scheduler and a worker end a pause whose date has come, and no other', async () => {
  const deps = await testDeps();
  const [dated, open, later] = [
    await listServer(deps),
    await listServer(deps, 'B'),
    await listServer(deps, 'C'),
  ];
  const now = deps.clock.now();
  await pauseListing(deps, dated, { until: after(now, HOUR) }, 'test');
  await pauseListing(deps, open, {}, 'test');
  await pauseListing(deps, later, { until: after(now, HOUR) }, 'test');
  const until = after(now, -SECOND);
  await deps.servers.updateOne({ _id: dated }, { $set: { 'listingPause.until': until } });
  await startWorker(deps.config, { args: ['resume-listings'] });
  await startScheduler(deps.config);
  await vi.waitFor(async () => {
    expect(await deps.servers.findOne({ _id: dated })).toMatchObject({ earlierPauses: [{ until }] });
  }, EVENTUALLY);
  expect(await deps.servers.countDocuments({ 'listingPause.at': { $exists: true } })).toBe(2);
});
