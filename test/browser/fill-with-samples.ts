import { fillSamples } from '../../src/demo/fill-samples.ts';
import { openFakeServer } from '../../src/demo/open-fake-server.ts';
import { openSamples } from '../../src/demo/open-samples.ts';
import { SAMPLES } from '../../src/demo/samples.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';

const LOOK_EVERY_MS = 250;

/**
 * Adds the demo's servers to a running listing and waits until they are probed.
 *
 * @returns a function that stops the fake servers
 */
export async function fillWithSamples(deps: AppDeps): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  const opened = await Promise.all(SAMPLES.map((sample, index) => openFakeServer(sample, index + 1)));
  const silent = { arrived() {}, received() {}, left() {}, returned() {}, moved() {}, stuck() {} };
  const { listed, votedFor, reporting } = await openSamples(deps, opened, silent, stopping.signal);
  const close = async () => {
    stopping.abort();
    await Promise.all([
      ...opened.map(({ fakeServer }) => fakeServer?.stop()),
      ...votedFor.map(({ listener }) => listener.stop()),
    ]);
  };
  try {
    for (const { serverId, sample } of reporting) {
      const { motd, version, activity } = sample;
      const onlinePlayers = Math.round(activity.slots * activity.busy * 0.7);
      await reportStatus(deps, serverId, { onlinePlayers, maxPlayers: activity.slots, motd, version });
    }
    await fillSamples(deps, listed, { written() {}, signal: stopping.signal });
    await untilProbed(deps, opened.filter(({ fakeServer }) => fakeServer).length);
    await recomputeRanks(deps);
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilProbed({ servers }: AppDeps, count: number): Promise<void> {
  const deadline = Date.now() + MINUTE;
  while ((await servers.countDocuments({ 'probe.status': 'online' })) < count) {
    if (Date.now() > deadline) throw new Error('the servers were not probed within a minute');
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
