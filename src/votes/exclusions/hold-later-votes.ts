import type { UUID } from 'mongodb';
import type { ActiveLease } from '../../platform/periods/work-lease.ts';
import type { VotesDeps } from '../deps.ts';
import { EXCLUDED_VOTES } from '../vote.ts';
import { openQuarantine } from './quarantine.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

const BULK = 1_000;

/** Held votes of an exclusion. */
export function castAfter({ _id, serverId }: Pick<VoteExclusion, '_id' | 'serverId'>, until: Date) {
  return { serverId, votedAt: { $gt: until }, excludedAt: { $gt: new Date(0) }, excludedBy: _id };
}

/** Moves what the operator did not see to an open quarantine of the same origin, before the decision is carried out. */
export async function holdLaterVotes(deps: VotesDeps, exclusion: VoteExclusion, lease: ActiveLease) {
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
  // The votes were cast before it was opened.
  await deps.voteExclusions.updateOne({ _id: quarantineId }, { $min: { since: shown.until } });
  await deps.votes.updateMany({ serverId, _id: { $in: ids } }, [
    { $set: { excludedBy: { $setUnion: [{ $setDifference: ['$excludedBy', [_id]] }, [quarantineId]] } } },
  ]);
}
