import { type Collection, type Document, ObjectId } from 'mongodb';
import type { z } from 'zod';
import type { Cause } from '../listeners/causes.ts';
import { MAX_SENDINGS } from '../listeners/delivery-limits.ts';
import { wakeListener } from '../listeners/delivery-queues.ts';
import { type Listener, REACHABLE, type ResendOwed } from '../listeners/listener.ts';
import { listenerSettingsSchema } from '../listeners/listener-settings.ts';
import { hasTakenVotes, type ListenerState, listenerState } from '../listeners/listener-state.ts';
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

/** What setting up listeners works on. */
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

/** The canonical form of a pasted key or token. Throws a `CredentialError` that says what is wrong with it. */
function canonicalSecret(protocol: ListenerSettings['protocol'], secret: string): string {
  return protocol === 'votifier-v1' ? parsePublicKey(secret).line : parseToken(secret);
}

/**
 * Sets or changes a server's Votifier listener; for HTTP listeners see http-listeners.ts. A pause for a configuration
 * error and an open breaker are cleared, waiting votes are tried at once, and votes that became unconfirmed with an earlier
 * token or key are sent again.
 *
 * @param by - who does it, for the audit log
 * @throws {InvalidDocumentError} for wrong settings; {CredentialError} for a malformed key or token, or a missing one when
 *   none of this protocol is set; {UnsealError} when the current one cannot be read
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
    // Sealed again with the current SECRET_KEY: an earlier key is then no longer needed.
    const secret =
      entered ?? (currentSealed ? deps.secrets.open(currentSealed, context) : canonicalSecret(protocol, ''));
    const sealedSecret = deps.secrets.seal(secret, context);
    const fields = { ...rest, url: null, sealedSecret, previousSecret: null, maxSendings };
    const sameSecret =
      currentSealed !== null && (entered === null || isSealed(deps.secrets, currentSealed, context, entered));
    const how = { by, existing, sameSecret, resendUsedUp };
    const listener = await storeListener(deps, serverId, fields, how);
    // Otherwise somebody set it at the same moment: the later one wins.
    if (listener) return listener;
  }
}

/** Whether `sealed` contains exactly this secret. One that cannot be read is considered different. */
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

/** A listener that was set, and what happened to the votes that are unconfirmed because of an earlier token or key. */
export type ListenerSet = Listener & {
  /** Votes that are sent again. */
  resent: number;
  /** Whether the token, key, protocol or service name is different from before. */
  isCredentialsChange: boolean;
};

/** Options for setting a listener. */
type SetListenerOptions = {
  by: string;
  /** The listener that was read before; null: there was none. */
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
    details: { protocol, host, port, ...(url ? { url } : {}), serviceName, revision: listener.revision },
  });
  logChange(deps, listener, 'listener.set', by);
  await giveUpSentVotes(deps, listener);
  const { resent } = await resendSilentVotes(deps, listener);
  await wake(deps, listener, 'settings-changed');
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
  | 'detected'
  | 'beyondAscii'
  | 'released'
  | 'resendOwed'
  | 'lease'
>;

/** Who requests that votes unconfirmed with an earlier token or key are sent again, and when; null: they are not. */
type Resends = Pick<ResendOwed, 'at' | 'by'> | null;

/** The settings that identify a listener. */
const ADDRESS_FIELDS = ['protocol', 'host', 'port', 'url'] as const;

/** @param same - which settings are unchanged: what is known about them is preserved */
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
  // A pause by the owner survives a change of settings; a pause for a configuration error does not.
  const isPausedByOwner = { $eq: ['$pause.by', 'owner'] };
  const pause = { $cond: [isPausedByOwner, '$pause', null] };
  const release = releasedBy('settings-changed', changed.updatedAt);
  const released = { $cond: [isPausedByOwner, { $ifNull: ['$released', null] }, release] };
  // A proof for one address says nothing about another.
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
 * A listener's `resendOwed` after a change. Stored with the change: if the process dies right after it, the resend is not
 * lost, and storing the same settings again does not clear it.
 */
function owedAfter(sameCredentials: boolean, { at, by }: NonNullable<Resends>): Document {
  if (sameCredentials) return { $ifNull: ['$resendOwed', null] };
  const silentSince = { $ifNull: ['$resendOwed.silentSince', '$lastDeliveredAt', NEVER] };
  return { ...asLiterals({ at, by }), silentSince };
}

/** A listener's `released` when `by` releases its votes; unchanged if they were not blocked. */
function releasedBy(by: Cause, at: Date): Document {
  const wasBlocked = { $or: [{ $gt: ['$pause', null] }, { $gt: ['$breaker.openSince', null] }] };
  return { $cond: [wasBlocked, { by, at }, { $ifNull: ['$released', null] }] };
}

/** Values in an aggregation pipeline, where a `$` at the beginning of a text would mean a field. */
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

/** A listener as its owner sees it, without its secret. */
export type ListenerView = Omit<
  Listener,
  'sealedSecret' | 'previousSecret' | 'released' | 'resendOwed' | 'lease'
> & {
  state: ListenerState;
  waiting: number;
  /** Given up without an answer: only their owner sends them again. */
  unconfirmed: number;
  /** Delivered, but not confirmed: a Votifier v1 listener closed without an answer. */
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
 * Removes a server's listener. Its waiting votes are kept but no longer forwarded; they can be sent later by hand. If the
 * process dies half-way, the sweep finishes it.
 *
 * @returns how many votes were released, or null when there was no listener
 */
export async function removeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<number | null> {
  // Votes that are cast later may wait for a listener that is set meanwhile.
  const asOf = deps.clock.now();
  const removed = await deps.listeners.findOneAndDelete({ serverId });
  if (!removed) return null;
  await recordAudit(deps, {
    by,
    action: 'listener.remove',
    serverId,
    details: { host: removed.host, port: removed.port },
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

/** Retries a paused or unreachable listener at once. Returns it, or null when there is none. */
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
 * Changes a listener under a new revision and records it; null when none matches `which`.
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
 * Starts a drain at once, even if a delayed one is planned because the listener was unreachable. Votes that wait for their
 * own next time are sent too.
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

/** Fails the waiting votes of a server that is removed. Safe to run again. Returns how many. */
export function failWaitingVotes(
  deps: Pick<ListenerSetup, 'votes' | 'clock'>,
  serverId: ObjectId,
): Promise<number> {
  return giveBackWaitingVotes(deps, serverId, 'server-removed');
}
