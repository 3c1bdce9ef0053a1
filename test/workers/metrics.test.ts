import { expect, it, vi } from 'vitest';
import { resendVote } from '../../src/delivery/resend-vote.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { type RunningWorker, startWorker } from '../support/workers.ts';
import { addGameServer, castingDeps } from './game-server.ts';

async function scrape(worker: RunningWorker): Promise<string> {
  const { address } = await worker.waitForEvent('process.endpoints');
  return (await fetch(`${address}/metrics`)).text();
}

it('a worker counts its attempts by class and protocol, and measures how long votes took to arrive', async () => {
  const deps = await castingDeps();
  const [alpha, beta] = await Promise.all([
    addGameServer(deps, { name: 'Alpha' }),
    addGameServer(deps, { name: 'Beta', protocol: 'votifier-v1' }),
  ]);
  const worker = await startWorker(deps.config);
  const vote = await alpha.cast('Steve');
  await beta.cast('Steve');
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 1, EVENTUALLY);
  // The first vote of a listener is sent by `test-listeners`, the second one by `forward-votes`.
  await alpha.cast('Alex');
  await vi.waitUntil(
    async () => (await alpha.count('delivered')) + (await beta.count('delivered')) === 3,
    EVENTUALLY,
  );
  // A resend by hand is not counted for the latency of deliveries.
  await resendVote(deps, vote._id, 'owner');
  await vi.waitUntil(async () => (await alpha.delivery(vote)).ends.delivered === 2, EVENTUALLY);

  await vi.waitFor(async () => {
    const text = await scrape(worker);
    expect(text).toContain(
      'tallyport_delivery_attempts_total{class="delivered",code="acknowledged",protocol="votifier-v2"} 3\n',
    );
    expect(text).toContain(
      'tallyport_delivery_attempts_total{class="delivered",code="sent-not-confirmed",protocol="votifier-v1"} 1\n',
    );
    expect(text).toContain('tallyport_delivery_latency_seconds_count{protocol="votifier-v2"} 2\n');
    expect(text).toContain('tallyport_delivery_latency_seconds_count{protocol="votifier-v1"} 1\n');
    expect(text).toContain('tallyport_delivery_delay_seconds_count{queue="test-listeners"} 2\n');
    expect(text).toContain('tallyport_delivery_delay_seconds_count{queue="forward-votes"} 1\n');
    expect(text).toContain('tallyport_listeners{state="active"} 2\n');
    expect(text).toMatch(/^tallyport_waiting_votes\{age="under_1m",listener="active"\} \d+$/m);
  }, EVENTUALLY);
});
