import { type Document, ObjectId } from 'mongodb';
import type { Cause } from '../listeners/causes.ts';
import { MAX_SENDINGS, maxSendingsOf } from '../listeners/delivery-limits.ts';
import { wakeListener } from '../listeners/delivery-queues.ts';
import { type Listener, REACHABLE, type ResendOwed, type Rewards } from '../listeners/listener.ts';
import { hasTakenVotes } from '../listeners/listener-state.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { checked } from '../platform/document.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { DeliveryDeps } from './deps.ts';
import { giveUpAllSentVotes } from './drain/sent-votes.ts';
import { NEVER, resendOwedAfterRemoval, resendSilentVotes } from './unconfirmed-votes.ts';

type ListenerFields = Pick<
  Listener,
  'protocol' | 'host' | 'port' | 'url' | 'serviceName' | 'sealedSecret' | 'previousSecret'
>;

export type ListenerSet = Listener & {
  /** Unconfirmed votes that are sent again because the token or key changed. */
  resent: number;
  /** The token, key, protocol or service name. */
  isCredentialsChange: boolean;
};

type SetListenerOptions = {
  by: string;
  /** Votes that became unconfirmed with the earlier token or key are sent again. */
  resendUsedUp: boolean;
  /** Absent if nobody has chosen yet. */
  rewards?: Rewards | undefined;
};

/** Without `maxSendings` the stored value stays. `sameSecret`: the token, key or secret is unchanged. */
type NewSettings = { fields: ListenerFields & { maxSendings?: number | undefined }; sameSecret: boolean };

/**
 * Stores a listener's settings, closes its breaker, ends a pause for a configuration error and makes its votes due.
 * `settingsFor` is called again with the listener that another request has changed meanwhile.
 */
export async function storeListener(
  deps: DeliveryDeps,
  serverId: ObjectId,
  options: SetListenerOptions,
  settingsFor: (existing: Listener | null) => NewSettings,
): Promise<ListenerSet> {
  for (;;) {
    const existing = await deps.listeners.findOne({ serverId });
    const listener = await storeIfUnchanged(deps, serverId, existing, settingsFor(existing), options);
    if (listener) return listener;
  }
}

/** Stores nothing and returns null if another request has changed the listener since `existing` was read. */
async function storeIfUnchanged(
  deps: DeliveryDeps,
  serverId: ObjectId,
  existing: Listener | null,
  { fields, sameSecret }: NewSettings,
  { by, resendUsedUp, rewards }: SetListenerOptions,
): Promise<ListenerSet | null> {
  const { protocol, host, port, url, serviceName } = fields;
  const changed = {
    ...fields,
    maxSendings: fields.maxSendings ?? existing?.maxSendings ?? MAX_SENDINGS,
    updatedAt: deps.clock.now(),
    breaker: REACHABLE,
    voteFaults: 0,
    limited: null,
  };
  const sameCredentials =
    sameSecret && existing?.protocol === protocol && existing.serviceName === serviceName;
  const sameAddress =
    existing !== null && ADDRESS_FIELDS.every((key) => (existing[key] ?? null) === (fields[key] ?? null));
  // If votes may be sent once, only a person sends one again that may have arrived.
  const resends = resendUsedUp && maxSendingsOf(changed) > 1 ? { at: changed.updatedAt, by } : null;
  const listener = existing
    ? await update(deps, existing, changed, { sameCredentials, sameAddress, resends })
    : await insert(deps, serverId, { ...changed, ...(rewards ? { rewards } : {}) }, resends);
  if (!listener) return null;
  await recordAudit(deps, {
    by,
    action: 'listener.set',
    serverId,
    details: {
      protocol,
      ...(protocol === 'fetch' ? {} : { host, port }),
      ...(url ? { url } : {}),
      serviceName,
      revision: listener.revision,
    },
  });
  logChange(deps, listener, 'listener.set', by);
  await giveUpAllSentVotes(deps.votes, listener);
  const { resent } = await resendSilentVotes(deps, listener);
  await wake(deps, listener, 'settings-changed');
  // If the listener fetched before, its waiting takes get no votes any more, so they are answered now.
  if (existing?.protocol === 'fetch' && protocol !== 'fetch')
    await deps.producer.announceDueVotes(serverId.toHexString());
  return { ...listener, resent, isCredentialsChange: !sameCredentials };
}

