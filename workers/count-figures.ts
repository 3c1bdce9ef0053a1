import { createWaitingWork, type WaitingWork } from '../src/process/waiting-work.ts';
import { countFigures, type Waiting } from '../src/workflows/figures/count-figures.ts';
import type { QueueWork } from './queue-work.ts';

/** Counts the figures. If a run is interrupted or missed, the next run counts the remaining days. */
export const countFiguresWork: QueueWork<'count-figures'> = {
  period: { every: 'hour, at minute 7' },
  processor({ deps, stop }) {
    const waitingWork = createWaitingWork(deps);
    return async () => {
      const begun = performance.now();
      const days = await countFigures(deps, async () => waitingOf(await waitingWork()), { signal: stop });
      const result = { days: days.length, durationMs: Math.round(performance.now() - begun) };
      deps.log.info({ event: 'figures.counted', ...result });
      return result;
    };
  },
};

/** The waiting votes of all listeners by age, and the age of each queue's oldest work in seconds. */
function waitingOf({ waitingVotes, queues }: WaitingWork): Waiting {
  const votes: Record<string, number> = {};
  for (const ages of Object.values(waitingVotes)) {
    for (const [age, count] of Object.entries(ages)) votes[age] = (votes[age] ?? 0) + count;
  }
  const ages = Object.entries(queues).map(([name, { oldestSeconds }]) => [name, Math.round(oldestSeconds)]);
  return { votes, queues: Object.fromEntries(ages) };
}
