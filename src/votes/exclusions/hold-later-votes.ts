import type { UUID } from 'mongodb';
import type { ActiveLease } from '../../platform/periods/work-lease.ts';
import type { VotesDeps } from '../deps.ts';
import { EXCLUDED_VOTES } from '../vote.ts';
import { openQuarantine } from './quarantine.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

const BULK = 1_000;

/** A filter for the held votes of an exclusion that were cast after `until`. */
export function castAfter({ _id, serverId }: Pick<VoteExclusion, '_id' | 'serverId'>, until: Date) {
  return { serverId, votedAt: { $gt: until }, excludedAt: { $gt: new Date(0) }, excludedBy: _id };
}

/**
 * If a decision covers only what the operator saw: moves the later votes to an open quarantine of the same origin. Call
 * this before the decision is carried out. After an interruption, the next call moves the rest.
 */
export async function holdLaterVotes(
  deps: VotesDeps,
  exclusion: VoteExclusion,
  lease: ActiveLease,
): Promise<void> {
  const { _id, shown } = exclusion;
  if (!shown) return;
  for (;;) {
    const later = await deps.votes
      .find(castAfter(exclusion, shown.until), { hint: EXCLUDED_VOTES, projection: { _id: 1 }, limit: BULK })
      .map((vote) => vote._id)
      .toArray();
    if (later.length === 0) break;
    lease.throwIfLost();
    await moveVotes(deps, { ...exclusion, shown }, later);
  }
  await deps.voteExclusions.updateOne({ _id }, { $unset: { shown: '' } });
}

async function moveVotes(
  deps: VotesDeps,
  { _id, serverId, cause, shown }: VoteExclusion & { shown: NonNullable<VoteExclusion['shown']> },
  ids: UUID[],
): Promise<void> {
  const heldFor = { ...(cause ? { cause } : {}), ...(shown.origin ? { origin: shown.origin } : {}) };
  const quarantineId = await openQuarantine(deps, serverId, shown.reason, heldFor);
  // The votes were cast before this quarantine was opened, so its range must begin earlier.
  await deps.voteExclusions.updateOne({ _id: quarantineId }, { $min: { since: shown.until } });
  await deps.votes.updateMany({ serverId, _id: { $in: ids } }, [
    { $set: { excludedBy: { $setUnion: [{ $setDifference: ['$excludedBy', [_id]] }, [quarantineId]] } } },
  ]);
}
