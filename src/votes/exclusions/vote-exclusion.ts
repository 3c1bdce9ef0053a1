import { type InferRawDocType, Schema } from 'mongoose';
import { LONGEST_REASON } from '../../platform/text.ts';

/**
 * The states of an exclusion. A request stores a state of the middle column. The worker that finishes the exclusion
 * stores one of the right column.
 *
 *     a range of votes ─────────────────► excluding ────────┐
 *     one player ───────────────────────► excluding-player ─┼─► excluded
 *     quarantined, excluded by operator ► confirming ───────┘
 *     a blocked name ───────────────────────────────────────────► excluded (from its first vote on)
 *
 *     undone, in any of these states ───► including ────────┬─► included
 *     undone, its votes were held ──────► releasing ────────┘
 *
 * Held votes (`isQuarantine`) are those of a quarantine or of a blocked name. To lift a quarantine is to undo it.
 *
 * To be removed in 0.3.0: `excluding-player`, `confirming` and `releasing`, with a migration to `excluding` and
 * `including`. They exist because 0.1.0 may run beside 0.2.0 and ignores states that it does not know. If these
 * exclusions had a state that 0.1.0 knows: 0.1.0 would finish them too, but would exclude the votes of all players.
 */
const EXCLUSION_STATES = [
  'quarantined',
  'excluding',
  'excluding-player',
  'confirming',
  'excluded',
  'including',
  'releasing',
  'included',
] as const;

/** The states of exclusions that are not finished. If the process that finishes one dies, another process continues. */
export const UNFINISHED_STATES = [
  'excluding',
  'excluding-player',
  'confirming',
  'including',
  'releasing',
] as const satisfies readonly (typeof EXCLUSION_STATES)[number][];

/**
 * Why votes are quarantined: too many came from one network, from one IPv4 /16 or IPv6 /32 (`neighbourhood`), from
 * accounts of one mail domain, or from all new players of a server together.
 */
const QUARANTINE_CAUSES = ['network', 'neighbourhood', 'mail-domain', 'new-players'] as const;
export type QuarantineCause = (typeof QUARANTINE_CAUSES)[number];

/** The value of `by` if no operator excluded the votes: in exclusions of blocked names, and in quarantines. */
export const AUTOMATIC = 'automatic';

const undoneDefinition = {
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

/** What an operator saw of a quarantine. The decision does not cover votes that were cast after `until`. */
const shownDefinition = {
  until: { type: Date, required: true },
  /** The quarantine's origin and reason before the decision, for the quarantine of the later votes. */
  origin: { type: String },
  reason: { type: String, required: true },
} as const;

const voteExclusionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** The votes were cast from `since` (inclusive) to `until` (exclusive). Held votes may be cast after `until`. */
  since: { type: Date, required: true },
  until: { type: Date, required: true },
  /** Only votes cast with this token; null for all votes. */
  tokenId: { type: Schema.Types.ObjectId, default: null },
  /** Only votes of this player; absent for the votes of all players. */
  username: { type: String },
  usernameKey: { type: String },
  /** The id of a decision about several servers or quarantines, which all its exclusions have. Absent otherwise. */
  groupId: { type: Schema.Types.ObjectId },
  /** The id of the block, if this exclusion holds the votes of a blocked name (see `exclusionOfBlock`). */
  blockId: { type: Schema.Types.ObjectId },
  /** The reason that only operators see. */
  reason: { type: String, required: true },
  /** The reason that the server's owner sees. Absent if the owner sees none. */
  reasonForOwner: { type: String, maxlength: LONGEST_REASON },
  by: { type: String, required: true },
  at: { type: Date, required: true },
  undone: { type: new Schema(undoneDefinition, { _id: false }), default: null },
  state: { type: String, enum: EXCLUSION_STATES, required: true },
  /** True if the votes were held when they were cast: by a quarantine, or for a blocked name. Absent otherwise. */
  isQuarantine: { type: Boolean },
  /** Why the first vote of a quarantine was held. Absent for a blocked name and in quarantines of older versions. */
  cause: { type: String, enum: QUARANTINE_CAUSES },
  /**
   * The keyed hash of the network, neighbourhood or mail domain whose votes an open quarantine holds. Absent if the
   * quarantine holds votes of all origins, and after a decision. Open quarantines with the same `origin` are a group.
   */
  origin: { type: String },
  /** Present after a decision that covers only what the operator saw, until a worker has moved the later votes. */
  shown: { type: new Schema(shownDefinition, { _id: false }) },
  /** UTC days with votes of this exclusion. Stored before the votes are marked, so that each day is recounted. */
  days: { type: [String], required: true },
  /** How many votes this exclusion excluded; null until a worker has counted them. */
  votes: { type: Number, default: null },
  /** What the server's owner was last notified of; absent before the first notification. */
  told: { type: String, enum: ['excluded', 'included'] as const },
} as const;

export const QUARANTINES_OF_ORIGIN = 'quarantines_of_origin';

/** A range of votes that do not count: an operator excluded them, or they are held. */
export const voteExclusionSchema = new Schema(voteExclusionDefinition, { collection: 'vote_exclusions' });
voteExclusionSchema.index({ serverId: 1, at: -1 });
voteExclusionSchema.index({ at: -1 });
voteExclusionSchema.index({ state: 1 });
voteExclusionSchema.index({ groupId: 1 }, { partialFilterExpression: { groupId: { $exists: true } } });
// At most one exclusion in effect for each server and block.
voteExclusionSchema.index(
  { serverId: 1, blockId: 1 },
  { unique: true, partialFilterExpression: { blockId: { $exists: true }, state: 'excluded' } },
);
// At most one open quarantine for each server and origin, and one without an origin.
voteExclusionSchema.index(
  { serverId: 1, origin: 1 },
  { name: 'open_quarantines_by_origin', unique: true, partialFilterExpression: { state: 'quarantined' } },
);
// For the list of held votes, newest first.
voteExclusionSchema.index(
  { at: -1, _id: -1 },
  { name: 'newest_quarantines', partialFilterExpression: { state: 'quarantined' } },
);
// For one group of held votes, newest first.
voteExclusionSchema.index(
  { origin: 1, at: -1, _id: -1 },
  { name: QUARANTINES_OF_ORIGIN, partialFilterExpression: { origin: { $exists: true } } },
);

export type VoteExclusion = InferRawDocType<typeof voteExclusionDefinition>;

/** What an unfinished exclusion does: its votes leave the counts, or return to them. Null in all other states. */
export function inProgress({ state }: Pick<VoteExclusion, 'state'>): 'excluding' | 'including' | null {
  switch (state) {
    case 'excluding':
    case 'excluding-player':
    case 'confirming':
      return 'excluding';
    case 'including':
    case 'releasing':
      return 'including';
    default:
      return null;
  }
}
