import { expect, onTestFinished, test } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { startRedis } from '../support/services.ts';
import { startApp } from '../support/start-app.ts';

test('a stopped or killed Redis neither fails nor delays a vote', async () => {
  const redis = await startRedis();
  const tallyport = await startApp({ REDIS_URL: redis.url });
  onTestFinished(async () => {
    await redis.kill().catch(() => undefined);
    await tallyport.close();
  });
  const server = await tallyport.addServer();
  // Without a listener nothing is enqueued.
  const settings = {
    protocol: 'votifier-v2' as const,
    host: 'play.example.org',
    port: 8_192,
    secret: new VotifierListener().token,
    serviceName: 'Tallyport',
  };
  await setListener(tallyport.deps, server.serverId, settings, 'test');
  await tallyport.vote(server, 'warm-up');
  await redis.pause();
  const order: string[] = [];
  const adding = tallyport.deps.producer.add('clean-up', { day: '2026-11-22' });
  const givenUp = adding.then(() => order.push('job given up'));
  expect((await tallyport.vote(server, 'Steve')).status).toBe(200);
  order.push('vote answered');
  await givenUp;
  expect(order).toEqual(['vote answered', 'job given up']);
  redis.resume();
  await redis.kill();
  expect((await tallyport.vote(server, 'Alex')).status).toBe(200);
});
