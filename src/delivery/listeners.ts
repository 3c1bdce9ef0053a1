import { type Collection, type Document, ObjectId } from 'mongodb';
import type { z } from 'zod';
import type { Cause } from '../listeners/causes.ts';
import { MAX_SENDINGS } from '../listeners/delivery-limits.ts';
import { wakeListener } from '../listeners/delivery-queues.ts';
import {
  hasTakenVotes,
  type Listener,
  type ListenerState,
  listenerState,
  REACHABLE,
  type ResendOwed,
} from '../listeners/listener.ts';
import { listenerSettingsSchema } from '../listeners/listener-settings.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { checked } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import type { RateLimit } from '../platform/limits/rate-limit.ts';
import type { Logger } from '../platform/log.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { Producer } from '../platform/queues.ts';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import type { Vote } from '../votes/vote.ts';
import { parsePublicKey, parseToken, secretContext } from './credentials.ts';
import { countWaiting } from './drain/waiting-votes.ts';
import { giveBackWaitingVotes } from './leave-queue.ts';
import {
  countSentNotConfirmed,
  countUnconfirmed,
  giveUpSentVotes,
  NEVER,
  resendOwedAfterRemoval,
  resendSilentVotes,
} from './unconfirmed-votes.ts';

/** The dependencies of functions that set up listeners. */
export type ListenerSetup = {
  listeners: Collection<Listener>;
  votes: Collection<Vote>;
  auditLog: Collection<AuditEntry>;
  rateLimits: Collection<RateLimit>;
  secrets: SecretBox;
  producer: Producer;
  clock: Clock;
  log: Logger;
};

export type ListenerSettings = z.input<typeof listenerSettingsSchema>;

/** The stored form of a pasted key or token. Throws a `CredentialError` that says what is wrong with the text. */
function canonicalSecret(protocol: ListenerSettings['protocol'], secret: string): string {
  return protocol === 'votifier-v1' ? parsePublicKey(secret).line : parseToken(secret);
}

/**
 * Sets or changes a server's Votifier listener; for HTTP listeners see http-listeners.ts. A pause because of a
 * configuration error ends, an open breaker closes, and waiting votes are tried at once. Votes that became unconfirmed
 * with an earlier token or key are sent again.
 *
 * @param by - who does it, for the audit log
 * @throws {InvalidDocumentError} for wrong settings; {CredentialError} for a malformed key or token, or if none is
 *   given and none of this protocol is stored; {UnsealError} when the stored one cannot be read
 */
export async function setListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  settings: ListenerSettings,
  by: string,
): Promise<ListenerSet> {
  const { secret, maxSendings, resendUsedUp, ...rest } = parseInput(listenerSettingsSchema, settings);
  const { protocol } = rest;
  const context = secretContext({ serverId });
  const entered = secret === null ? null : canonicalSecret(protocol, secret);
  for (;;) {
    const existing = await deps.listeners.findOne({ serverId });
    const currentSealed = existing?.protocol === protocol ? existing.sealedSecret : null;
    // Sealed again with the current SECRET_KEY, so that an earlier SECRET_KEY is no longer needed.
    const secret =
      entered ?? (currentSealed ? deps.secrets.open(currentSealed, context) : canonicalSecret(protocol, ''));
    const sealedSecret = deps.secrets.seal(secret, context);
    const fields = { ...rest, url: null, sealedSecret, previousSecret: null, maxSendings };
    const sameSecret =
      currentSealed !== null && (entered === null || isSealed(deps.secrets, currentSealed, context, entered));
    const how = { by, existing, sameSecret, resendUsedUp };
    const listener = await storeListener(deps, serverId, fields, how);
    // null: another request changed the listener at the same moment. This change is made again on top of it.
    if (listener) return listener;
  }
}

