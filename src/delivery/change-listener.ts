import type { Document, ObjectId } from 'mongodb';
import type { z } from 'zod';
import { type Listener, REACHABLE } from '../listeners/listener.ts';
import { listenerSettingsSchema } from '../listeners/listener-settings.ts';
import { type ListenerState, listenerState } from '../listeners/listener-state.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import { countWaiting, firstQueuedAt } from './count-votes.ts';
import { parsePublicKey, parseToken, secretContext } from './credentials.ts';
import type { DeliveryDeps } from './deps.ts';
import { removeWaitingVotes } from './leave-queue.ts';
import {
  asLiterals,
  type ListenerSet,
  logChange,
  releasedBy,
  storeListener,
  wake,
} from './store-listener.ts';
import { countSentNotConfirmed, countUnconfirmed } from './unconfirmed-votes.ts';

export type ListenerSettings = z.input<typeof listenerSettingsSchema>;

/** The form in which a pasted key (v1) or token (v2) is sealed. @throws {CredentialError} */
function canonicalSecret(protocol: ListenerSettings['protocol'], secret: string): string {
  return protocol === 'votifier-v1' ? parsePublicKey(secret).line : parseToken(secret);
}

/**
 * Sets or changes a server's Votifier listener (HTTP listeners: http-listeners.ts). A pause because of a configuration
 * error ends, and an open breaker closes. Waiting votes are sent at once, unless the owner paused the listener. With
 * `resendUsedUp`, votes that became unconfirmed with an earlier token or key are sent again.
 *
 * @throws {CredentialError} for a malformed key or token, or if none is given and none of this protocol is stored
 */
export async function setListener(
  deps: DeliveryDeps,
  serverId: ObjectId,
  settings: ListenerSettings,
  by: string,
): Promise<ListenerSet> {
  const { secret, maxSendings, resendUsedUp, rewards, ...rest } = parseInput(
    listenerSettingsSchema,
    settings,
  );
  const { protocol } = rest;
  const context = secretContext({ serverId });
  const entered = secret === null ? null : canonicalSecret(protocol, secret);
  return storeListener(deps, serverId, { by, resendUsedUp, rewards }, (existing) => {
    const currentSealed = existing?.protocol === protocol ? existing.sealedSecret : null;
    // An unchanged secret is sealed again with the current SECRET_KEY, so that an earlier key is no longer needed.
    const secret =
      entered ?? (currentSealed ? deps.secrets.open(currentSealed, context) : canonicalSecret(protocol, ''));
    const sealedSecret = deps.secrets.seal(secret, context);
    const sameSecret =
      currentSealed !== null && (entered === null || isSealed(deps.secrets, currentSealed, context, entered));
    return { fields: { ...rest, url: null, sealedSecret, previousSecret: null, maxSendings }, sameSecret };
  });
}

/** Whether `sealed` contains exactly this secret; false if `sealed` cannot be opened. */
function isSealed(secrets: SecretBox, sealed: string, context: string, secret: string): boolean {
  try {
    return secrets.open(sealed, context) === secret;
  } catch (error) {
    if (error instanceof UnsealError) return false;
    throw error;
  }
}

/** The fields that an owner does not see: secrets, and internal state of the deliveries. */
const HIDDEN = { sealedSecret: 0, previousSecret: 0, released: 0, resendOwed: 0, lease: 0 } as const;

/** A listener as its owner sees it, with counts of its votes. */
export type ListenerView = Omit<Listener, keyof typeof HIDDEN> & {
  state: ListenerState;
  waiting: number;
  /** When the first of the votes that wait or are taken was queued; null if there is none, or it does not fetch. */
  queuedSince: Date | null;
  /** Unconfirmed votes that can still be resent. */
  unconfirmed: number;
  /** Delivered votes that nothing confirmed and that can still be resent. */
  sentNotConfirmed: number;
};

/** A server's listener and its state; null if it has none. Counting of votes stops at `countedAtMost`, if given. */
export async function showListener(
  deps: DeliveryDeps,
  serverId: ObjectId,
  countedAtMost?: number,
): Promise<ListenerView | null> {
  const { listeners, votes } = deps;
  const shown = await listeners.findOne<Omit<Listener, keyof typeof HIDDEN>>(
    { serverId },
    { projection: HIDDEN },
  );
  if (!shown) return null;
  const [waiting, queuedSince, unconfirmed, sentNotConfirmed] = await Promise.all([
    countWaiting(votes, serverId, countedAtMost),
    shown.protocol === 'fetch' ? firstQueuedAt(votes, serverId) : null,
    countUnconfirmed(deps, serverId, countedAtMost),
    countSentNotConfirmed(deps, serverId, countedAtMost),
  ]);
  return { ...shown, state: listenerState(shown), waiting, queuedSince, unconfirmed, sentNotConfirmed };
}

/**
 * Removes a server's listener; null if there was none. If the process dies before all its waiting votes are removed
 * from the queue, the sweep removes the rest. Returns how many were removed; they can be sent later by hand.
 */
export async function removeListener(deps: DeliveryDeps, serverId: ObjectId, by: string) {
  // Votes that are cast later may wait for a new listener, so they stay in the queue.
  const asOf = deps.clock.now();
  const removed = await deps.listeners.findOneAndDelete({ serverId });
  if (!removed) return null;
  await deps.producer.announceDueVotes(serverId.toHexString(), { isChanged: true });
  await recordAudit(deps, {
    by,
    action: 'listener.remove',
    serverId,
    details: removed.protocol === 'fetch' ? {} : { host: removed.host, port: removed.port },
  });
  return removeWaitingVotes(deps, serverId, 'listener-removed', asOf);
}

export async function pauseListener(deps: DeliveryDeps, serverId: ObjectId, by: string) {
  const pause = { at: deps.clock.now(), by: 'owner' };
  const listener = await changeListener(deps, { serverId }, by, 'listener.pause', asLiterals({ pause }));
  if (!listener) return null;
  logChange(deps, listener, 'listener.paused', by);
  await deps.producer.announceDueVotes(serverId.toHexString(), { isChanged: true });
  return listener;
}

/** Ends a listener's pause and its limit of connections, closes its breaker and sends its votes at once. */
export async function resumeListener(deps: DeliveryDeps, serverId: ObjectId, by: string) {
  const listener = await changeListener(deps, { serverId }, by, 'listener.resume', {
    ...asLiterals({ pause: null, breaker: REACHABLE, voteFaults: 0, limited: null }),
    released: releasedBy('resume', deps.clock.now()),
  });
  if (!listener) return null;
  logChange(deps, listener, 'listener.resumed', by);
  await wake(deps, listener, 'resume');
  return listener;
}

/** Changes a listener by aggregation expressions, gives it a new revision and writes an audit entry. */
export async function changeListener(
  { listeners, auditLog, clock }: DeliveryDeps,
  which: { serverId: ObjectId; revision?: number },
  by: string,
  action: AuditAction,
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