type Changed = ListenerFields &
  Pick<Listener, 'maxSendings' | 'updatedAt' | 'breaker' | 'voteFaults' | 'limited' | 'rewards'>;

/** If null, votes that an earlier token or key left unconfirmed are not resent. */
type Resends = Pick<ResendOwed, 'at' | 'by'> | null;

const ADDRESS_FIELDS = ['protocol', 'host', 'port', 'url'] as const;

/** Null as for `storeIfUnchanged`. `same`: what is unchanged. */
function update(
  { listeners }: DeliveryDeps,
  existing: Listener,
  changed: Changed,
  { resends, ...same }: { sameCredentials: boolean; sameAddress: boolean; resends: Resends },
): Promise<Listener | null> {
  const { _id, serverId, revision } = existing;
  const taken = hasTakenVotes(existing) ? (existing.lastDeliveredAt ?? null) : null;
  const known =
    same.sameCredentials && same.sameAddress
      ? { acknowledgedAt: { $ifNull: ['$acknowledgedAt', taken] } }
      : { acknowledgedAt: null, answerStep: 0 };
  // The owner's pause stays; one because of a configuration error ends.
  const isPausedByOwner = { $eq: ['$pause.by', 'owner'] };
  const pause = { $cond: [isPausedByOwner, '$pause', null] };
  const release = releasedBy('settings-changed', changed.updatedAt);
  const released = { $cond: [isPausedByOwner, { $ifNull: ['$released', null] }, release] };
  const noProof = same.sameAddress ? {} : { proven: [] };
  const resendOwed = resends && owedAfter(same.sameCredentials, resends);
  const updated = {
    ...known,
    ...noProof,
    pause,
    released,
    resendOwed,
    revision: { $add: ['$revision', 1] },
  };
  return listeners.findOneAndUpdate(
    { serverId, _id, revision },
    [{ $set: { ...asLiterals(changed), ...updated } }],
    { returnDocument: 'after' },
  );
}

/** Stored together with the settings: if the process dies right afterwards, the resend is not lost. */
function owedAfter(sameCredentials: boolean, { at, by }: NonNullable<Resends>): Document {
  if (sameCredentials) return { $ifNull: ['$resendOwed', null] };
  const silentSince = { $ifNull: ['$resendOwed.silentSince', '$lastDeliveredAt', NEVER] };
  return { ...asLiterals({ at, by }), silentSince };
}

/** The new `released`, as an expression: of a listener that was paused or unreachable, `by` lets its votes go out. */
export function releasedBy(by: Cause, at: Date): Document {
  const wasBlocked = { $or: [{ $gt: ['$pause', null] }, { $gt: ['$breaker.openSince', null] }] };
  return { $cond: [wasBlocked, { by, at }, { $ifNull: ['$released', null] }] };
}

/** Otherwise a text that begins with `$` would name a field. */
export function asLiterals(values: Document): Document {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { $literal: value }]));
}

async function insert(deps: DeliveryDeps, serverId: ObjectId, changed: Changed, resends: Resends) {
  const listener = await checked<Listener>(deps.listeners, {
    _id: new ObjectId(),
    serverId,
    ...changed,
    revision: 1,
    createdAt: changed.updatedAt,
    pause: null,
    lastDeliveredAt: null,
    proven: [],
    acknowledgedAt: null,
    answerStep: 0,
    released: null,
    resendOwed: resends && (await resendOwedAfterRemoval(deps, serverId, resends)),
    lease: null,
  });
  try {
    await deps.listeners.insertOne(listener);
    return listener;
  } catch (error) {
    if (isDuplicateKey(error)) return null;
    throw error;
  }
}

export function logChange(
  { log }: DeliveryDeps,
  { serverId, _id }: Listener,
  event: string,
  by: string,
): void {
  log.info({ event, serverId: serverId.toHexString(), listenerId: _id.toHexString(), by });
}

/** Makes votes that wait for their own retry due now. A delayed job of an unreachable listener starts at once. */
export async function wake({ votes, producer, clock }: DeliveryDeps, listener: Listener, by: Cause) {
  const { serverId } = listener;
  const now = clock.now();
  await votes.updateMany(
    { serverId, 'delivery.state': 'waiting', 'delivery.nextAt': { $gt: now } },
    { $set: { 'delivery.nextAt': now, 'delivery.dueBy': by } },
  );
  return wakeListener(producer, listener, { hasten: true });
}
