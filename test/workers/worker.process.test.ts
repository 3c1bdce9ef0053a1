import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { QUEUE_NAMES } from '../../src/platform/queues.ts';
import { answerNow } from '../../src/workflows/answer-now.ts';
import { startAnswering } from '../support/answering.ts';
import { type ClockedDeps, deliveryBenchOn, openDeliveryDeps } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { spawnScheduler, spawnWorker, type WorkerProcess } from '../support/worker-process.ts';
import { startWorker } from '../support/workers.ts';

let deps: ClockedDeps;
beforeAll(async () => {
  deps = await openDeliveryDeps();
});

describe('a worker', () => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await spawnWorker(deps.config, { args: ['clean-up', 'answer-now'] });
  });

  it('works only on the queues of its command line', async () => {
    const { cast, vote } = await deliveryBenchOn(deps);
    const waiting = await cast('Steve');
    await deps.queues['clean-up'].add('Clean up', { day: dayOf(deps.clock.now()) });
    await worker.waitForEvent('clean_up.done');
    expect((await vote(waiting)).delivery.state).toBe('waiting');
  });

  it('that is killed leaves its question as interrupted, and it is not run again', async () => {
    const { serverId, listener } = await deliveryBenchOn(deps);
    listener.stall();
    const asked = answerNow(deps, 'test-listener', { serverId: serverId.toHexString() });
    await vi.waitUntil(() => listener.held === 1, EVENTUALLY);
    await worker.kill();
    startAnswering(deps);
    expect(await asked).toEqual({ kind: 'interrupted' });
    expect(listener.connections).toBe(1);
    listener.release();
  }, 60_000);

  it('refuses a queue that there is not', async () => {
    await expect(startWorker(deps.config, { args: ['forward-vote'] })).rejects.toThrow(
      /“forward-vote” is not a queue. The queues are forward-votes, test-listeners, drain-backlogs, probe-servers, clean-up/,
    );
  });
});

it('--help of a worker lists the queues, without a configuration', () => {
  const help = execFileSync(process.execPath, ['workers/main.ts', '--help'], {
    env: { NODE_ENV: 'production' },
  });
  for (const name of QUEUE_NAMES) expect(String(help)).toMatch(new RegExp(`^ {2}${name} `, 'm'));
});

it('a start with wrong values prints a readable line for each', async () => {
  const env = { PORT: '70000', TRUST_PROXY: 'maybe' };
  await expect(spawnScheduler(deps.config, { env })).rejects.toThrow(
    'The configuration has 2 errors:\n  PORT (“70000”) must be a port number, 0 to 65535\n  TRUST_PROXY: “maybe” is neither an address nor a range; use false, or set the number of proxies in front (1 for a single one), or their addresses or ranges, separated by commas',
  );
});
