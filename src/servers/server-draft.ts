import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';
import { OWNERSHIP_PROOF_METHODS } from './server.ts';

/** The result of a check: a query of the server, and a lookup of its TXT records. */
const addressCheck = {
  /** Whether the server answered. The figures below are from its answer. */
  reached: { type: Boolean, required: true },
  onlinePlayers: { type: Number, required: true },
  /** Then `onlinePlayers` is 0. */
  playersHidden: { type: Boolean },
  maxPlayers: { type: Number, required: true },
  latencyMs: { type: Number, required: true },
  motd: { type: String, default: '' },
  version: { type: String, default: '' },
  /** Empty if the query succeeded, or if the game cannot be queried. */
  words: { type: String, default: '' },
  /** `none`: no record of Tallyport. `wrong`: one with another code. `no-name`: the address is an IP address. */
  dns: { type: String, enum: ['found', 'none', 'wrong', 'no-answer', 'no-name'] as const, required: true },
  /** Whether the code in the message is accepted as proof (see workflows/prove-draft.ts). */
  messageCounts: { type: Boolean, required: true },
  proof: { type: String, enum: [...OWNERSHIP_PROOF_METHODS, null], default: null },
} as const;

const checkDefinition = {
  at: { type: Date, required: true },
  ...addressCheck,
  /** Of the second address, if the draft has one: both must be proven. */
  second: { type: new Schema(addressCheck, { _id: false }) },
} as const;

const draftDefinition = {
  /** The id that a newly listed server gets. A move (a listed server's new address) has an id of its own. */
  _id: { type: Schema.Types.ObjectId, required: true },
  ownerId: { type: Schema.Types.ObjectId, required: true },
  /** From 0, unique among the owner's drafts, so that it limits their number. Absent for a move. */
  slot: { type: Number, min: 0 },
  /** For a move: the listed server. Absent for a new server. */
  serverId: { type: Schema.Types.ObjectId },
  /** The same for a second address of a listed server: that server. `game` is then that of the address. */
  secondOf: { type: Schema.Types.ObjectId },
  name: { type: String, required: true, maxlength: 200 },
  address: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  /** Both absent or null without a second address, and absent for a move. */
  secondAddress: { type: String, default: null, maxlength: 253 },
  secondPort: { type: Number, default: null, min: 1, max: 65_535 },
  queryPort: { type: Number, default: null },
  game: { type: String, default: null },
  countryCode: { type: String, default: null },
  code: { type: String, required: true },
  createdAt: { type: Date, required: true },
  check: { type: new Schema(checkDefinition, { _id: false }), default: null },
} as const;

export const DRAFT_TTL_MS = 14 * DAY;

/**
 * A new server, or a move (a new address of a listed server), whose ownership is not proven yet. Ranking, probing and
 * the API ignore drafts.
 */
export const serverDraftSchema = new Schema(draftDefinition, { collection: 'server_drafts' });
const ofNew = { partialFilterExpression: { slot: { $exists: true } } };
serverDraftSchema.index({ ownerId: 1, slot: 1 }, { unique: true, ...ofNew });
serverDraftSchema.index({ ownerId: 1, address: 1, port: 1 }, { unique: true, ...ofNew });
for (const field of ['serverId', 'secondOf'])
  serverDraftSchema.index(
    { [field]: 1 },
    { unique: true, partialFilterExpression: { [field]: { $exists: true } } },
  );
serverDraftSchema.index({ createdAt: 1 }, { expireAfterSeconds: DRAFT_TTL_MS / SECOND });

export type AddressCheck = Nested<typeof addressCheck>;
export type DraftCheck = Nested<typeof checkDefinition>;
export type ServerDraft = Omit<InferRawDocType<typeof draftDefinition>, 'check'> & {
  check?: DraftCheck | null;
};
