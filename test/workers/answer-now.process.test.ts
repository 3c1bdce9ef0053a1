import { expect, test, vi } from 'vitest';
import { answerNow } from '../../src/workflows/answer-now.ts';
import { startAnswering } from '../support/answering.ts';
import { deliveryBench } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { spawnWorker } from '../support/worker-process.ts';

test('if a worker is killed, its question ends as interrupted and is not run again', async () => {
  const { deps, serverId, listener } = await deliveryBench({ LEASE_MS: '8000' });
  const worker = await spawnWorker(deps.config, { args: ['answer-now'] });
  listener.stall();
  const asked = answerNow(deps, 'test-listener', { serverId: serverId.toHexString() });
  await vi.waitUntil(() => listener.held === 1, EVENTUALLY);
  await worker.kill();
  startAnswering(deps);
  expect(await asked).toEqual({ kind: 'interrupted' });
  expect(listener.connections).toBe(1);
  listener.release();
}, 60_000);
