import { expect, it, onTestFinished } from 'vitest';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { startRedis } from '../support/services.ts';
import { probingBench } from './probing-bench.ts';

it('claims nothing while Redis is unavailable, and releases claims that Redis did not accept', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const { deps, server } = await probingBench({ REDIS_URL: redis.url });
  const before = (await server()).probe;
  const refusing = { ...deps, producer: { ...deps.producer, addAll: async () => 0 } };
  expect(await takeDueServers(refusing)).toBe(0);
  const { revision: _, ...restored } = (await server()).probe;
  const { revision: __, ...due } = before;
  expect(restored).toEqual(due);
  await redis.kill();
  const { revision } = (await server()).probe;
  expect(await takeDueServers(deps)).toBe(0);
  expect((await server()).probe.revision).toBe(revision);
});
