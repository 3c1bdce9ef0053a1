import { type InferRawDocType, Schema } from 'mongoose';
import { LONGEST_REASON } from '../../platform/text.ts';

/**
 * A request stores a state of the middle column, and the worker that finishes it one of the right column.
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
 * To be removed in 0.3.0, with a migration to `excluding` and `including`: `excluding-player`, `confirming` and
 * `releasing`. 0.1.0, which may run beside 0.2.0, ignores them; of an `excluding` that names a player
 * it would exclude the votes of all players.
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

/** If the process that finishes one dies, another continues. */
export const UNFINISHED_STATES = [
  'excluding',
  'excluding-player',
  'confirming',
  'including',
  'releasing',
] as const satisfies readonly (typeof EXCLUSION_STATES)[number][];

/** `neighbourhood`: an IPv4 /16 or IPv6 /32. `new-players`: all new players of a server together. */
const QUARANTINE_CAUSES = ['network', 'neighbourhood', 'mail-domain', 'new-players'] as const;
export type QuarantineCause = (typeof QUARANTINE_CAUSES)[number];

/** The `by` of quarantines and of exclusions of blocked names. */
export const AUTOMATIC = 'automatic';

const undoneDefinition = {
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

/** A decision does not cover votes that were cast after `until`. */
const shownDefinition = {
  until: { type: Date, required: true },
  /** Before the decision, for the quarantine of the later votes. */
  origin: { type: String },
  reason: { type: String, required: true },
} as const;

const voteExclusionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** To `until` (exclusive). Held votes may be cast later. */
  since: { type: Date, required: true },
  until: { type: Date, required: true },
  tokenId: { type: Schema.Types.ObjectId, default: null },
  /** Absent for the votes of all players. */
  username: { type: String },
  usernameKey: { type: String },
  /** Of a decision about several servers or quarantines. */
  groupId: { type: Schema.Types.ObjectId },
  /** Of a blocked name whose votes are held (`exclusionOfBlock`). */
  blockId: { type: Schema.Types.ObjectId },
  reason: { type: String, required: true },
  /** Absent if the server's owner sees none. */
  reasonForOwner: { type: String, maxlength: LONGEST_REASON },
  by: { type: String, required: true },
  at: { type: Date, required: true },
  undone: { type: new Schema(undoneDefinition, { _id: false }), default: null },
  state: { type: String, enum: EXCLUSION_STATES, required: true },
  /** The votes were held when they were cast: by a quarantine, or for a blocked name. */
  isQuarantine: { type: Boolean },
  /** Absent for a blocked name, and from older versions. */
  cause: { type: String, enum: QUARANTINE_CAUSES },
  /** A keyed hash: open quarantines with the same one are a group. Absent for all origins, and after a decision. */
  origin: { type: String },
  /** Until a worker has moved the votes that the operator did not see. */
  shown: { type: new Schema(shownDefinition, { _id: false }) },
  /** Stored before the votes of these UTC days are marked, so that each day is recounted. */
  days: { type: [String], required: true },
  /** Null until a worker has counted them. */
  votes: { type: Number, default: null },
  /** What the server's owner was last notified of. */
  told: { type: String, enum: ['excluded', 'included'] as const },
} as const;

export const QUARANTINES_OF_ORIGIN = 'quarantines_of_origin';

export const voteExclusionSchema = new Schema(voteExclusionDefinition, { collection: 'vote_exclusions' });
voteExclusionSchema.index({ serverId: 1, at: -1 });
voteExclusionSchema.index({ at: -1 });
voteExclusionSchema.index({ state: 1 });
voteExclusionSchema.index({ groupId: 1 }, { partialFilterExpression: { groupId: { $exists: true } } });
// One exclusion in effect for each server and block.
voteExclusionSchema.index(
  { serverId: 1, blockId: 1 },
  { unique: true, partialFilterExpression: { blockId: { $exists: true }, state: 'excluded' } },
);
// One open quarantine for each server and origin, and one without an origin.
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

/** The votes leave the counts, or return to them. Null if finished. */
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
