import { ObjectId } from 'mongodb';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { FinishOptions as AllOptions } from '../../src/votes/exclusions/finish-exclusion.ts';
import { requestPlayerExclusion } from '../../src/votes/exclusions/player-exclusion.ts';
import {
  type ExclusionRequest,
  exclusionIdOf,
  requestExclusion,
  requestInclusion,
} from '../../src/votes/exclusions/request-exclusion.ts';
import type { VoteExclusion } from '../../src/votes/exclusions/vote-exclusion.ts';
import { carryOutExclusion } from '../../src/workflows/carry-out-exclusion.ts';

/** `carryOutExclusion` sets `beforeChange` itself. */
type FinishOptions = Omit<AllOptions, 'beforeChange'>;

/** Excludes votes as the command line does: requests the exclusion and finishes it. */
export async function excludeVotes(
  deps: AppDeps,
  request: ExclusionRequest,
  by: string,
  options: FinishOptions = {},
): Promise<VoteExclusion> {
  const exclusionId = await exclusionIdOf(deps, request);
  await requestExclusion(deps, exclusionId, request, by, { wakesWorker: false });
  return finish(deps, exclusionId, options);
}

/** Undoes an exclusion as the command line does; null if there is none. */
export async function includeVotes(
  deps: AppDeps,
  exclusionId: ObjectId,
  by: string,
  options: FinishOptions = {},
): Promise<VoteExclusion | null> {
  await requestInclusion(deps, exclusionId, by, { wakesWorker: false });
  return carryOutExclusion(deps, exclusionId, options);
}

/** Excludes the votes of a player as the command line does. */
export async function excludePlayer(
  deps: AppDeps,
  request: Parameters<typeof requestPlayerExclusion>[2],
  by: string,
  options: FinishOptions = {},
): Promise<VoteExclusion[]> {
  const requested = await requestPlayerExclusion(deps, new ObjectId(), request, by, { wakesWorker: false });
  const finished: VoteExclusion[] = [];
  for (const { _id } of requested) finished.push(await finish(deps, _id, options));
  return finished;
}

async function finish(deps: AppDeps, exclusionId: ObjectId, options: FinishOptions): Promise<VoteExclusion> {
  const finished = await carryOutExclusion(deps, exclusionId, options);
  if (!finished) throw new Error(`there is no exclusion ${exclusionId.toHexString()}`);
  return finished;
}
