import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';
import { LIMITED_BY } from '../platform/limits/outgoing-limit.ts';
import { CAUSES } from './causes.ts';
import { OUTCOMES, type OutcomeCode } from './outcomes.ts';
import { LAST_ANSWER_STEP, MOST_SENDINGS } from './schedule.ts';

export const PROTOCOLS = ['votifier-v1', 'votifier-v2', 'http'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

const OUTCOME_CODES = Object.keys(OUTCOMES) as OutcomeCode[];
const nested = { _id: false } as const;

/** Why no vote is sent until somebody resumes: a fault of configuration, or somebody's wish (no `code`). */
const pauseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: ['owner', 'tallyport'] as const, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** Failures in a row; from `BREAKER_THRESHOLD` on the listener is unreachable and tested one vote at a time. */
const breakerDefinition = {
  failures: { type: Number, required: true },
  /** When it became unreachable; absent while it is not. */
  openSince: { type: Date },
  /** When the next vote may test it. Absent while no test is planned. */
  nextTestAt: { type: Date },
  /** What brought that test forward. */
  hastenedBy: { type: String, enum: ['server-returned'] as const },
  /** Failed tests so far. */
  tests: { type: Number, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** What let its waiting votes go when it was last paused or unreachable. */
const releaseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: CAUSES, required: true },
} as const;

const leaseDefinition = {
  owner: { type: String, required: true },
  /** On mongod's clock. */
  until: { type: Date, required: true },
  /** A wake-up came while it was held: its owner looks for due votes once more. */
  called: { type: Boolean },
  /** While it was held, the game server came back: a test that fails meanwhile does not put off the next one. */
  testAt: { type: Date },
} as const;

/** Votes are signed with it too until then, so that the far end can change over in its own time. */
const previousSecretDefinition = {
  sealed: { type: String, required: true },
  until: { type: Date, required: true },
} as const;

/** An address at which the listener showed that it is one (docs/adr/0020-outgoing-limits.md). */
const proofDefinition = {
  address: { type: String, required: true },
  at: { type: Date, required: true },
  /**
   * `greeting`: a Votifier v1 listener that did not confirm, or an HTTP listener from before challenges, which took a
   * vote there without one; else it acknowledged a vote or a challenge.
   */
  by: { type: String, enum: ['greeting', 'acknowledgement'] as const, required: true },
} as const;

/** Votes that an earlier token or key used up, and that are to be sent again: `resendSilentVotes` does it. */
const resendOwedDefinition = {
  /** When the token or key was mended: votes whose last attempt was made before. */
  at: { type: Date, required: true },
  /** The last delivery before that: votes whose last attempt was made after. */
  silentSince: { type: Date, required: true },
  /** Who mended it. */
  by: { type: String, required: true },
} as const;

/** No connection to it is opened before then: an allowance is used up. */
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
  /** For http: where votes are posted to; `host` and `port` are taken from it. */
  url: { type: String, default: null, maxlength: 2_048 },
  /** The public key (v1), the token (v2) or the signing secret (http), sealed (see secrets.ts). */
  sealedSecret: { type: String, required: true },
  /** For http: the secret before the last rotation. */
  previousSecret: { type: new Schema(previousSecretDefinition, nested), default: null },
  /** What the listener sees as the voting site; it chooses the token there and never changes by itself. */
  serviceName: { type: String, required: true },
  /** Grows with every change of the settings and every resume: an older attempt's end changes nothing then. */
  revision: { type: Number, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  pause: { type: new Schema(pauseDefinition, nested), default: null },
  breaker: { type: new Schema(breakerDefinition, nested), required: true },
  /** Votes refused one by one without a success between them. */
  voteFaults: { type: Number, required: true },
  lastDeliveredAt: { type: Date, default: null },
  /** The newest first. Absent in listeners that an older version stored. */
  proven: { type: [new Schema(proofDefinition, nested)], default: undefined },
  limited: { type: new Schema(limitDefinition, nested), default: null },
  /** Whether it acknowledged that vote; false in Votifier v1, where it only closed the connection. */
  lastDeliveryConfirmed: { type: Boolean },
  /** When it first took a vote with its present settings, acknowledged or not; null while it has not. */
  acknowledgedAt: { type: Date },
  /** How long its answers are waited for: a step of `answerTimeoutMs` that grows when none came in time. */
  answerStep: { type: Number, min: 0, max: LAST_ANSWER_STEP },
  /** How often its owner has a vote sent at most when no answer comes; `MOST_SENDINGS` where absent. */
  maxSendings: { type: Number, min: 1, max: MOST_SENDINGS },
  released: { type: new Schema(releaseDefinition, nested), default: null },
  /** Stored with the settings that mend it; the relay clears it when all is done. */
  resendOwed: { type: new Schema(resendOwedDefinition, nested), default: null },
  /** Held by the one worker that drains this listener. */
  lease: { type: new Schema(leaseDefinition, nested), default: null },
} as const;

/** A game server's vote listener: where its votes are forwarded to, and how it fares. One a server. */
export const listenerSchema = new Schema(listenerDefinition, { collection: 'listeners' });
listenerSchema.index({ serverId: 1 }, { unique: true });
// Those that a fault has paused, and those that are unreachable: few of many.
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

// Those whose settings were changed some minutes ago.
listenerSchema.index(
  { 'resendOwed.at': 1 },
  { partialFilterExpression: { 'resendOwed.at': { $exists: true } } },
);

export type Breaker = Nested<typeof breakerDefinition>;
export type Pause = Nested<typeof pauseDefinition>;
export type Release = Nested<typeof releaseDefinition>;
export type ResendOwed = Nested<typeof resendOwedDefinition>;
export type Proof = Nested<typeof proofDefinition>;
export type Listener = Omit<
  InferRawDocType<typeof listenerDefinition>,
  'breaker' | 'pause' | 'released' | 'resendOwed' | 'proven' | 'limited'
> & {
  breaker: Breaker;
  pause?: Pause | null;
  released?: Release | null;
  resendOwed?: ResendOwed | null;
  proven?: Proof[];
  limited?: Nested<typeof limitDefinition> | null;
};

/**
 * How a listener stands, in the owner's words. `unverified`: an HTTP listener that has not repeated a challenge yet;
 * the next vote or test brings one.
 */
export type ListenerState = 'active' | 'unverified' | 'paused' | 'unreachable';

/** What `listenerState` reads. */
export const STATE_FIELDS = {
  protocol: 1,
  pause: 1,
  'breaker.openSince': 1,
  'proven.at': 1,
  lastDeliveredAt: 1,
} as const;

export function listenerState(
  listener: Pick<Listener, 'pause' | 'breaker' | 'protocol' | 'proven' | 'lastDeliveredAt'>,
): ListenerState {
  if (listener.pause) return 'paused';
  if (listener.breaker.openSince) return 'unreachable';
  return isUnverified(listener) ? 'unverified' : 'active';
}

/** Whether it is an HTTP listener that has never shown that it wants votes. One that an older version had sent any has. */
export function isUnverified({
  protocol,
  proven,
  lastDeliveredAt,
}: Pick<Listener, 'protocol' | 'proven' | 'lastDeliveredAt'>): boolean {
  if (protocol !== 'http') return false;
  return proven ? proven.length === 0 : !lastDeliveredAt;
}

/**
 * Whether a listener has taken a vote with its present settings, also by a bare close in Votifier v1: its token or key
 * is taken to be right. A document without the field is from before there was one: its last delivery tells then.
 */
export function hasTakenVotes({
  acknowledgedAt,
  lastDeliveredAt,
  updatedAt,
}: Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>): boolean {
  if (acknowledgedAt !== undefined) return acknowledgedAt !== null;
  return !!lastDeliveredAt && lastDeliveredAt >= updatedAt;
}

/** The last vote that a listener took with its present settings, and whether it said so; null where it took none. */
export function lastDelivery(
  listener: Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'lastDeliveryConfirmed' | 'updatedAt'>,
): { at: Date; confirmed: boolean | null } | null {
  const { lastDeliveredAt, lastDeliveryConfirmed } = listener;
  if (!lastDeliveredAt || !hasTakenVotes(listener)) return null;
  return { at: lastDeliveredAt, confirmed: lastDeliveryConfirmed ?? null };
}

/** The breaker of a listener that is not known to fail. */
export const REACHABLE: Breaker = { failures: 0, tests: 0 };
