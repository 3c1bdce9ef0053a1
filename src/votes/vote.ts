import type { ObjectId } from 'mongodb';
import { type IndexDefinition, type InferRawDocType, Schema } from 'mongoose';
import { CAUSES, type Cause } from '../listeners/causes.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import { PROTOCOLS } from '../listeners/listener.ts';
import { OUTCOME_CLASSES, type OutcomeClass } from '../listeners/outcomes/outcome-definition.ts';
import { OUTCOME_CODES, type OutcomeCode, STEPS } from '../listeners/outcomes.ts';
import { after } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';

/**
 * `none`: no listener or only claims, or imported or held. `sending`: when its lease expires, the outcome is ambiguous.
 * `delivered`: acknowledged or, in Votifier v1, sent and not confirmed. `unconfirmed`: may have arrived, after all
 * allowed sendings or a restore; only a resend by hand sends it again. `failed`: refused, expired, or its server
 * removed.
 */
export const DELIVERY_STATES = ['none', 'waiting', 'sending', 'delivered', 'unconfirmed', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** `web`: with a vote form on the listing's pages. */
export const VOTE_SOURCES = ['api', 'web'] as const;

/** The player signed in at the site that issues the name, such as Steam. */
export const IDENTITIES = ['proven'] as const;

/** Without `code` it has no recorded outcome yet. */
const attemptDefinition = {
  /** Of the take: votes that were taken together share it. */
  id: { type: Schema.Types.UUID, required: true },
  at: { type: Date, required: true },
  worker: { type: String, required: true },
  protocol: { type: String, enum: PROTOCOLS, required: true },
  /** Of the listener's settings. If it has changed, the outcome changes neither breaker nor pause. */
  revision: { type: Number, required: true },
  /** Of an unreachable listener. A test does not increase the vote's `step`. */
  test: { type: Boolean, required: true },
  /** For fetch: how long the taker may keep the vote, and the `request_id` of its call. */
  leaseMs: { type: Number },
  requestId: { type: String },
  /** A repeated call also got the vote, so the first one never gives it back. */
  repeated: { type: Boolean },
  /** As in listener.ts at that time; absent in older records. */
  answerStep: { type: Number },
  maxSendings: { type: Number },
  code: { type: String, enum: OUTCOME_CODES },
  class: { type: String, enum: OUTCOME_CLASSES },
  reached: { type: String, enum: STEPS },
  words: { type: String },
  /** See `Outcome`. */
  detail: { type: String },
  durationMs: { type: Number },
  wokenBy: { type: String, enum: CAUSES },
  /** Its wake-up job was lost, and the sweep found the vote due. */
  relayed: { type: Boolean },
  /** An acknowledgement after the attempt was considered lost. */
  lateAt: { type: Date },
} as const;

/** Other than an attempt. */
const eventDefinition = {
  at: { type: Date, required: true },
  kind: {
    type: String,
    enum: ['resent', 'expired', 'listener-removed', 'server-removed', 'released', 'restored'] as const,
    required: true,
  },
  /** Only of a resend, as `byId` and `mayArriveTwice`. */
  by: { type: String },
  /** Absent for the command line, and from older versions. */
  byId: { type: Schema.Types.ObjectId },
  /** Before a resend or a restore. */
  from: { type: String, enum: DELIVERY_STATES },
  mayArriveTwice: { type: Boolean },
} as const;

const nested = { _id: false } as const;

const claimDefinition = {
  at: { type: Date, required: true },
  tokenId: { type: Schema.Types.ObjectId, required: true },
  /** Its `Idempotency-Key`. */
  key: { type: String },
} as const;

/** Attempts whose details are not stored any more. */
const olderDefinition = {
  /** Absent if it was not recorded. */
  firstAt: { type: Date },
  lastAt: { type: Date, required: true },
} as const;

const deliveryDefinition = {
  state: { type: String, enum: DELIVERY_STATES, required: true },
  /** When the vote may be sent next, in this order; absent unless waiting. Votes that were given back come first. */
  nextAt: { type: Date },
  dueBy: { type: String, enum: CAUSES },
  /** Absent unless waiting or sending: the index `open_work` has only such votes. */
  queuedAt: { type: Date },
  expiresAt: { type: Date },
  /** On mongod's clock; absent unless sending. */
  leaseUntil: { type: Date },
  /** For the index `taken_by_request`; absent unless sending. */
  requestId: { type: String },
  /** Of `DELIVERY_SCHEDULE`: the delay before the next attempt. */
  step: { type: Number, required: true },
  ambiguousEnds: { type: Number, required: true },
  attemptCount: { type: Number, required: true },
  /** The newest `MOST_ATTEMPT_DETAILS`; `ends` and `codes` also count older ones. */
  attempts: { type: [new Schema(attemptDefinition, nested)], required: true },
  /** `{transient: 12, ambiguous: 1}`. */
  ends: { type: Schema.Types.Mixed, required: true },
  /** `{'connection-refused': 12, reset: 1}`. */
  codes: { type: Schema.Types.Mixed },
  older: { type: new Schema(olderDefinition, nested) },
  events: { type: [new Schema(eventDefinition, nested)], required: true },
  deliveredAt: { type: Date },
  /** When a restore found it waiting, being sent or held: it may have been delivered since the backup. */
  restoredAt: { type: Date },
} as const;

export const MOST_ATTEMPT_DETAILS = 20;

/** Votes of the API count for a player with so many votes on the server's page (ranking/evidence/). */
export const KNOWN_AFTER = 3;

const voteDefinition = {
  /** UUIDv7. The owner sees it, and the listener receives it, except in Votifier v1. */
  _id: { type: Schema.Types.UUID, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** As typed, trimmed, or as `readPlayerName` returns it. */
  username: { type: String, required: true },
  /** See username.ts. */
  usernameKey: { type: String, required: true },
  /** By player and server in time order: live votes from 1 up, imported ones below 0. */
  seq: { type: Number, required: true },
  /** Of the player on the server's page until this one, excluded ones too. Absent if 0, and from older versions. */
  pageVotes: { type: Number },
  votedAt: { type: Date, required: true },
  tokenId: { type: Schema.Types.ObjectId, default: null },
  /** Absent in imported votes, and from older versions, which had only the API. */
  source: { type: String, enum: VOTE_SOURCES },
  identity: { type: String, enum: IDENTITIES },
  /** An operator ended the cooldown early. */
  cooldownEndedAt: { type: Date },
  /** Exclusions. Absent, like `excludedAt`, if there are none. */
  excludedBy: { type: [Schema.Types.ObjectId], default: undefined },
  /** In no count, but the cooldown still applies. */
  excludedAt: { type: Date },
  /** Held (see quarantine.ts): excluded and not delivered. Absent once it counts. */
  quarantinedAt: { type: Date },
  claim: { type: new Schema(claimDefinition, nested) },
  /** W3C, if it was sampled. Attempts join this trace (ADR 105). */
  traceparent: { type: String },
  delivery: { type: new Schema(deliveryDefinition, nested), required: true },
} as const;

/** One document, inserted once (design rule 1). Almost all queries need a `serverId`, with which the indexes begin. */
export const voteSchema = new Schema(voteDefinition, { collection: 'votes' });

function indexVotesWith(field: string, fields: IndexDefinition, name: string): void {
  voteSchema.index(fields, { name, partialFilterExpression: { [field]: { $exists: true } } });
}

voteSchema.index({ serverId: 1, usernameKey: 1, seq: 1 }, { unique: true });
voteSchema.index({ serverId: 1, votedAt: 1 });
export const BY_STATE = { serverId: 1, 'delivery.state': 1, votedAt: 1 } as const;
voteSchema.index(BY_STATE);
/** In the order in which votes entered the queue. */
export const OPEN_WORK = 'open_work';
indexVotesWith('delivery.queuedAt', { serverId: 1, 'delivery.queuedAt': 1, _id: 1 }, OPEN_WORK);
/** In queue order: those that are due, however many others wait (docs/adr/0135-due-votes.md). */
export const DUE_VOTES = 'due_votes';
indexVotesWith('delivery.nextAt', { serverId: 1, 'delivery.nextAt': 1, _id: 1 }, DUE_VOTES);
export const LEASES = 'leases';
indexVotesWith('delivery.leaseUntil', { serverId: 1, 'delivery.leaseUntil': 1 }, LEASES);
/** Votes with a `request_id` that are not settled. */
export const TAKEN_BY_REQUEST = 'taken_by_request';
indexVotesWith('delivery.requestId', { serverId: 1, 'delivery.requestId': 1 }, TAKEN_BY_REQUEST);
/** Of all servers: the admin area shows those of the last day. */
export const FAILED_VOTES = 'failed_votes';
voteSchema.index(
  { votedAt: -1 },
  { name: FAILED_VOTES, partialFilterExpression: { 'delivery.state': 'failed' } },
);
// Small, because few Votifier v1 listeners close the connection without an answer.
indexVotesWith(
  'delivery.codes.sent-not-confirmed',
  { serverId: 1, votedAt: 1, 'delivery.state': 1 },
  'sent_not_confirmed',
);
/** They are few, so it is cheap to subtract them from a count. */
export const EXCLUDED_VOTES = 'excluded_votes';
indexVotesWith('excludedAt', { serverId: 1, votedAt: 1, excludedAt: 1 }, EXCLUDED_VOTES);

export const RESTORED_VOTES = 'restored_votes';
indexVotesWith('delivery.restoredAt', { serverId: 1, 'delivery.restoredAt': 1 }, RESTORED_VOTES);

// Small, because few plugins send a key with a claim.
indexVotesWith('claim.key', { serverId: 1, 'claim.key': 1 }, 'claim_keys');

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

export function isImported({ seq }: Pick<Vote, 'seq'>): boolean {
  return seq < 0;
}

export function noDelivery(): Delivery {
  return { state: 'none', step: 0, ambiguousEnds: 0, attemptCount: 0, attempts: [], ends: {}, events: [] };
}

/** A vote at the end of its listener's queue. */
export function queued(now: Date, dueBy: Cause) {
  return {
    state: 'waiting',
    nextAt: now,
    dueBy,
    queuedAt: now,
    expiresAt: after(now, DELIVERY_EXPIRES_MS),
  } as const satisfies Partial<Delivery>;
}
