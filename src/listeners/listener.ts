import type { UUID } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';
import { LIMITED_BY } from '../platform/limits/outgoing-limit.ts';
import { CAUSES } from './causes.ts';
import { LAST_ANSWER_STEP, MAX_SENDINGS } from './delivery-limits.ts';
import { OTHER_SERVICES, OUTCOMES, type OutcomeCode } from './outcomes.ts';

export const PROTOCOLS = ['votifier-v1', 'votifier-v2', 'http'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/**
 * How players of a server with a listener are rewarded.
 *
 * - `push`: the listener receives each vote, and plugins cannot claim it.
 * - `claims`: plugins claim votes, and the listener receives none.
 * - `both`: a plugin that claims and a listener that rewards give each vote twice.
 */
export const REWARDS = ['push', 'claims', 'both'] as const;
export type Rewards = (typeof REWARDS)[number];

const OUTCOME_CODES = Object.keys(OUTCOMES) as OutcomeCode[];
const nested = { _id: false } as const;

/** Why no vote is sent until somebody resumes: an error of configuration, or somebody paused it (no `code`). */
const pauseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: ['owner', 'tallyport'] as const, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** Consecutive failures; from `BREAKER_THRESHOLD` on the listener is unreachable and tested one vote at a time. */
const breakerDefinition = {
  failures: { type: Number, required: true },
  /** When it became unreachable; absent while it is not. */
  openSince: { type: Date },
  /** When the next vote may test it. Absent while no test is planned. */
  nextTestAt: { type: Date },
  /** Why that test was brought forward. */
  hastenedBy: { type: String, enum: ['server-returned'] as const },
  /** Failed tests so far. */
  tests: { type: Number, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** Why its waiting votes were released after it was last paused or unreachable. */
const releaseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: CAUSES, required: true },
} as const;

const leaseDefinition = {
  owner: { type: String, required: true },
  /** On mongod's clock. */
  until: { type: Date, required: true },
  /** A wake-up job ran while the lease was taken: the owner looks for due votes once more. */
  called: { type: Boolean },
  /** The game server came back while the lease was taken: a test that fails meanwhile does not postpone the next one. */
  testAt: { type: Date },
} as const;

/** Until `until`, votes are signed with it too, so that the receiver can change to the new secret. */
const previousSecretDefinition = {
  sealed: { type: String, required: true },
  until: { type: Date, required: true },
} as const;

/** An address at which the listener proved that it is one (docs/adr/0020-outgoing-limits.md). */
const proofDefinition = {
  address: { type: String, required: true },
  at: { type: Date, required: true },
  /**
   * `greeting`: a Votifier v1 listener that did not confirm, or an HTTP listener that took a vote before challenges
   * existed. `acknowledgement`: it acknowledged a vote or a challenge.
   */
  by: { type: String, enum: ['greeting', 'acknowledgement'] as const, required: true },
} as const;

/** Votes that became unconfirmed with an earlier token or key and are to be sent again: see `resendSilentVotes`. */
const resendOwedDefinition = {
  /** When the token or key was corrected: only votes whose last attempt is older. */
  at: { type: Date, required: true },
  /** The last delivery before that: only votes whose last attempt is newer. */
  silentSince: { type: Date, required: true },
  /** Who corrected it. */
  by: { type: String, required: true },
} as const;

/** The newest test vote; it is not counted and changes neither pause nor breaker. */
const testDefinition = {
  at: { type: Date, required: true },
  code: { type: String, enum: OUTCOME_CODES, required: true },
} as const;

/** What answered in place of a Votifier listener that did not greet; no `service` if none was recognised. */
const detectedDefinition = {
  at: { type: Date, required: true },
  service: { type: String, enum: OTHER_SERVICES },
} as const;

/** The first vote with a name beyond ASCII that was sent in Votifier v1: many listeners read v1 as ASCII. */
const beyondAsciiDefinition = {
  at: { type: Date, required: true },
  voteId: { type: Schema.Types.UUID, required: true },
} as const;

/** No connection to it is opened before `until`: an allowance of connections is used up. */
const limitDefinition = {
  until: { type: Date, required: true },
  by: { type: String, enum: LIMITED_BY, required: true },
} as const;

const listenerDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  protocol: { type: String, enum: PROTOCOLS, required: true },
  host: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  /** For http: the URL that receives votes; `host` and `port` are derived from it. */
  url: { type: String, default: null, maxlength: 2_048 },
  /** The public key (v1), the token (v2) or the signing secret (http), sealed (see secrets.ts). */
  sealedSecret: { type: String, required: true },
  /** For http: the secret before the last rotation. */
  previousSecret: { type: new Schema(previousSecretDefinition, nested), default: null },
  /** Absent until the owner chooses: `both`. */
  rewards: { type: String, enum: REWARDS },
  /** The name of the voting site that the listener receives. It selects the token there and never changes by itself. */
  serviceName: { type: String, required: true },
  /** Increases with every change of the settings and every resume: outcomes of older attempts change nothing then. */
  revision: { type: Number, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  pause: { type: new Schema(pauseDefinition, nested), default: null },
  breaker: { type: new Schema(breakerDefinition, nested), required: true },
  /** Consecutive votes that the listener refused. */
  voteFaults: { type: Number, required: true },
  lastDeliveredAt: { type: Date, default: null },
  /** The newest first. Absent in listeners that an older version stored. */
  proven: { type: [new Schema(proofDefinition, nested)], default: undefined },
  limited: { type: new Schema(limitDefinition, nested), default: null },
  /** Whether it acknowledged that vote; false when a Votifier v1 listener only closed the connection. */
  lastDeliveryConfirmed: { type: Boolean },
  /** When it first took a vote with its current settings, acknowledged or not; null before that. */
  acknowledgedAt: { type: Date },
  /** Absent before the first test vote. */
  tested: { type: new Schema(testDefinition, nested) },
  /** The protocol of the service at its address: detected once for its settings, and by each test. */
  detected: { type: new Schema(detectedDefinition, nested) },
  /** Its owner is told once for its settings that names may arrive mangled. */
  beyondAscii: { type: new Schema(beyondAsciiDefinition, nested) },
  /** How long the answer is waited for: a step of `answerTimeoutMs`. It increases when no answer came in time. */
  answerStep: { type: Number, min: 0, max: LAST_ANSWER_STEP },
  /** How often a vote without an answer is sent at most, set by the owner; `MAX_SENDINGS` when absent. */
  maxSendings: { type: Number, min: 1, max: MAX_SENDINGS },
  released: { type: new Schema(releaseDefinition, nested), default: null },
  /** Stored with the settings that correct the token or key; the sweep clears it when all votes are resent. */
  resendOwed: { type: new Schema(resendOwedDefinition, nested), default: null },
  /** The lease of the one worker that drains this listener. */
  lease: { type: new Schema(leaseDefinition, nested), default: null },
} as const;

/** A game server's vote listener: where its votes are forwarded to, and its state. One for each server. */
export const listenerSchema = new Schema(listenerDefinition, { collection: 'listeners' });
listenerSchema.index({ serverId: 1 }, { unique: true });
// Only listeners that an error has paused, and unreachable ones: a small part of all.
listenerSchema.index(
  { 'pause.at': 1, 'pause.code': 1 },
  { partialFilterExpression: { 'pause.code': { $exists: true } } },
);
listenerSchema.index({ 'pause.at': 1 }, { partialFilterExpression: { 'pause.at': { $exists: true } } });
listenerSchema.index(
  { 'breaker.openSince': 1 },
  { partialFilterExpression: { 'breaker.openSince': { $exists: true } } },
);
listenerSchema.index(
  { 'limited.until': 1 },
  { partialFilterExpression: { 'limited.until': { $exists: true } } },
);

// Only listeners with a resend that is not finished.
listenerSchema.index(
  { 'resendOwed.at': 1 },
  { partialFilterExpression: { 'resendOwed.at': { $exists: true } } },
);

export type Breaker = Nested<typeof breakerDefinition>;
export type Pause = Nested<typeof pauseDefinition>;
export type Release = Nested<typeof releaseDefinition>;
export type ResendOwed = Nested<typeof resendOwedDefinition>;
export type ListenerProof = Nested<typeof proofDefinition>;
export type Listener = Omit<
  InferRawDocType<typeof listenerDefinition>,
  | 'breaker'
  | 'pause'
  | 'released'
  | 'resendOwed'
  | 'proven'
  | 'limited'
  | 'tested'
  | 'detected'
  | 'beyondAscii'
> & {
  tested?: Nested<typeof testDefinition>;
  detected?: Nested<typeof detectedDefinition>;
  beyondAscii?: { at: Date; voteId: UUID };
  breaker: Breaker;
  pause?: Pause | null;
  released?: Release | null;
  resendOwed?: ResendOwed | null;
  proven?: ListenerProof[];
  limited?: Nested<typeof limitDefinition> | null;
};

/** The breaker of a listener without failures. */
export const REACHABLE: Breaker = { failures: 0, tests: 0 };

/** How the votes of a server are rewarded. Without a listener they can only be claimed. */
export function rewardsOf(listener: Pick<Listener, 'rewards'> | null): Rewards {
  return listener ? (listener.rewards ?? 'both') : 'claims';
}
