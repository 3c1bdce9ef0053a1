import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { after, DAY, MINUTE } from '../../src/platform/clock.ts';
import { BANNERS, bannerId, markDue } from '../../src/servers/drawn-pictures.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { addDueJobs } from '../../workers/build-scheduler.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';
import { startWorker } from '../support/workers.ts';

test('the scheduler finds uploads, previews and banners whose jobs were lost, and not those whose next attempt is not due', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565 };
  const { serverId } = await addServer(deps, settings, 'test');
  const upload = (id: string, nextAt: Date) => ({
    _id: id,
    serverId: new ObjectId(serverId),
    kind: 'banner' as const,
    bytes: Buffer.from('x'),
    uploadedAt: now,
    nextAt,
    attempts: 1,
    expiresAt: after(now, DAY),
  });
  const [due, later] = ['a'.repeat(24), 'b'.repeat(24)];
  await deps.pictureUploads.insertMany([upload(due, now), upload(later, after(now, MINUTE))]);
  const card = { askedAt: now, key: 'k', attempts: 0 };
  await deps.previewCards.insertMany([
    { _id: new ObjectId(serverId), ...card, dueAt: now },
    { _id: new ObjectId(), ...card, dueAt: after(now, MINUTE) },
    { _id: new ObjectId(), ...card, drawnAt: now },
  ]);
  await deps.bannerPictures.insertMany([
    { _id: bannerId(new ObjectId(serverId), '728x90'), ...card, dueAt: now },
    { _id: bannerId(new ObjectId(serverId), '468x60'), ...card, dueAt: after(now, MINUTE) },
  ]);

  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  for (const name of ['encode-pictures', 'draw-cards'] as const) {
    // Added twice, because jobs of the same picture are merged.
    for (let n = 0; n < 2; n += 1) expect(await addDueJobs(deps, name)).toBe(true);
  }
  const payloads = async (name: 'encode-pictures' | 'draw-cards') =>
    (await deps.queues[name].getJobs(['waiting'])).map(({ data }) => data);
  expect(await payloads('encode-pictures')).toEqual([{ uploadId: due }]);
  const drawings = await payloads('draw-cards');
  expect(drawings).toHaveLength(2);
  expect(drawings).toEqual(expect.arrayContaining([{ serverId }, { serverId, banner: '728x90' }]));
});

test('all workers together draw ten previews a second', async () => {
  const deps = await testDeps();
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  const queue = deps.queues['draw-cards'];
  const jobs = Array.from({ length: 25 }, () => ({
    name: 'A preview',
    data: { serverId: new ObjectId().toHexString() },
  }));
  await queue.addBulk(jobs);
  await Promise.all([0, 1].map(() => startWorker(deps.config, { args: ['draw-cards'] })));
  await vi.waitUntil(async () => (await queue.getCompletedCount()) === jobs.length, EVENTUALLY);
  const started = (await queue.getCompleted()).map(({ processedOn = 0 }) => processedOn);
  // Ten in the first second, and ten in the second.
  expect(Math.max(...started) - Math.min(...started)).toBeGreaterThan(1_500);
});

test('a worker draws a banner in the size that was asked for', async () => {
  const deps = await testDeps();
  await vi.waitUntil(() => deps.producerRedis.status === 'ready', EVENTUALLY);
  const settings = { name: 'خادم 日本', address: 'play.example.org', port: 25_565 };
  const { serverId } = await addServer(deps, settings, 'test');
  await startWorker(deps.config, { args: ['draw-cards'] });
  for (const [banner, size] of [
    ['468x60', [468, 60]],
    ['728x90', [728, 90]],
  ] as const) {
    const _id = bannerId(new ObjectId(serverId), banner);
    await markDue(deps, BANNERS, _id, '1');
    await deps.producer.add('draw-cards', { serverId, banner });
    const drawn = await vi.waitUntil(
      () => deps.bannerPictures.findOne({ _id, drawnAt: { $exists: true } }, { promoteBuffers: true }),
      EVENTUALLY,
    );
    const { png } = drawn;
    expect([png?.readUInt32BE(16), png?.readUInt32BE(20)]).toEqual(size);
    expect(drawn).not.toHaveProperty('dueAt');
  }
});
