import { ObjectId } from 'mongodb';
import type { VotesDeps } from '../deps.ts';
import { openQuarantine } from './quarantine.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

/**
 * Makes restored votes and exclusions fit together, if they were not read at one moment. A vote whose exclusion is
 * missing, or whose quarantine was lifted, may be suspicious: an operator decides. What an operator has excluded or
 * undone and the votes do not show, a worker carries out again. `named`: exclusions, and how many votes name each.
 */
export async function mendExclusions(deps: VotesDeps, named: Map<string, number>): Promise<void> {
  const { voteExclusions } = deps;
  const undecided = new Set(named.keys());
  for await (const exclusion of voteExclusions.find()) {
    const { _id, state, isQuarantine } = exclusion;
    const id = _id.toHexString();
    if (!isQuarantine || state !== 'included') undecided.delete(id);
    const again = isQuarantine ? null : stateToRepeat(exclusion, named.get(id) ?? 0);
    if (again) await voteExclusions.updateOne({ _id, state }, { $set: { state: again } });
  }
  if (undecided.size > 0)
    await holdAgain(
      deps,
      [...undecided].map((id) => new ObjectId(id)),
    );
}

/** Null if the votes show it. */
function stateToRepeat(
  { state, votes, usernameKey, groupId }: VoteExclusion,
  namedBy: number,
): VoteExclusion['state'] | null {
  if (state === 'included') return namedBy > 0 ? 'including' : null;
  if (state !== 'excluded' || namedBy >= (votes ?? 0)) return null;
  if (usernameKey) return 'excluding-player';
  // With `groupId`: one player, whose name was removed.
  return groupId ? null : 'excluding';
}

/** Reads all votes. */
async function holdAgain(deps: VotesDeps, undecided: ObjectId[]): Promise<void> {
  const { votes, voteExclusions, servers } = deps;
  const covered = { excludedBy: { $in: undecided } };
  const found = await votes
    .aggregate<{ _id: ObjectId; since: Date }>([
      { $match: covered },
      { $group: { _id: '$serverId', since: { $min: '$votedAt' } } },
    ])
    .toArray();
  for (const { _id: serverId, since } of found) {
    // The inbox has no votes of removed servers.
    if (!(await servers.findOne({ _id: serverId, removedAt: null }, { projection: { _id: 1 } }))) continue;
    const reason = 'The restored backup does not have the decision about these votes.';
    const quarantineId = await openQuarantine(deps, serverId, reason);
    await voteExclusions.updateOne({ _id: quarantineId }, { $min: { since } });
    await votes.updateMany({ serverId, ...covered }, [
      {
        $set: { excludedBy: { $setUnion: [{ $setDifference: ['$excludedBy', undecided] }, [quarantineId]] } },
      },
    ]);
  }
}