/** Whether `sealed` contains exactly this secret; false if it cannot be read. */
function isSealed(secrets: SecretBox, sealed: string, context: string, secret: string): boolean {
  try {
    return secrets.open(sealed, context) === secret;
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}

/** The owner's settings of a listener, with sealed secrets. */
type ListenerFields = Pick<
  Listener,
  'protocol' | 'host' | 'port' | 'url' | 'serviceName' | 'sealedSecret' | 'previousSecret'
> & {
  /** Unchanged when absent. */
  maxSendings?: number | undefined;
};

/**
 * A listener that was set, with the number of unconfirmed votes that are sent again because its token or key changed.
 */
export type ListenerSet = Listener & {
  /** How many votes are sent again. */
  resent: number;
  /** Whether the token, key, protocol or service name is different from before. */
  isCredentialsChange: boolean;
};

/** Options for setting a listener. */
type SetListenerOptions = {
  by: string;
  /** The listener as it was read before; null if there was none. */
  existing: Listener | null;
  /** The token, key or secret is unchanged. */
  sameSecret: boolean;
  resendUsedUp: boolean;
};

/**
 * Stores a listener's settings, clears its pause and breaker, and wakes its votes.
 *
 * @returns null, and nothing is stored, when the listener is no longer `existing`
 */
export async function storeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  fields: ListenerFields,
  { by, existing, sameSecret, resendUsedUp }: SetListenerOptions,
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
  const resends = resendUsedUp ? { at: changed.updatedAt, by } : null;
  const listener = existing
    ? await update(deps, existing, changed, { sameCredentials, sameAddress, resends })
    : await insert(deps, serverId, changed, resends);
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
  await giveUpSentVotes(deps, listener);
  const { resent } = await resendSilentVotes(deps, listener);
  await wake(deps, listener, 'settings-changed');
  // The takes that wait for votes of the earlier listener are answered now.
  if (existing?.protocol === 'fetch' && protocol !== 'fetch')
    await deps.producer.wakeTakes(serverId.toHexString());
  return { ...listener, resent, isCredentialsChange: !sameCredentials };
}

type Changed = Omit<
  Listener,
  | '_id'
  | 'serverId'
  | 'revision'
  | 'createdAt'
  | 'pause'
  | 'lastDeliveredAt'
  | 'proven'
  | 'lastDeliveryConfirmed'
  | 'acknowledgedAt'
  | 'answerStep'
  | 'tested'
  | 'fetched'
  | 'fetchAwaitedAt'
  | 'released'
  | 'resendOwed'
  | 'lease'
>;

/**
 * Who set the new token or key, and when: votes that are unconfirmed because of the earlier one are sent again. null:
 * they are not.
 */
type Resends = Pick<ResendOwed, 'at' | 'by'> | null;

/** The settings that identify a listener. */
const ADDRESS_FIELDS = ['protocol', 'host', 'port', 'url'] as const;

/** @param same - which settings are unchanged, so that what is stored about them stays */
function update(
  { listeners }: ListenerSetup,
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
  // If the owner paused the listener, it stays paused when the settings change. A pause because of a configuration
  // error ends.
  const isPausedByOwner = { $eq: ['$pause.by', 'owner'] };
  const pause = { $cond: [isPausedByOwner, '$pause', null] };
  const release = releasedBy('settings-changed', changed.updatedAt);
  const released = { $cond: [isPausedByOwner, { $ifNull: ['$released', null] }, release] };
  // A proof belongs to one address and is void for another.
  const unproven = same.sameAddress ? {} : { proven: [] };
  const resendOwed = resends && owedAfter(same.sameCredentials, resends);
  const updated = {
    ...known,
    ...unproven,
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

/**
 * A listener's `resendOwed` after a change of its settings. It is stored together with the settings: if the process
 * dies right afterwards, the resend is not lost. If the same settings are stored again, it stays.
 */
function owedAfter(sameCredentials: boolean, { at, by }: NonNullable<Resends>): Document {
  if (sameCredentials) return { $ifNull: ['$resendOwed', null] };
  const silentSince = { $ifNull: ['$resendOwed.silentSince', '$lastDeliveredAt', NEVER] };
  return { ...asLiterals({ at, by }), silentSince };
}

/**
 * A listener's `released` when `by` lets its waiting votes go out; unchanged if the listener was neither paused nor
 * unreachable.
 */
function releasedBy(by: Cause, at: Date): Document {
  const wasBlocked = { $or: [{ $gt: ['$pause', null] }, { $gt: ['$breaker.openSince', null] }] };
  return { $cond: [wasBlocked, { by, at }, { $ifNull: ['$released', null] }] };
}

/**
 * The values as literals of an aggregation pipeline: without this, a text that begins with `$` would be read as a
 * field.
 */
export function asLiterals(values: Document): Document {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { $literal: value }]));
}

