import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';

export const COMPLAINT_KINDS = ['fake-figures', 'offensive', 'scam', 'not-theirs', 'other'] as const;
export type ComplaintKind = (typeof COMPLAINT_KINDS)[number];

const complaintDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  kind: { type: String, enum: COMPLAINT_KINDS, required: true },
  text: { type: String, maxlength: 4_000 },
  /** The signed-in user who sent the complaint; absent for other visitors. No network address is stored. */
  userId: { type: Schema.Types.ObjectId },
  at: { type: Date, required: true },
  /** Absent once an operator has closed it. */
  isOpen: { type: Boolean },
  closedAt: { type: Date },
  closedBy: { type: String },
  /** Of the press that closed it: only its undo opens it again. */
  closingId: { type: Schema.Types.ObjectId },
} as const;

export const COMPLAINT_TTL_MS = 90 * DAY;

export const complaintSchema = new Schema(complaintDefinition, { collection: 'complaints' });
complaintSchema.index({ at: 1, _id: 1 }, { partialFilterExpression: { isOpen: true } });
complaintSchema.index({ serverId: 1 }, { partialFilterExpression: { isOpen: true } });
complaintSchema.index({ userId: 1 }, { partialFilterExpression: { userId: { $exists: true } } });
complaintSchema.index({ closedAt: 1 }, { expireAfterSeconds: COMPLAINT_TTL_MS / SECOND });

export type Complaint = InferRawDocType<typeof complaintDefinition>;
