import type { ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { CAUSES } from '../listeners/causes.ts';
import { PROTOCOLS } from '../listeners/listener.ts';
import { OUTCOMES, type OutcomeClass, type OutcomeCode, STEPS } from '../listeners/outcomes.ts';
import type { Nested } from '../platform/document.ts';

/**
 * How the forwarding of a vote stands.
 *
 * - `none`: cast while the server had no listener.
 * - `waiting`: to be sent; the listener's turn or the vote's own next time is awaited.
 * - `sending`: an attempt is recorded and not ended; when its lease runs out, that is an ambiguous end.
 * - `delivered`: acknowledged; or, in Votifier v1, sent and not confirmed (the attempt's code says which).
 * - `unconfirmed`: as many ambiguous ends as its owner allows; it may have arrived. Only the owner sends it again.
 * - `failed`: refused by the listener, or not delivered within its time. Can be resent.
 */
export const DELIVERY_STATES = ['none', 'waiting', 'sending', 'delivered', 'unconfirmed', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const OUTCOME_CODES = Object.keys(OUTCOMES) as OutcomeCode[];
const OUTCOME_CLASSES = [...new Set(Object.values(OUTCOMES))] as OutcomeClass[];

/** One attempt to forward a vote. Without `code` it has no recorded end yet. */
const attemptDefinition = {
  /** Of the claim that began it: votes that were claimed together share it, a vote's own attempts never do. */
  id: { type: Schema.Types.UUID, required: true },
  at: { type: Date, required: true },
  worker: { type: String, required: true },
  protocol: { type: String, enum: PROTOCOLS, required: true },
  /** The listener's settings it was made with: its end changes breaker or pause only while they stand. */
  revision: { type: Number, required: true },
  /** It tested a listener that had failed before (breaker open): it used up no step of the schedule. */
  test: { type: Boolean, required: true },
  /** The listener's settings of that moment (see listener.ts); absent in records that are older than these. */
  answerStep: { type: Number },
  maxSendings: { type: Number },
  code: { type: String, enum: OUTCOME_CODES },
  class: { type: String, enum: OUTCOME_CLASSES },
  reached: { type: String, enum: STEPS },
  words: { type: String },
  /** What Tallyport itself found (see `Outcome`). */
  detail: { type: String },
  durationMs: { type: Number },
  /** What started it; absent where that is not on record. */
  wokenBy: { type: String, enum: CAUSES },
  /** The relay found it due in MongoDB: the call that was made for it had not come. */
  relayed: { type: Boolean },
  /** When its acknowledgement was recorded, after it had been given up as lost. */
  lateAt: { type: Date },
} as const;

/** Something other than an attempt that happened to the forwarding. */
const eventDefinition = {
  at: { type: Date, required: true },
  kind: {
    type: String,
    enum: ['resent', 'expired', 'listener-removed', 'server-removed'] as const,
    required: true,
  },
  /** Who resent it, in which state it was, and whether it had arrived by then or may have. */
  by: { type: String },
  from: { type: String, enum: DELIVERY_STATES },
  mayArriveTwice: { type: Boolean },
} as const;

const nested = { _id: false } as const;

/** The attempts whose details are not kept. */
const olderDefinition = {
  /** When the first of all was made; absent where that is not on record. */
  firstAt: { type: Date },
  lastAt: { type: Date, required: true },
} as const;

const deliveryDefinition = {
  state: { type: String, enum: DELIVERY_STATES, required: true },
  /** When it may be sent next, by the vote's own schedule; absent unless waiting. */
  nextAt: { type: Date },
  /** Why it is due then. */
  dueBy: { type: String, enum: CAUSES },
  /**
   * Its place in the listener's line: the time of the vote, or of the last failed test, after which it goes
   * behind the others. Present exactly while the vote is waiting or sending, so the index holds open work only.
   */
  queuedAt: { type: Date },
  /** Waiting is given up then and the vote failed; absent unless waiting or sending. */
  expiresAt: { type: Date },
  /** On mongod's clock; absent unless sending. */
  leaseUntil: { type: Date },
  /** Steps of the schedule used up. */
  step: { type: Number, required: true },
  ambiguousEnds: { type: Number, required: true },
  attemptCount: { type: Number, required: true },
  /** The newest attempts, at most `MOST_ATTEMPT_DETAILS`; older ones only count in `ends` and `codes`. */
  attempts: { type: [new Schema(attemptDefinition, nested)], required: true },
  /** How many attempts ended in each class: `{transient: 12, ambiguous: 1}`. */
  ends: { type: Schema.Types.Mixed, required: true },
  /** The same by outcome: `{'connection-refused': 12, reset: 1}`. */
  codes: { type: Schema.Types.Mixed },
  older: { type: new Schema(olderDefinition, nested) },
  events: { type: [new Schema(eventDefinition, nested)], required: true },
  deliveredAt: { type: Date },
} as const;

/** How many attempts a vote keeps in full. */
export const MOST_ATTEMPT_DETAILS = 20;

const voteDefinition = {
  /** UUIDv7, made before the insert: the id that the owner sees and the listener receives. */
  _id: { type: Schema.Types.UUID, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** Trimmed, otherwise as typed: what is shown and forwarded. */
  username: { type: String, required: true },
  /** The player: spellings with the same key are the same player. */
  usernameKey: { type: String, required: true },
  /** Counts a player's votes for a server from 1; imported ones are negative. The newest vote has the highest. */
  seq: { type: Number, required: true },
  votedAt: { type: Date, required: true },
  tokenId: { type: Schema.Types.ObjectId, default: null },
  /** The operator ended this vote's 24 hours early. */
  cooldownEndedAt: { type: Date },
  /** The exclusions that it is under; present exactly while there are any, as `excludedAt` is. */
  excludedBy: { type: [Schema.Types.ObjectId], default: undefined },
  /** Since when it is excluded: it leaves every count then, and still blocks its player's 24 hours. */
  excludedAt: { type: Date },
  delivery: { type: new Schema(deliveryDefinition, nested), required: true },
} as const;

/** A vote: one document, inserted once (design rule 1). Every operation names its server. */
export const voteSchema = new Schema(voteDefinition, { collection: 'votes' });
voteSchema.index({ serverId: 1, usernameKey: 1, seq: 1 }, { unique: true });
voteSchema.index({ serverId: 1, votedAt: 1 });
voteSchema.index({ serverId: 1, 'delivery.state': 1, votedAt: 1 });
/** The index of each listener's line: the votes that wait or are being sent, in the order in which they go out. */
export const OPEN_WORK = 'open_work';
voteSchema.index(
  { serverId: 1, 'delivery.queuedAt': 1, _id: 1 },
  { name: OPEN_WORK, partialFilterExpression: { 'delivery.queuedAt': { $exists: true } } },
);
/** The index of failed votes alone, over all servers: what operators are shown of the last day. */
export const FAILED_VOTES = 'failed_votes';
voteSchema.index(
  { votedAt: -1 },
  { name: FAILED_VOTES, partialFilterExpression: { 'delivery.state': 'failed' } },
);
// Those whose Votifier v1 listener closed without an answer: few listeners' votes.
voteSchema.index(
  { serverId: 1, votedAt: 1, 'delivery.state': 1 },
  {
    name: 'sent_not_confirmed',
    partialFilterExpression: { 'delivery.codes.sent-not-confirmed': { $exists: true } },
  },
);
/** The index of excluded votes alone: few, so that counting without them stays cheap. */
export const EXCLUDED_VOTES = 'excluded_votes';
voteSchema.index(
  { serverId: 1, votedAt: 1, excludedAt: 1 },
  { name: EXCLUDED_VOTES, partialFilterExpression: { excludedAt: { $exists: true } } },
);

export type Attempt = Nested<typeof attemptDefinition>;
export type Delivery = Omit<
  Nested<typeof deliveryDefinition>,
  'attempts' | 'events' | 'ends' | 'codes' | 'older'
> & {
  attempts: Attempt[];
  events: Nested<typeof eventDefinition>[];
  ends: Partial<Record<OutcomeClass, number>>;
  codes?: Partial<Record<OutcomeCode, number>>;
  older?: Nested<typeof olderDefinition>;
};
export type Vote = Omit<InferRawDocType<typeof voteDefinition>, 'delivery' | 'excludedBy'> & {
  delivery: Delivery;
  excludedBy?: ObjectId[];
};

/** Whether a vote was cast elsewhere and imported: such votes have negative numbers, in time order. */
export function isImported({ seq }: Pick<Vote, 'seq'>): boolean {
  return seq < 0;
}