async function insert(
  deps: ListenerSetup,
  serverId: ObjectId,
  changed: Changed,
  resends: Resends,
): Promise<Listener | null> {
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

/** A listener as its owner sees it, without the secret. */
export type ListenerView = Omit<
  Listener,
  'sealedSecret' | 'previousSecret' | 'released' | 'resendOwed' | 'lease'
> & {
  state: ListenerState;
  waiting: number;
  /** Votes that were given up without an answer. Only the owner can send them again. */
  unconfirmed: number;
  /** Delivered votes that were not confirmed: the Votifier v1 listener closed the connection without an answer. */
  sentNotConfirmed: number;
};

/**
 * A server's listener and its state; null when it has none.
 *
 * @param countedAtMost - counting of votes stops at this number; no limit by default
 */
export async function showListener(
  { listeners, votes, clock }: Pick<ListenerSetup, 'listeners' | 'votes' | 'clock'>,
  serverId: ObjectId,
  countedAtMost?: number,
): Promise<ListenerView | null> {
  const found = await listeners.findOne({ serverId });
  if (!found) return null;
  const {
    sealedSecret: _,
    previousSecret: __,
    released: ___,
    resendOwed: ____,
    lease: _____,
    ...shown
  } = found;
  const [waiting, unconfirmed, sentNotConfirmed] = await Promise.all([
    countWaiting(votes, serverId, countedAtMost),
    countUnconfirmed({ votes, clock }, serverId, countedAtMost),
    countSentNotConfirmed({ votes, clock }, serverId, countedAtMost),
  ]);
  return { ...shown, state: listenerState(found), waiting, unconfirmed, sentNotConfirmed };
}

/**
 * Removes a server's listener. Its waiting votes are no longer forwarded, but can be sent later by hand. If the process
 * dies half-way, the sweep removes the rest from the queue.
 *
 * @returns how many votes were removed from the queue, or null when there was no listener
 */
export async function removeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<number | null> {
  // Votes that are cast after this moment may wait for a new listener.
  const asOf = deps.clock.now();
  const removed = await deps.listeners.findOneAndDelete({ serverId });
  if (!removed) return null;
  if (removed.protocol === 'fetch') await deps.producer.wakeTakes(serverId.toHexString());
  await recordAudit(deps, {
    by,
    action: 'listener.remove',
    serverId,
    details: removed.protocol === 'fetch' ? {} : { host: removed.host, port: removed.port },
  });
  return giveBackWaitingVotes(deps, serverId, 'listener-removed', asOf);
}

/** Pauses a server's listener until it is resumed. Returns the listener, or null when there is none. */
export async function pauseListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<Listener | null> {
  const pause = { at: deps.clock.now(), by: 'owner' };
  const listener = await changeListener(deps, { serverId }, by, 'listener.pause', asLiterals({ pause }));
  if (listener) logChange(deps, listener, 'listener.paused', by);
  return listener;
}

function logChange({ log }: ListenerSetup, { serverId, _id }: Listener, event: string, by: string): void {
  log.info({ event, serverId: serverId.toHexString(), listenerId: _id.toHexString(), by });
}

/**
 * Ends a listener's pause or closes its breaker, and tries its votes at once. Returns the listener, or null when there
 * is none.
 */
export async function resumeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<Listener | null> {
  const listener = await changeListener(deps, { serverId }, by, 'listener.resume', {
    ...asLiterals({ pause: null, breaker: REACHABLE, voteFaults: 0, limited: null }),
    released: releasedBy('resume', deps.clock.now()),
  });
  if (!listener) return null;
  logChange(deps, listener, 'listener.resumed', by);
  await wake(deps, listener, 'resume');
  return listener;
}

/**
 * Changes a listener, gives it a new revision and writes the change to the audit log. Returns null when no listener
 * matches `which`.
 *
 * @param set - fields and their new values, as aggregation expressions
 */
export async function changeListener(
  { listeners, auditLog, clock }: Pick<ListenerSetup, 'listeners' | 'auditLog' | 'clock'>,
  which: { serverId: ObjectId; revision?: number },
  by: string,
  action: string,
  set: Document,
): Promise<Listener | null> {
  const listener = await listeners.findOneAndUpdate(
    which,
    [{ $set: { ...set, revision: { $add: ['$revision', 1] } } }],
    { returnDocument: 'after' },
  );
  if (listener) {
    const { serverId, revision } = listener;
    await recordAudit({ auditLog, clock }, { by, action, serverId, details: { revision } });
  }
  return listener;
}

/**
 * Adds a wake-up job that starts at once, even if a delayed one exists because the listener was unreachable. Votes
 * whose own retry is not due yet are sent too.
 */
async function wake(
  { votes, producer, clock }: ListenerSetup,
  listener: Listener,
  by: Cause,
): Promise<boolean> {
  const { serverId } = listener;
  const now = clock.now();
  await votes.updateMany(
    { serverId, 'delivery.state': 'waiting', 'delivery.nextAt': { $gt: now } },
    { $set: { 'delivery.nextAt': now, 'delivery.dueBy': by } },
  );
  return wakeListener(producer, listener, { hasten: true });
}

/** Fails the waiting votes of a removed server. Safe to run again. Returns how many there were. */
export function failWaitingVotes(
  deps: Pick<ListenerSetup, 'votes' | 'clock'>,
  serverId: ObjectId,
): Promise<number> {
  return giveBackWaitingVotes(deps, serverId, 'server-removed');
}
