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
 * How players get their rewards: from the listener (`push`), or because plugins claim votes, of which the listener then
 * receives none. With `both`, rewards come twice if both reward players.
 */
export const REWARDS = ['push', 'claims', 'both'] as const;
export type Rewards = (typeof REWARDS)[number];

const nested = { _id: false } as const;

/** `code`: why Tallyport paused the listener; absent if the owner did. */
const pauseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: ['owner', 'tallyport'] as const, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** From `BREAKER_THRESHOLD` failures in a row on, the listener is unreachable, and one vote at a time tests it. */
const breakerDefinition = {
  failures: { type: Number, required: true },
  /** Absent while it is reachable. */
  openSince: { type: Date },
  /** Absent while no test is planned. */
  nextTestAt: { type: Date },
  /** Why the next test was moved to an earlier time. */
  hastenedBy: { type: String, enum: ['server-returned'] as const },
  /** Failed tests since it became unreachable. */
  tests: { type: Number, required: true },
  code: { type: String, enum: OUTCOME_CODES },
  words: { type: String },
  detail: { type: String },
} as const;

/** What ended the last pause or outage: `resume`, `settings-changed` or `listener-back`. */
const releaseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: CAUSES, required: true },
} as const;

const leaseDefinition = {
  owner: { type: String, required: true },
  /** On mongod's clock. */
  until: { type: Date, required: true },
  /** The owner gets the messages of `dueVotesChannel`, so a cast vote needs no job. */
  listens: { type: Boolean },
  /** A job arrived while the lease was taken: the owner looks for due votes once more. */
  called: { type: Boolean },
  /** The game server came back while the lease was taken: if still unreachable at its end, the test is due at once. */
  testAt: { type: Date },
} as const;

/** Before a rotation. Votes are signed with it too, so the receiver can switch later. */
const previousSecretDefinition = {
  sealed: { type: String, required: true },
  until: { type: Date, required: true },
} as const;

/** An address at which the listener proved that it accepts votes (docs/adr/0020-outgoing-limits.md). */
export const proofDefinition = {
  address: { type: String, required: true },
  at: { type: Date, required: true },
  /** `greeting`: it took a vote in Votifier v1 without confirming it, or over HTTP before challenges existed. */
  by: { type: String, enum: ['greeting', 'acknowledgement'] as const, required: true },
} as const;

/** Votes to be sent again (`resendSilentVotes`). */
const resendOwedDefinition = {
  /** When the token or key was changed: the last attempt is older. */
  at: { type: Date, required: true },
  /** The last delivery before `at`, or 1970: the last attempt is newer. */
  silentSince: { type: Date, required: true },
  /** An e-mail address, or `cli`. */
  by: { type: String, required: true },
} as const;

/** As the owner may see it; texts are made from the codes. */
const testResultDefinition = {
  /** A `DiagnosisStep`: the failed one, or the last. */
  step: { type: String, required: true },
  fault: { type: String },
  reply: { type: String },
  isReplyHidden: { type: Boolean },
  detail: { type: String },
  /** The address and port were those of the game. */
  hasGamePort: { type: Boolean },
} as const;

/** It is not counted and changes neither pause nor breaker. */
const testDefinition = {
  at: { type: Date, required: true },
  code: { type: String, enum: OUTCOME_CODES, required: true },
  /** Absent from older versions, and if the process died before. */
  result: { type: new Schema(testResultDefinition, nested) },
} as const;

/** `service` is absent if the protocol was not recognised. */
const detectedDefinition = {
  at: { type: Date, required: true },
  service: { type: String, enum: Object.keys(OTHER_SERVICES) as OtherService[] },
} as const;

/** Many listeners read Votifier v1 as ASCII: the first vote beyond it. */
const beyondAsciiDefinition = {
  at: { type: Date, required: true },
  voteId: { type: Schema.Types.UUID, required: true },
} as const;

/** No connection is opened until then. */
const limitDefinition = {
  until: { type: Date, required: true },
  by: { type: String, enum: LIMITED_BY, required: true },
} as const;

/** Stored once a minute; more often if `agent` changes or a test waits. */
const fetchDefinition = {
  at: { type: Date, required: true },
  /** `User-Agent`, printable, at most 200 characters. */
  agent: { type: String, default: '' },
} as const;

const listenerDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  protocol: { type: String, enum: PROTOCOLS, required: true },
  /** For fetch, `host` and `sealedSecret` are empty and `port` is 0. */
  host: { type: String, maxlength: 253 },
  port: { type: Number, min: 0, max: 65_535 },
  /** For http: `host` and `port` are derived from it. */
  url: { type: String, default: null, maxlength: 2_048 },
  /** Public key (v1), token (v2) or signing secret (http): see secrets.ts. */
  sealedSecret: { type: String },
  previousSecret: { type: new Schema(previousSecretDefinition, nested), default: null },
  /** If absent, `both` applies. */
  rewards: { type: String, enum: REWARDS },
  /** When `rewards` was last changed. */
  rewardsSince: { type: Date },
  /** Of the voting site. Votifier v2 finds its token by it, so only the owner sets it. */
  serviceName: { type: String, required: true },
  /**
   * Increases with the settings and with a resume. Outcomes of earlier revisions do not change the listener's state.
   */
  revision: { type: Number, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  pause: { type: new Schema(pauseDefinition, nested), default: null },
  breaker: { type: new Schema(breakerDefinition, nested), required: true },
  /** Refused in a row before it took the first one with its current settings. */
  voteFaults: { type: Number, required: true },
  lastDeliveredAt: { type: Date, default: null },
  /** The newest first. Absent from older versions. */
  proven: { type: [new Schema(proofDefinition, nested)], default: undefined },
  limited: { type: new Schema(limitDefinition, nested), default: null },
  /** False if a Votifier v1 listener only closed the connection. */
  lastDeliveryConfirmed: { type: Boolean },
  /** When it first took a vote with its current settings; null before, absent from older versions. */
  acknowledgedAt: { type: Date },
  /** The newest take. */
  fetched: { type: new Schema(fetchDefinition, nested) },
  /** A test waits for a take, and stores the next at once. */
  fetchAwaitedAt: { type: Date },
  tested: { type: new Schema(testDefinition, nested) },
  /** Once for the current settings if it did not greet, and by each test. */
  detected: { type: new Schema(detectedDefinition, nested) },
  beyondAscii: { type: new Schema(beyondAsciiDefinition, nested) },
  /** Of `answerTimeoutMs`. It increases when an answer comes late or not at all. */
  answerStep: { type: Number, min: 0, max: LAST_ANSWER_STEP },
  /** The owner's choice; absent: `MAX_SENDINGS`. */
  maxSendings: { type: Number, min: 1, max: MAX_SENDINGS },
  released: { type: new Schema(releaseDefinition, nested), default: null },
  /** Stored with a new token or key, until the sweep has resent all votes. */
  resendOwed: { type: new Schema(resendOwedDefinition, nested), default: null },
  /** Of the one worker that drains this listener. */
  lease: { type: new Schema(leaseDefinition, nested), default: null },
} as const;

/** A server has at most one. */
export const listenerSchema = new Schema(listenerDefinition, { collection: 'listeners' });
listenerSchema.index({ serverId: 1 }, { unique: true });
// The next indexes have only the few listeners that are paused, unreachable, limited or in a resend.
listenerSchema.index(
  { 'pause.at': 1, 'pause.code': 1 },
  { partialFilterExpression: { 'pause.code': { $exists: true } } },
);
for (const field of ['pause.at', 'breaker.openSince', 'limited.until', 'resendOwed.at'])
  listenerSchema.index({ [field]: 1 }, { partialFilterExpression: { [field]: { $exists: true } } });

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

export const REACHABLE: Breaker = { failures: 0, tests: 0 };

/**
 * The rule by which a vote can be claimed. While `both` applies, a vote that was cast before that, or before there was
 * this listener, follows the rule of `claims`: it can be claimed only if no listener got it.
 */
export function rewardsOfVote(
  listener: Pick<Listener, 'rewards' | 'rewardsSince' | 'createdAt'> | null,
  { votedAt }: { votedAt: Date },
): Rewards {
  const rewards = rewardsOf(listener);
  const since = listener?.rewardsSince ?? listener?.createdAt;
  return rewards === 'both' && since && votedAt < since ? 'claims' : rewards;
}

/** Without a listener, votes can only be claimed. */
export function rewardsOf(listener: Pick<Listener, 'rewards'> | null): Rewards {
  return listener ? (listener.rewards ?? 'both') : 'claims';
}
