import { ObjectId } from 'mongodb';
import type { VotesDeps } from '../deps.ts';
import { openQuarantine } from './quarantine.ts';
import type { VoteExclusion } from './vote-exclusion.ts';

/**
 * Makes restored votes and exclusions fit together, if they were not read at one moment. If a vote is held by an
 * exclusion that is missing, or by a quarantine that was lifted: the vote enters an open quarantine, because it may
 * have been judged suspicious, and an operator decides about it. If an operator's exclusion, or its undoing, is
 * finished and its votes do not show it: a worker carries it out again.
 *
 * @param named - the ids of the exclusions that votes name, and by how many votes
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

/** The state in which a worker repeats an operator's exclusion or its undoing; null if the votes show it. */
function stateToRepeat(
  { state, votes, usernameKey, groupId }: VoteExclusion,
  namedBy: number,
): VoteExclusion['state'] | null {
  if (state === 'included') return namedBy > 0 ? 'including' : null;
  if (state !== 'excluded' || namedBy >= (votes ?? 0)) return null;
  if (usernameKey) return 'excluding-player';
  // With `groupId` and without a name, it is an exclusion of one player whose name was removed.
  return groupId ? null : 'excluding';
}

/** Replaces exclusions of votes by an open quarantine of their server. Reads all votes. */
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
