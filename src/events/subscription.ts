import { type InferRawDocType, Schema } from 'mongoose';
import { type ListenerProof, proofDefinition } from '../listeners/listener.ts';
import type { Nested } from '../platform/document.ts';
import { EVENT_KIND_NAMES, type EventKind } from './kinds.ts';

/** Of a server. */
export const MOST_SUBSCRIPTIONS = 10;
/** Of a subscription; beyond it the oldest are dropped, and the page says how many. */
export const MOST_WAITING = 10_000;

/** `http`: signed as Standard Webhooks requires. `discord`: a message to a webhook of Discord. */
export const SUBSCRIPTION_TYPES = ['http', 'discord'] as const;
export type SubscriptionType = (typeof SUBSCRIPTION_TYPES)[number];

const nested = { _id: false } as const;

const previousSecretDefinition = {
  sealed: { type: String, required: true },
  until: { type: Date, required: true },
} as const;

/** `by`: the owner; `failures`, after a day of them; `gone`: HTTP 410, or Discord knows no such webhook any more. */
const pauseDefinition = {
  at: { type: Date, required: true },
  by: { type: String, enum: ['owner', 'failures', 'gone'] as const, required: true },
  reason: { type: String },
} as const;

const leaseDefinition = {
  owner: { type: String, required: true },
  /** On mongod's clock. */
  until: { type: Date, required: true },
} as const;

const droppedDefinition = {
  count: { type: Number, required: true },
  at: { type: Date, required: true },
} as const;

const subscriptionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  /** 0 to 9: with its unique index, a race of two adds cannot make an eleventh. */
  slot: { type: Number, required: true, min: 0, max: MOST_SUBSCRIPTIONS - 1 },
  type: { type: String, enum: SUBSCRIPTION_TYPES, required: true },
  /** Chosen by the owner, to tell destinations apart. */
  name: { type: String, required: true, maxlength: 120 },
  kinds: { type: [String], enum: EVENT_KIND_NAMES, required: true },
  /** Only of `http`. */
  url: { type: String, maxlength: 2_048 },
  /** The signing secret; for Discord the webhook's id, token and thread, as they let anybody write to the channel. */
  sealedSecret: { type: String, required: true },
  previousSecret: { type: new Schema(previousSecretDefinition, nested) },
  /** Only of Discord: the last digits of the webhook's id. */
  ending: { type: String },
  /** Only of Discord: the owner's text for votes, with placeholders. */
  template: { type: String, maxlength: 1_000 },
  /** Increases with the settings: an outcome of earlier ones does not change the state. */
  revision: { type: Number, required: true },
  createdAt: { type: Date, required: true },
  /** Earlier events are not sent to it. */
  since: { type: Date, required: true },
  pause: { type: new Schema(pauseDefinition, nested) },
  /** Absent while its last attempt succeeded. */
  failingSince: { type: Date },
  /** Failed passes in a row: the delay before the next one grows with it. */
  failures: { type: Number, required: true },
  lastReason: { type: String },
  lastSentAt: { type: Date },
  /** An attempt took long: until then it runs beside few others, so that it cannot delay quick destinations. */
  slowUntil: { type: Date },
  /** The addresses of `http` that repeated a challenge. */
  proven: { type: [new Schema(proofDefinition, nested)], default: undefined },
  dropped: { type: new Schema(droppedDefinition, nested) },
  /** When its next events are due; absent if none waits. A new event sets it to now, whatever `notBefore` says. */
  nextPassAt: { type: Date },
  /** After a failure, or if the destination asked for it: nothing is sent before. */
  notBefore: { type: Date },
  /** Increases with each stored event: a pass that has not seen the newest does not move `nextPassAt` away. */
  calls: { type: Number, required: true },
  lease: { type: new Schema(leaseDefinition, nested) },
} as const;

/** Gets the events of a server at one destination (docs/adr/0151-events-and-subscriptions.md). */
export const subscriptionSchema = new Schema(subscriptionDefinition, { collection: 'subscriptions' });
subscriptionSchema.index({ serverId: 1, slot: 1 }, { unique: true });
subscriptionSchema.index({ serverId: 1, kinds: 1 });
subscriptionSchema.index({ kinds: 1, serverId: 1 });
subscriptionSchema.index({ nextPassAt: 1 }, { partialFilterExpression: { nextPassAt: { $exists: true } } });

export type SubscriptionPause = Omit<Nested<typeof pauseDefinition>, 'reason'> & { reason?: string };

type Inferred = Omit<InferRawDocType<typeof subscriptionDefinition>, 'kinds' | 'pause' | 'proven'>;
/** An absent field is never null. */
export type Subscription = { [Field in keyof Inferred]: Exclude<Inferred[Field], null> } & {
  kinds: EventKind[];
  pause?: SubscriptionPause;
  proven?: ListenerProof[];
};

export type SubscriptionState =
  | 'paused'
  | 'paused-after-failures'
  | 'gone'
  | 'failing'
  | 'works'
  | 'nothing-sent';

const PAUSES = { owner: 'paused', failures: 'paused-after-failures', gone: 'gone' } as const;

export function subscriptionState({
  pause,
  failingSince,
  lastSentAt,
}: Pick<Subscription, 'pause' | 'failingSince' | 'lastSentAt'>): SubscriptionState {
  if (pause) return PAUSES[pause.by];
  if (failingSince) return 'failing';
  return lastSentAt ? 'works' : 'nothing-sent';
}
