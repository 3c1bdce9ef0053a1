import type { ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { CAUSES, type Cause } from '../listeners/causes.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import { PROTOCOLS } from '../listeners/listener.ts';
import { OUTCOME_CLASSES, type OutcomeClass } from '../listeners/outcomes/outcome-definition.ts';
import { OUTCOME_CODES, type OutcomeCode, STEPS } from '../listeners/outcomes.ts';
import { after } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';

/**
 * The state of a vote's delivery.
 *
 * - `none`: not to be delivered. The server had no listener or only claims, its listener was removed, or the vote is
 *   imported or held.
 * - `waiting`: waits for its listener or for the time of its next attempt.
 * - `sending`: an attempt is recorded and has no outcome yet; when its lease expires, the outcome is ambiguous.
 * - `delivered`: acknowledged; or, in Votifier v1, sent and not confirmed (see the attempt's code).
 * - `unconfirmed`: may have arrived. It had as many ambiguous outcomes as the owner allows, or an HTTP 5xx or 408 and
 *   may be sent once, or it was waiting, being sent or held in a backup that was restored. Only a resend by hand sends
 *   it again.
 * - `failed`: refused by the listener, not delivered within its time, or waiting when its server was removed. Can be
 *   resent.
 */
export const DELIVERY_STATES = ['none', 'waiting', 'sending', 'delivered', 'unconfirmed', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** How a vote was cast: with the API, or with a vote form on the listing's pages. */
export const VOTE_SOURCES = ['api', 'web'] as const;

/** `proven`: the player signed in at the site that issues the name, such as Steam. */
export const IDENTITIES = ['proven'] as const;

/** One attempt to deliver a vote. Without `code` it has no recorded outcome yet. */
const attemptDefinition = {
  /** The id of the take. Votes that were taken together share it; two attempts of one vote have different ids. */
  id: { type: Schema.Types.UUID, required: true },
  at: { type: Date, required: true },
  worker: { type: String, required: true },
  protocol: { type: String, enum: PROTOCOLS, required: true },
  /**
   * The revision of the listener's settings. If it has changed, the outcome changes neither the breaker nor the pause.
   */
  revision: { type: Number, required: true },
  /** Whether the attempt tested an unreachable listener (breaker open). A test does not increase the vote's `step`. */
  test: { type: Boolean, required: true },
  /** For fetch: how long the taker may keep the vote, and the `request_id` of its call, if it sent one. */
  leaseMs: { type: Number },
  requestId: { type: String },
  /** For fetch: a repeated call with the same `request_id` also got the vote, so the first call never gives it back. */
  repeated: { type: Boolean },
  /** The listener's settings at that time (see listener.ts); absent in older records. */
  answerStep: { type: Number },
  maxSendings: { type: Number },
  code: { type: String, enum: OUTCOME_CODES },
  class: { type: String, enum: OUTCOME_CLASSES },
  reached: { type: String, enum: STEPS },
  words: { type: String },
  /** What Tallyport itself found (see `Outcome`). */
  detail: { type: String },
  durationMs: { type: Number },
  /** What started the attempt; absent if it was not recorded. */
  wokenBy: { type: String, enum: CAUSES },
  /** True if the sweep found the vote due in MongoDB, because its wake-up job was lost. */
  relayed: { type: Boolean },
  /** When an acknowledgement was recorded although the attempt had already been considered lost. */
  lateAt: { type: Date },
} as const;

/** An event of the delivery other than an attempt. */
const eventDefinition = {
  at: { type: Date, required: true },
  kind: {
    type: String,
    enum: ['resent', 'expired', 'listener-removed', 'server-removed', 'released', 'restored'] as const,
    required: true,
  },
  /** The user who resent the vote. Other events have no `by`, `byId` and `mayArriveTwice`. */
  by: { type: String },
  /** The id of the user who resent it. Absent for the command line, and in events of older versions. */
  byId: { type: Schema.Types.ObjectId },
  /** The state before a resend or a restore. */
  from: { type: String, enum: DELIVERY_STATES },
  mayArriveTwice: { type: Boolean },
} as const;

const nested = { _id: false } as const;

const claimDefinition = {
  at: { type: Date, required: true },
  tokenId: { type: Schema.Types.ObjectId, required: true },
  /** The `Idempotency-Key` of the call. */
  key: { type: String },
} as const;

/** Summarises the attempts whose details are not stored any more. */
const olderDefinition = {
  /** When the first of all attempts was made; absent if it was not recorded. */
  firstAt: { type: Date },
  lastAt: { type: Date, required: true },
} as const;

const deliveryDefinition = {
  state: { type: String, enum: DELIVERY_STATES, required: true },
  /**
   * When the vote may be sent next, by its own retry schedule; absent unless waiting. The votes of a listener are taken
   * in this order. A vote that was given back before it was sent has the time when it entered the queue, so it comes first.
   */
  nextAt: { type: Date },
  /** Why the vote is due at `nextAt`. */
  dueBy: { type: String, enum: CAUSES },
  /**
   * When the vote entered the queue: it expires `DELIVERY_EXPIRES_MS` later. Present only while waiting or sending, so
   * that the index `open_work` contains only such votes.
   */
  queuedAt: { type: Date },
  /** If the vote is not delivered by this time, it fails. Absent unless waiting or sending. */
  expiresAt: { type: Date },
  /** When the lease of the attempt expires, on mongod's clock; absent unless sending. */
  leaseUntil: { type: Date },
  /** The `request_id` of the call that took the vote; absent unless sending. For the index `taken_by_request`. */
  requestId: { type: String },
  /** How far the vote is in `DELIVERY_SCHEDULE`, which gives the delay before the next attempt. */
  step: { type: Number, required: true },
  ambiguousEnds: { type: Number, required: true },
  attemptCount: { type: Number, required: true },
  /** The newest attempts, at most `MOST_ATTEMPT_DETAILS`; `ends` and `codes` also count older ones. */
  attempts: { type: [new Schema(attemptDefinition, nested)], required: true },
  /** How many attempts had each outcome class: `{transient: 12, ambiguous: 1}`. */
  ends: { type: Schema.Types.Mixed, required: true },
  /** How many attempts had each outcome code: `{'connection-refused': 12, reset: 1}`. */
  codes: { type: Schema.Types.Mixed },
  older: { type: new Schema(olderDefinition, nested) },
  events: { type: [new Schema(eventDefinition, nested)], required: true },
  deliveredAt: { type: Date },
  /**
   * When a backup was restored in which this vote was waiting, being sent or held. The vote may have been delivered
   * after the backup was taken, so only a resend by hand sends it again.
   */
  restoredAt: { type: Date },
} as const;

/** How many attempts of a vote are stored with details. */
export const MOST_ATTEMPT_DETAILS = 20;

/** The votes of the API count for a player who has voted on the server's page at least so often (ranking/evidence/). */
export const KNOWN_AFTER = 3;

const voteDefinition = {
  /** UUIDv7, made before the insert. The owner sees this id, and the listener receives it, except in Votifier v1. */
  _id: { type: Schema.Types.UUID, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** From the API: trimmed. From the vote form: as `readPlayerName` returns it. The listener gets this spelling. */
  username: { type: String, required: true },
  /** The key of the player: see `usernameKey` in username.ts. */
  usernameKey: { type: String, required: true },
  /** Numbers a player's votes for a server in time order: live votes from 1 up, imported votes below 0. */
  seq: { type: Number, required: true },
  /**
   * How many of the player's votes for the server until this one were cast on its page, excluded ones too. Absent if 0,
   * and in votes of older versions.
   */
  pageVotes: { type: Number },
  votedAt: { type: Date, required: true },
  tokenId: { type: Schema.Types.ObjectId, default: null },
  /** Absent in imported votes, and in votes of older versions, which were all cast with the API. */
  source: { type: String, enum: VOTE_SOURCES },
  /** `proven` when Steam confirmed the SteamID that the vote form got; absent otherwise. */
  identity: { type: String, enum: IDENTITIES },
  /** When an operator ended this vote's cooldown early. */
  cooldownEndedAt: { type: Date },
  /** The ids of the exclusions that cover this vote. Absent, like `excludedAt`, if there are none. */
  excludedBy: { type: [Schema.Types.ObjectId], default: undefined },
  /** An excluded vote is in no count, but its cooldown still applies. */
  excludedAt: { type: Date },
  /** When the vote was held (see quarantine.ts): it is excluded and not delivered. Absent once it counts. */
  quarantinedAt: { type: Date },
  claim: { type: new Schema(claimDefinition, nested) },
  /** The W3C trace context in which the vote was cast, if it was sampled. Attempts join this trace (ADR 105). */
  traceparent: { type: String },
  delivery: { type: new Schema(deliveryDefinition, nested), required: true },
} as const;

/**
 * A vote: one document, inserted once (design rule 1). Almost all queries need a `serverId`, because almost all indexes
 * begin with it.
 */
export const voteSchema = new Schema(voteDefinition, { collection: 'votes' });
voteSchema.index({ serverId: 1, usernameKey: 1, seq: 1 }, { unique: true });
voteSchema.index({ serverId: 1, votedAt: 1 });
/** A server's votes by their state, the oldest first. */
export const BY_STATE = { serverId: 1, 'delivery.state': 1, votedAt: 1 } as const;
voteSchema.index(BY_STATE);
/** Each listener's waiting and sending votes, in the order in which they entered the queue. */
export const OPEN_WORK = 'open_work';
voteSchema.index(
  { serverId: 1, 'delivery.queuedAt': 1, _id: 1 },
  { name: OPEN_WORK, partialFilterExpression: { 'delivery.queuedAt': { $exists: true } } },
);
/** Each listener's waiting votes in queue order: those that are due, however many others wait (docs/adr/0135-due-votes.md). */
export const DUE_VOTES = 'due_votes';
voteSchema.index(
  { serverId: 1, 'delivery.nextAt': 1, _id: 1 },
  { name: DUE_VOTES, partialFilterExpression: { 'delivery.nextAt': { $exists: true } } },
);
/** Each listener's votes that are being sent, by the end of their lease. */
export const LEASES = 'leases';
voteSchema.index(
  { serverId: 1, 'delivery.leaseUntil': 1 },
  { name: LEASES, partialFilterExpression: { 'delivery.leaseUntil': { $exists: true } } },
);
/** Votes that were taken with a `request_id` and are not settled. */
export const TAKEN_BY_REQUEST = 'taken_by_request';
voteSchema.index(
  { serverId: 1, 'delivery.requestId': 1 },
  {
    name: TAKEN_BY_REQUEST,
    partialFilterExpression: { 'delivery.requestId': { $exists: true } },
  },
);
/** Failed votes of all servers. The admin area shows those of the last day. */
export const FAILED_VOTES = 'failed_votes';
voteSchema.index(
  { votedAt: -1 },
  { name: FAILED_VOTES, partialFilterExpression: { 'delivery.state': 'failed' } },
);
// Small, because few Votifier v1 listeners close the connection without an answer.
voteSchema.index(
  { serverId: 1, votedAt: 1, 'delivery.state': 1 },
  {
    name: 'sent_not_confirmed',
    partialFilterExpression: { 'delivery.codes.sent-not-confirmed': { $exists: true } },
  },
);
/** Excluded votes. They are few, so it is cheap to subtract them from a count. */
export const EXCLUDED_VOTES = 'excluded_votes';
voteSchema.index(
  { serverId: 1, votedAt: 1, excludedAt: 1 },
  { name: EXCLUDED_VOTES, partialFilterExpression: { excludedAt: { $exists: true } } },
);

/** Votes that were waiting, being sent or held in a restored backup. */
export const RESTORED_VOTES = 'restored_votes';
voteSchema.index(
  { serverId: 1, 'delivery.restoredAt': 1 },
  { name: RESTORED_VOTES, partialFilterExpression: { 'delivery.restoredAt': { $exists: true } } },
);

// Small, because few plugins send a key with a claim.
voteSchema.index(
  { serverId: 1, 'claim.key': 1 },
  { name: 'claim_keys', partialFilterExpression: { 'claim.key': { $exists: true } } },
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

/** Imported votes were cast elsewhere. */
export function isImported({ seq }: Pick<Vote, 'seq'>): boolean {
  return seq < 0;
}

export function noDelivery(): Delivery {
  return { state: 'none', step: 0, ambiguousEnds: 0, attemptCount: 0, attempts: [], ends: {}, events: [] };
}

/** The fields of a delivery that put a vote at the end of its listener's queue. */
export function queued(now: Date, dueBy: Cause) {
  return {
    state: 'waiting',
    nextAt: now,
    dueBy,
    queuedAt: now,
    expiresAt: after(now, DELIVERY_EXPIRES_MS),
  } as const satisfies Partial<Delivery>;
}
