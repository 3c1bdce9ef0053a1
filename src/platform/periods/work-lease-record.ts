import { type InferRawDocType, Schema } from 'mongoose';

const nested = { _id: false } as const;

const holderDefinition = {
  /** Of one run: two runs in one process are two holders. */
  id: { type: Schema.Types.UUID, required: true },
  /** On mongod's clock. */
  until: { type: Date, required: true },
} as const;

const workLeaseDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The work: `recompute-ranks`. */
  work: { type: String, required: true },
  holder: { type: new Schema(holderDefinition, nested), default: null },
  /** When the last run that ended well had begun. */
  completedAt: { type: Date, default: null },
} as const;

/** Who does work that two may not do at once. */
export const workLeaseSchema = new Schema(workLeaseDefinition, { collection: 'work_leases' });
workLeaseSchema.index({ work: 1 }, { unique: true });

export type WorkLease = InferRawDocType<typeof workLeaseDefinition>;
