import { expect, it, onTestFinished, vi } from 'vitest';
import { startRedis } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, PATIENT } from './game-server.ts';

it('stop after restart', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const platform = await castingPlatform({ REDIS_URL: redis.url });
  const alpha = await addGameServer(platform);
  for (const stop of [true, false]) {
    await alpha.listener.stop();
    const worker = await startWorker(platform.config, {
      env: { LOG_LEVEL: 'debug', BREAKER_SCHEDULE: '20s', ...(stop ? {} : { RELAY_INTERVAL_MS: '60000' }) },
    });
    await alpha.cast('Alex' + stop).catch(() => undefined);
    await vi.waitUntil(async () => (await platform.queues['forward-votes'].getDelayedCount()) === 1, PATIENT);
    await redis.kill();
    await redis.restart();
    const t = performance.now();
    if (!stop) {
      await vi.waitUntil(() => platform.producerRedis.status === 'ready');
      await alpha.listener.start();
      await alpha.set();
      const d = async () =>
        (await platform.votes.find().toArray()).every((v) => v.delivery.state === 'delivered');
      await vi.waitUntil(d, { timeout: 50000 });
      console.log('delivered after', performance.now() - t);
    }
    console.log(await worker.stop());
    for (const l of worker.lines) console.log(JSON.stringify(l));
  }
}, 100000);
