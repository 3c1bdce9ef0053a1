import type { ObjectId } from 'mongodb';
import { storeCountChange } from '../events/sources/store-count-change.ts';
import { recountGoalFrom } from '../goals/count-goal.ts';
import {
  type CountChange,
  type FinishOptions,
  finishExclusion,
} from '../votes/exclusions/finish-exclusion.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import type { WorkflowsDeps } from './deps.ts';

/** Finishes an exclusion or its undoing; the vote goal and the subscriptions of the server notice. As `finishExclusion`. */
export function carryOutExclusion(
  deps: WorkflowsDeps,
  exclusionId: ObjectId,
  options: Omit<FinishOptions, 'beforeChange'> = {},
): Promise<VoteExclusion | null> {
  return finishExclusion(deps, exclusionId, { ...options, beforeChange: (change) => before(deps, change) });
}

async function before(deps: WorkflowsDeps, change: CountChange): Promise<void> {
  const first = Math.min(...change.votes.map(({ votedAt }) => votedAt.getTime()));
  await recountGoalFrom(deps, change.serverId, new Date(first));
  await storeCountChange(deps, change);
}
