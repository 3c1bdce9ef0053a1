import type { Collection, Document, Filter, ObjectId, UUID } from 'mongodb';
import { after } from '../platform/clock.ts';
import { COOLDOWN_MS } from './cast/cooldown.ts';
import type { VotesDeps } from './deps.ts';
import type { VoteExclusion } from './exclusions/vote-exclusion.ts';
import type { Vote } from './vote.ts';

export const ERASED_PLAYER = '(erased)';

/** The `usernameKey` of a name never begins with a space. */
const PREFIX = ' erased ';

/** Only keys of removed names sort before `!`. */
export const KEY_OF_NAMED_PLAYER = { $gte: '!' } as const;

/** The same `id` means the same player. */
export function namelessKey(id: string): string {
  return `${PREFIX}${id}`;
}

/** Null if the player has a name. */
export function namelessId(usernameKey: string): string | null {
  return usernameKey.startsWith(PREFIX) ? usernameKey.slice(PREFIX.length) : null;
}

/** Their audit entries name a player. */
export const ACTIONS_WITH_NAMES = [
  'vote.forget',
  'vote.exclude',
  'vote.include',
  'vote.release',
  'block.add',
  'block.lift',
];

/** The player's name is not needed any more: the votes are marked with the exclusion's id. */
export const FINISHED_EXCLUSION: Filter<VoteExclusion> = { state: { $in: ['excluded', 'included'] } };

/** The votes may still be delivered, under the players' names. */
const UNDECIDED = { isQuarantine: true, state: { $in: ['quarantined', 'confirming', 'releasing'] } } as const;

/** Votes that need the player's name: to be delivered, or for a decision. Blocked and excluded ones do not. */
export async function openVotesFilter(
  { voteExclusions }: VotesDeps,
  serverId: ObjectId,
): Promise<Filter<Vote>> {
  const found = await voteExclusions.find({ serverId, ...UNDECIDED }, { projection: { _id: 1 } }).toArray();
  const undecided = found.map(({ _id }) => _id);
  return {
    $or: [
      { 'delivery.state': { $in: ['waiting', 'sending'] } },
      { quarantinedAt: { $exists: true }, excludedBy: { $in: undecided } },
    ],
  };
}

/** Votes that cannot block another vote or be claimed: the cooldown after them, or after their lift, has ended. */
export function pastCooldown(now: Date): Filter<Vote> {
  const since = after(now, -COOLDOWN_MS);
  return {
    votedAt: { $lte: since },
    'delivery.events': { $not: { $elemMatch: { kind: 'released', at: { $gt: since } } } },
  };
}

/**
 * Removes the player's name from a vote that is neither `open` (`openVotesFilter`) nor within its cooldown. It changes
 * the shard key, which a sharded cluster allows only for one document at a time. Returns whether it was removed.
 */
export async function removeName(
  votes: Collection<Vote>,
  vote: { _id: UUID } & Pick<Vote, 'serverId' | 'usernameKey'>,
  key: string,
  { now, open }: { now: Date; open: Filter<Vote> },
): Promise<boolean> {
  const update: Document[] = [
    { $set: { username: ERASED_PLAYER, usernameKey: key } },
    // A listener may repeat the name in its reply, and a plugin in the key of its claim.
    { $unset: ['delivery.attempts.words', 'claim.key'] },
  ];
  const { _id, serverId, usernameKey } = vote;
  const filter = { serverId, usernameKey, _id, ...pastCooldown(now), $nor: [open] };
  const { modifiedCount } = await votes.updateOne(filter, update);
  return modifiedCount === 1;
}
