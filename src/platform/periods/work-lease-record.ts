import { type InferRawDocType, Schema } from 'mongoose';

const nested = { _id: false } as const;

const holderDefinition = {
  /** Identifies one run: two runs in one process have different ids. */
  id: { type: Schema.Types.UUID, required: true },
  /** Until when the lease is valid, by mongod's clock. */
  until: { type: Date, required: true },
} as const;

const workLeaseDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The name of the work, for example `recompute-ranks`. */
  work: { type: String, required: true },
  holder: { type: new Schema(holderDefinition, nested), default: null },
  /** When the last successful run began. */
  completedAt: { type: Date, default: null },
} as const;

/** The lease on work that only one process may do at a time. */
export const workLeaseSchema = new Schema(workLeaseDefinition, { collection: 'work_leases' });
workLeaseSchema.index({ work: 1 }, { unique: true });

export type WorkLease = InferRawDocType<typeof workLeaseDefinition>;
