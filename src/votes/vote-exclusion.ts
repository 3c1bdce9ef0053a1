import { type InferRawDocType, Schema } from 'mongoose';

/**
 * The state of an exclusion. `excluding` and `including` are in progress; when the worker died, another process finishes
 * the exclusion. `quarantined`: votes are held back as they are cast, and an operator has not decided yet.
 */
const EXCLUSION_STATES = ['quarantined', 'excluding', 'excluded', 'including', 'included'] as const;

/** `by` of an open quarantine: nobody has decided yet. */
export const AUTOMATIC = 'automatic';

const undoneDefinition = {
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

const voteExclusionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** Votes cast from `since` (inclusive) to `until` (exclusive). */
  since: { type: Date, required: true },
  until: { type: Date, required: true },
  /** Only votes cast with this token; null for all. */
  tokenId: { type: Schema.Types.ObjectId, default: null },
  reason: { type: String, required: true },
  by: { type: String, required: true },
  at: { type: Date, required: true },
  undone: { type: new Schema(undoneDefinition, { _id: false }), default: null },
  state: { type: String, enum: EXCLUSION_STATES, required: true },
  /** It began as a quarantine (see quarantine.ts): its votes were marked when they were cast. Absent otherwise. */
  isQuarantine: { type: Boolean },
  /** UTC days with votes of this exclusion. Stored before the votes are marked, so that each day is recounted. */
  days: { type: [String], required: true },
  /** How many votes it excluded; null until it is finished. */
  votes: { type: Number, default: null },
} as const;

/** An operator's decision that votes do not count. */
export const voteExclusionSchema = new Schema(voteExclusionDefinition, { collection: 'vote_exclusions' });
voteExclusionSchema.index({ serverId: 1, at: -1 });
voteExclusionSchema.index({ at: -1 });
voteExclusionSchema.index({ state: 1 });
// A server has at most one open quarantine.
voteExclusionSchema.index(
  { serverId: 1 },
  { name: 'open_quarantines', unique: true, partialFilterExpression: { state: 'quarantined' } },
);

export type VoteExclusion = InferRawDocType<typeof voteExclusionDefinition>;
