import { type InferRawDocType, Schema } from 'mongoose';
import { DAY } from '../../platform/clock.ts';

export const CONFIRM_MS = 3 * DAY;
export const CONFIRM_DAYS = CONFIRM_MS / DAY;

const addressChangeDefinition = {
  /** The user's id: a user has at most one change at a time. */
  _id: { type: Schema.Types.ObjectId, required: true },
  /** The audit entry and the mails after the change get ids made from this one, so that each is written once. */
  changeId: { type: Schema.Types.ObjectId, required: true },
  /** The present and the new e-mail address, in lower case. */
  from: { type: String, required: true, maxlength: 254 },
  to: { type: String, required: true, maxlength: 254 },
  /** SHA-256 of the tokens of the two links. */
  oldToken: { type: String, required: true },
  newToken: { type: String, required: true },
  requestedAt: { type: Date, required: true },
  /** After the change, only this session continues. If an operator requested the change, no session has this id. */
  sessionId: { type: Schema.Types.ObjectId, required: true },
  /** If an operator requested the change: the operator's e-mail address, or `cli`. Otherwise absent. */
  by: { type: String },
  oldConfirmedAt: { type: Date, default: null },
  newConfirmedAt: { type: Date, default: null },
  expiresAt: { type: Date },
  /** When the second address confirmed. From then on the change must be carried out. */
  decidedAt: { type: Date },
} as const;

export const addressChangeSchema = new Schema(addressChangeDefinition, { collection: 'address_changes' });
addressChangeSchema.index({ oldToken: 1 }, { unique: true });
addressChangeSchema.index({ newToken: 1 }, { unique: true });
addressChangeSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
addressChangeSchema.index({ decidedAt: 1 }, { partialFilterExpression: { decidedAt: { $exists: true } } });

export type AddressChange = InferRawDocType<typeof addressChangeDefinition>;
