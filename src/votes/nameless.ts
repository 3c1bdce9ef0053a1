import type { Collection, Document, Filter, ObjectId, UUID } from 'mongodb';
import { after } from '../platform/clock.ts';
import { COOLDOWN_MS } from './cast/cooldown.ts';
import type { VotesDeps } from './deps.ts';
import type { VoteExclusion } from './exclusions/vote-exclusion.ts';
import type { Vote } from './vote.ts';

/** The username that a vote gets when its player's name is removed. */
export const ERASED_PLAYER = '(erased)';

/** The `usernameKey` of a name never begins with a space, so no named player has a key with this prefix. */
const PREFIX = ' erased ';

/** A filter on `usernameKey` for votes whose player has a name: only keys of removed names sort before `!`. */
export const KEY_OF_NAMED_PLAYER = { $gte: '!' } as const;

/** The `usernameKey` of votes whose player's name was removed. The same `id` means the same player. */
export function namelessKey(id: string): string {
  return `${PREFIX}${id}`;
}

/** The id in a `usernameKey` that `namelessKey` made; null if the player has a name. */
export function namelessId(usernameKey: string): string | null {
  return usernameKey.startsWith(PREFIX) ? usernameKey.slice(PREFIX.length) : null;
}

/** The actions whose audit entries name a player. */
export const ACTIONS_WITH_NAMES = [
  'vote.forget',
  'vote.exclude',
  'vote.include',
  'vote.release',
  'block.add',
  'block.lift',
];

/** A filter for finished exclusions. They do not need the player's name any more: their votes are marked with the id. */
export const FINISHED_EXCLUSION: Filter<VoteExclusion> = { state: { $in: ['excluded', 'included'] } };

/** Quarantines that are not finished. Their votes may still be delivered, under the players' names. */
const UNDECIDED = { isQuarantine: true, state: { $in: ['quarantined', 'confirming', 'releasing'] } } as const;

/**
 * A filter for a server's votes that still need the player's name: they have yet to be delivered, or an operator has
 * yet to decide about them. Held votes of a blocked player, and those that an operator excluded, do not need it.
 */
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

/**
 * Votes that cannot block another vote or be claimed any more: the cooldown after them has ended. If their
 * quarantine was lifted: as long has passed since the lift.
 */
export function pastCooldown(now: Date): Filter<Vote> {
  const since = after(now, -COOLDOWN_MS);
  return {
    votedAt: { $lte: since },
    'delivery.events': { $not: { $elemMatch: { kind: 'released', at: { $gt: since } } } },
  };
}

/**
 * Removes the player's name from one vote, unless the vote still needs it (`open` is from `openVotesFilter`) or is not yet
 * `pastCooldown`. The update changes the shard key, which a sharded cluster allows only for one document at a time.
 *
 * @returns whether the vote lost its name
 */
export async function removeName(
  votes: Collection<Vote>,
  vote: { _id: UUID } & Pick<Vote, 'serverId' | 'usernameKey'>,
  key: string,
  { now, open }: { now: Date; open: Filter<Vote> },
): Promise<boolean> {
  const update: Document[] = [
    { $set: { username: ERASED_PLAYER, usernameKey: key } },
    // A listener may repeat the name in its reply (`words`), and a plugin may use it in the key of its claim.
    { $unset: ['delivery.attempts.words', 'claim.key'] },
  ];
  const { _id, serverId, usernameKey } = vote;
  const filter = { serverId, usernameKey, _id, ...pastCooldown(now), $nor: [open] };
  const { modifiedCount } = await votes.updateOne(filter, update);
  return modifiedCount === 1;
}
