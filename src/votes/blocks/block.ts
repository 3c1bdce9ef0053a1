import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../../platform/clock.ts';
import { LONGEST_REASON } from '../../platform/text.ts';

/** What an operator types: a player's name, or a network. */
export const TYPED_KINDS = ['name', 'network'] as const;
export type TypedKind = (typeof TYPED_KINDS)[number];

/** `origin`: a network whose votes were held, known by its keyed hash only. */
export const BLOCK_KINDS = [...TYPED_KINDS, 'origin'] as const;

const liftedDefinition = {
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

const blockDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  kind: { type: String, enum: BLOCK_KINDS, required: true },
  /** A player's `usernameKey`, a network such as `203.0.113.0/24`, or a keyed hash (`networkKeys`). */
  value: { type: String, required: true },
  /** The player's name as the operator typed it. Absent for a network. */
  username: { type: String },
  /** For operators only. */
  reason: { type: String, required: true, maxlength: LONGEST_REASON },
  by: { type: String, required: true },
  at: { type: Date, required: true },
  /** It has no effect from this time on. Absent without an end. */
  endsAt: { type: Date },
  /** True until an operator lifts it; then absent. */
  isActive: { type: Boolean },
  lifted: { type: new Schema(liftedDefinition, { _id: false }) },
  /** How many votes and vote forms it stopped, and when the last one. */
  hits: { type: Number, required: true },
  lastHitAt: { type: Date },
} as const;

/** How long a block that has ended is stored: a network may be personal data. */
export const BLOCK_TTL_SECONDS = (90 * DAY) / SECOND;

/** Players' names and networks whose votes operators block. */
export const blockSchema = new Schema(blockDefinition, { collection: 'blocks' });
blockSchema.index({ kind: 1, value: 1 }, { unique: true, partialFilterExpression: { isActive: true } });
blockSchema.index({ at: -1, _id: -1 });
blockSchema.index({ 'lifted.at': 1 }, { expireAfterSeconds: BLOCK_TTL_SECONDS });
blockSchema.index({ endsAt: 1 }, { expireAfterSeconds: BLOCK_TTL_SECONDS });

export type Block = InferRawDocType<typeof blockDefinition>;

/** Whether a block has an effect at `now`. */
export function isEffective({ isActive, endsAt }: Pick<Block, 'isActive' | 'endsAt'>, now: Date): boolean {
  return isActive === true && (!endsAt || now < endsAt);
}

/** The blocks that no operator lifted; with the kinds, the query uses the index of these. */
export const ACTIVE = { kind: { $in: [...BLOCK_KINDS] }, isActive: true };
