import type { Processor } from 'bullmq';
import { findUnusualVotes } from '../src/moderation/unusual-votes.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/** Returns the processor of `find-unusual-votes`. If a run is interrupted, the next run finds the unusual votes. */
export function findUnusualVotesWorker(deps: AppDeps, stop: AbortSignal): Processor {
  return async () => {
    const result = await findUnusualVotes(deps, { signal: stop });
    deps.log.info({ event: 'votes.unusual', ...result });
    return result;
  };
}
