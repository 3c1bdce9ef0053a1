import type { UUID } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';
import { LIMITED_BY } from '../platform/limits/outgoing-limit.ts';
import { CAUSES } from './causes.ts';
import { LAST_ANSWER_STEP, MAX_SENDINGS } from './delivery-limits.ts';
import { OTHER_SERVICES, type OtherService } from './outcomes/other-services.ts';
import { OUTCOME_CODES } from './outcomes.ts';

/** `fetch`: nothing is sent; the game server takes its votes with the API (docs/fetching.md). */
export const PROTOCOLS = ['votifier-v1', 'votifier-v2', 'http', 'fetch'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/**
 * How players of a server with a listener get their rewards.
 *
 * - `push`: the listener receives each vote, and plugins cannot claim it.
 * - `claims`: plugins claim votes, and the listener receives none.
 * - `both`: the listener receives each vote and plugins can claim it. If both reward players, rewards come twice.
 */
export const REWARDS = ['push', 'claims', 'both'] as const;
export type Rewards = (typeof REWARDS)[number];

const nested = { _id: false } as const;

/** Why no vote is sent. `code`: the outcome for which Tallyport paused the listener; absent if the owner paused it. */
const pauseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: ['owner', 'tallyport'] as const, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** The failures in a row. From `BREAKER_THRESHOLD` on, the listener is unreachable, and one vote at a time tests it. */
const breakerDefinition = {
  failures: { type: Number, required: true },
  /** When the listener became unreachable; absent while it is reachable. */
  openSince: { type: Date },
  /** When the next vote may test the listener. Absent while no test is planned. */
  nextTestAt: { type: Date },
  /** Why the next test was moved to an earlier time; absent if it was not. */
  hastenedBy: { type: String, enum: ['server-returned'] as const },
  /** How many tests failed since the listener became unreachable. */
  tests: { type: Number, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/**
 * What ended the listener's last pause or outage, so that its waiting votes go out again: `resume`, `settings-changed`
 * or `listener-back`.
 */
const releaseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: CAUSES, required: true },
} as const;

const leaseDefinition = {
  owner: { type: String, required: true },
  /** When the lease expires, on mongod's clock. */
  until: { type: Date, required: true },
  /** The owner of the lease receives the messages of `dueVotesChannel`, so a cast vote needs no wake-up job. */
  listens: { type: Boolean },
  /** A wake-up job arrived while the lease was taken: the owner of the lease looks for due votes once more. */
  called: { type: Boolean },
  /**
   * When the game server came back while the lease was taken. If the listener is still unreachable when the lease is
   * released, the next test is due at this time, so at once.
   */
  testAt: { type: Date },
} as const;

/** The secret before a rotation. Until `until`, votes are also signed with it, so the receiver can switch later. */
const previousSecretDefinition = {
  sealed: { type: String, required: true },
  until: { type: Date, required: true },
} as const;

/** An address at which the listener proved that it accepts votes (docs/adr/0020-outgoing-limits.md). */
const proofDefinition = {
  address: { type: String, required: true },
  at: { type: Date, required: true },
  /**
   * `greeting`: a Votifier v1 listener that took a vote without confirming it, or an HTTP listener that took a vote
   * before challenges existed. `acknowledgement`: it acknowledged a vote or a challenge.
   */
  by: { type: String, enum: ['greeting', 'acknowledgement'] as const, required: true },
} as const;

/** The votes that became unconfirmed with an earlier token or key and must be sent again: see `resendSilentVotes`. */
const resendOwedDefinition = {
  /** When the token or key was changed: only votes whose last attempt is older are sent again. */
  at: { type: Date, required: true },
  /** The last delivery before `at`; the start of 1970 if there was none. Only votes tried later are sent again. */
  silentSince: { type: Date, required: true },
  /** The user who changed the token or key: an e-mail address, or `cli`. */
  by: { type: String, required: true },
} as const;

/** The result of a test vote, as the listener's owner may see it. The texts for the owner are made from the codes. */
const testResultDefinition = {
  /** The step that failed, or the last one (`DiagnosisStep`). */
  step: { type: String, required: true },
  /** Absent when nothing is known to be wrong. */
  fault: { type: String },
  reply: { type: String },
  isReplyHidden: { type: Boolean },
  detail: { type: String },
  /** Whether the listener had the same address and port as the game. */
  hasGamePort: { type: Boolean },
} as const;

/** The newest test vote; it is not counted and changes neither pause nor breaker. */
const testDefinition = {
  at: { type: Date, required: true },
  code: { type: String, enum: OUTCOME_CODES, required: true },
  /** Absent if an older version made the test, or if the process died before it stored the result. */
  result: { type: new Schema(testResultDefinition, nested) },
} as const;

/** What answered instead of a Votifier listener. `service` is absent if Tallyport did not recognise the protocol. */
const detectedDefinition = {
  at: { type: Date, required: true },
  service: { type: String, enum: Object.keys(OTHER_SERVICES) as OtherService[] },
} as const;

/** The first vote with a name beyond ASCII that was sent in Votifier v1: many listeners read v1 as ASCII. */
const beyondAsciiDefinition = {
  at: { type: Date, required: true },
  voteId: { type: Schema.Types.UUID, required: true },
} as const;

/** If the listener's allowance of connections is used up: no connection to it is opened until `until`. */
const limitDefinition = {
  until: { type: Date, required: true },
  by: { type: String, enum: LIMITED_BY, required: true },
} as const;

/** The newest take of a listener that fetches. Stored once a minute; more often if `agent` changes or a test waits. */
const fetchDefinition = {
  at: { type: Date, required: true },
  /** The `User-Agent` of the call; printable, at most 200 characters. Empty if it sent none. */
  agent: { type: String, default: '' },
} as const;

const listenerDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  protocol: { type: String, enum: PROTOCOLS, required: true },
  /** For fetch, `host` and `sealedSecret` are empty and `port` is 0. */
  host: { type: String, maxlength: 253 },
  port: { type: Number, min: 0, max: 65_535 },
  /** For http: the URL that receives votes; `host` and `port` are derived from it. */
  url: { type: String, default: null, maxlength: 2_048 },
  /** The public key (v1), the token (v2) or the signing secret (http), sealed (see secrets.ts). */
  sealedSecret: { type: String },
  /** For http: the secret before the last rotation. */
  previousSecret: { type: new Schema(previousSecretDefinition, nested), default: null },
  /** If absent, `both` applies. */
  rewards: { type: String, enum: REWARDS },
  /** The name of the voting site in every vote. Votifier v2 finds its token by this name, so only the owner sets it. */
  serviceName: { type: String, required: true },
  /**
   * Increases when the settings change and when the listener is resumed. Outcomes of attempts with an earlier revision
   * do not change the listener's state.
   */
  revision: { type: Number, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  pause: { type: new Schema(pauseDefinition, nested), default: null },
  breaker: { type: new Schema(breakerDefinition, nested), required: true },
  /** How many votes in a row the listener refused before it took the first one with its current settings. */
  voteFaults: { type: Number, required: true },
  lastDeliveredAt: { type: Date, default: null },
  /** The newest proof first. Absent if an older version stored the listener. */
  proven: { type: [new Schema(proofDefinition, nested)], default: undefined },
  limited: { type: new Schema(limitDefinition, nested), default: null },
  /** Whether the listener acknowledged its last vote. False if a Votifier v1 listener only closed the connection. */
  lastDeliveryConfirmed: { type: Boolean },
  /**
   * When the listener first took a vote with its current settings, acknowledged or not. Null before that; absent in
   * documents of older versions.
   */
  acknowledgedAt: { type: Date },
  /** For fetch. Absent before the first take. */
  fetched: { type: new Schema(fetchDefinition, nested) },
  /** For fetch: when a test began to wait for a take. While it is set, the next take is stored at once. */
  fetchAwaitedAt: { type: Date },
  /** Absent before the first test vote. */
  tested: { type: new Schema(testDefinition, nested) },
  /** Detected once for the current settings if the listener did not greet, and again by each test. */
  detected: { type: new Schema(detectedDefinition, nested) },
  beyondAscii: { type: new Schema(beyondAsciiDefinition, nested) },
  /** The step of `answerTimeoutMs` for the next answer. It increases when an answer comes late or not at all. */
  answerStep: { type: Number, min: 0, max: LAST_ANSWER_STEP },
  /** How many times a vote may be sent while no answer comes, as the owner chose. Absent: `MAX_SENDINGS`. */
  maxSendings: { type: Number, min: 1, max: MAX_SENDINGS },
  released: { type: new Schema(releaseDefinition, nested), default: null },
  /** Stored together with a new token or key. The sweep removes it when all votes are resent. */
  resendOwed: { type: new Schema(resendOwedDefinition, nested), default: null },
  /** The lease of the one worker that drains this listener. */
  lease: { type: new Schema(leaseDefinition, nested), default: null },
} as const;

/** A server's vote listener: where votes are forwarded, and the state of the deliveries. A server has at most one. */
export const listenerSchema = new Schema(listenerDefinition, { collection: 'listeners' });
listenerSchema.index({ serverId: 1 }, { unique: true });
// The next indexes have only listeners that are paused, unreachable, limited or in a resend, which are few.
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

listenerSchema.index(
  { 'resendOwed.at': 1 },
  { partialFilterExpression: { 'resendOwed.at': { $exists: true } } },
);

export type Breaker = Nested<typeof breakerDefinition>;
export type Pause = Nested<typeof pauseDefinition>;
export type Release = Nested<typeof releaseDefinition>;
export type ResendOwed = Nested<typeof resendOwedDefinition>;
export type ListenerProof = Nested<typeof proofDefinition>;
export type ListenerTestResult = Nested<typeof testResultDefinition>;
export type ListenerFetch = Nested<typeof fetchDefinition>;
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
  host: string;
  port: number;
  sealedSecret: string;
  fetched?: ListenerFetch;
  tested?: Omit<Nested<typeof testDefinition>, 'result'> & { result?: ListenerTestResult };
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

/** How players of a server get their rewards. Without a listener, votes can only be claimed. */
export function rewardsOf(listener: Pick<Listener, 'rewards'> | null): Rewards {
  return listener ? (listener.rewards ?? 'both') : 'claims';
}
