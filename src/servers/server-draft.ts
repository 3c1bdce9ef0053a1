import { type InferRawDocType, Schema } from 'mongoose';
import { DAY, SECOND } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';
import { PROOF_METHODS } from './server.ts';

/** What was seen when the server of a draft was asked, and its name looked up. */
const checkDefinition = {
  at: { type: Date, required: true },
  /** The server answered; the figures below are what it said. */
  reached: { type: Boolean, required: true },
  onlinePlayers: { type: Number, required: true },
  maxPlayers: { type: Number, required: true },
  latencyMs: { type: Number, required: true },
  motd: { type: String, default: '' },
  version: { type: String, default: '' },
  /** Why it was not reached, or was not asked. */
  words: { type: String, default: '' },
  /** - `none`: no record of ours; `wrong`: one with another code; `no-name`: an IP address has no records. */
  dns: { type: String, enum: ['found', 'none', 'wrong', 'no-answer', 'no-name'] as const, required: true },
  /** Whether the message would have counted (see prove-place.ts). */
  messageCounts: { type: Boolean, required: true },
  /** What proved it; null: nothing did. */
  proof: { type: String, enum: [...PROOF_METHODS, null], default: null },
} as const;

const draftDefinition = {
  /** The id that the server will have; of a move, its own. */
  _id: { type: Schema.Types.ObjectId, required: true },
  ownerId: { type: Schema.Types.ObjectId, required: true },
  /** Which of its owner's drafts it is, from 0: the unique index bounds their number. Absent for a move. */
  slot: { type: Number, min: 0 },
  /** The listed server that is to move to this place; absent for a new one. */
  serverId: { type: Schema.Types.ObjectId },
  name: { type: String, required: true, maxlength: 200 },
  address: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  queryPort: { type: Number, default: null },
  game: { type: String, default: null },
  countryCode: { type: String, default: null },
  /** What the server or its name must show. */
  code: { type: String, required: true },
  createdAt: { type: Date, required: true },
  /** The newest check; null before the first. */
  check: { type: new Schema(checkDefinition, { _id: false }), default: null },
} as const;

/** How long a draft is kept. */
export const DRAFT_TTL_MS = 14 * DAY;

/**
 * A server that is not listed because nobody has proved yet that it is theirs, or a move of a listed one to a place
 * of which that is not proved. Ranking, probing and the API know nothing of it.
 */
export const serverDraftSchema = new Schema(draftDefinition, { collection: 'server_drafts' });
const ofNew = { partialFilterExpression: { slot: { $exists: true } } };
serverDraftSchema.index({ ownerId: 1, slot: 1 }, { unique: true, ...ofNew });
serverDraftSchema.index({ ownerId: 1, address: 1, port: 1 }, { unique: true, ...ofNew });
serverDraftSchema.index(
  { serverId: 1 },
  { unique: true, partialFilterExpression: { serverId: { $exists: true } } },
);
serverDraftSchema.index({ createdAt: 1 }, { expireAfterSeconds: DRAFT_TTL_MS / SECOND });

export type DraftCheck = Nested<typeof checkDefinition>;
export type ServerDraft = Omit<InferRawDocType<typeof draftDefinition>, 'check'> & {
  check?: DraftCheck | null;
};
