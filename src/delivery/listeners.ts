import { type Collection, type Document, ObjectId } from 'mongodb';
import { z } from 'zod';
import { isRefusedPort } from '../address-guard.ts';
import { type AuditEntry, recordAudit } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { checked } from '../document.ts';
import { hostSchema, parseInput } from '../input.ts';
import type { Logger } from '../log.ts';
import { isDuplicateKey } from '../mongo.ts';
import type { Producer } from '../queues.ts';
import type { SecretBox } from '../secrets.ts';
import type { Vote } from '../votes/vote.ts';
import type { Cause } from './causes.ts';
import { parsePublicKey, parseToken } from './credentials.ts';
import { releaseWaitingVotes } from './leave-line.ts';
import { type Listener, type ListenerState, listenerSchema, listenerState, REACHABLE } from './listener.ts';
import { secretContext } from './send-vote.ts';
import { countWaiting } from './waiting-votes.ts';

/** What setting up listeners works on. */
export type ListenerSetup = {
  listeners: Collection<Listener>;
  votes: Collection<Vote>;
  auditLog: Collection<AuditEntry>;
  secrets: SecretBox;
  producer: Producer;
  clock: Clock;
  log: Logger;
};

/** The port of a listener. */
export const listenerPort = z
  .int('port must be a whole number, 1 to 65535')
  .min(1, 'port must be a whole number, 1 to 65535')
  .max(65_535, 'port must be a whole number, 1 to 65535')
  .refine((port) => !isRefusedPort(port), 'port 22, 25, 465 and 587 are never a vote listener');

/**
 * Where votes go, as an owner of a Votifier enters it. `secret`: the public key (v1) or the token (v2); null keeps
 * the one that is set.
 */
const listenerSettingsSchema = z.object({
  protocol: z.enum(['votifier-v1', 'votifier-v2']),
  host: hostSchema,
  port: listenerPort,
  secret: z.string().nullable(),
  serviceName: z
    .string()
    .trim()
    .min(1, 'service name must not be empty')
    .max(64, 'service name must have at most 64 characters')
    .regex(/^\P{Cc}*$/u, 'service name must have no control characters'),
});

export type ListenerSettings = z.input<typeof listenerSettingsSchema>;

/** The canonical form of a pasted key or token. Throws a `CredentialError` that says what is wrong with it. */
function canonicalSecret(protocol: ListenerSettings['protocol'], secret: string): string {
  return protocol === 'votifier-v1' ? parsePublicKey(secret).line : parseToken(secret);
}

/**
 * Sets or changes a server's Votifier listener; for one that takes HTTP see http-listeners.ts. What stood in the way before (a pause for a fault of
 * configuration, an open breaker) is forgotten, and waiting votes are tried at once.
 *
 * @param by - who does it, for the audit log
 * @throws {InvalidDocumentError} for wrong settings; {CredentialError} for a key or token of the wrong shape, or
 *   none where none of this protocol is set; {UnsealError} when the one to be kept cannot be read
 */
export async function setListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  settings: ListenerSettings,
  by: string,
): Promise<Listener> {
  const { secret, ...rest } = parseInput(listenerSettingsSchema, settings);
  const { protocol } = rest;
  const context = secretContext({ serverId });
  const entered = secret === null ? null : canonicalSecret(protocol, secret);
  for (;;) {
    const standing = await deps.listeners.findOne({ serverId });
    const kept = standing?.protocol === protocol ? standing.sealedSecret : null;
    // Sealed anew: a SECRET_KEY that was changed meanwhile is then done with.
    const held = entered ?? (kept ? deps.secrets.open(kept, context) : canonicalSecret(protocol, ''));
    const sealedSecret = deps.secrets.seal(held, context);
    const placed = { ...rest, url: null, sealedSecret, previousSecret: null };
    const listener = await placeListener(deps, serverId, placed, { by, standing });
    // Otherwise somebody set it in the same moment: the later one stands.
    if (listener) return listener;
  }
}

/** What an owner decides of a listener, its secrets sealed. */
type Placed = Pick<
  Listener,
  'protocol' | 'host' | 'port' | 'url' | 'serviceName' | 'sealedSecret' | 'previousSecret'
>;

/**
 * Stores a listener's settings, forgets what stood in the way before, and wakes its votes.
 *
 * @param standing - the listener that was read before (null: there was none): where another one stands by now,
 *   nothing is stored and null is returned
 */
export async function placeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  placed: Placed,
  { by, standing }: { by: string; standing: Pick<Listener, '_id' | 'revision'> | null },
): Promise<Listener | null> {
  const changed = {
    ...placed,
    updatedAt: deps.clock.now(),
    breaker: REACHABLE,
    voteFaults: 0,
    limited: null,
  };
  const listener = standing
    ? await update(deps, serverId, standing, changed)
    : await insert(deps, serverId, changed);
  if (!listener) return null;
  const { protocol, host, port, url, serviceName } = placed;
  await recordAudit(deps, {
    by,
    action: 'listener.set',
    serverId,
    details: { protocol, host, port, ...(url ? { url } : {}), serviceName, revision: listener.revision },
  });
  logChange(deps, listener, 'listener.set', by);
  await wake(deps, listener, 'settings-changed');
  return listener;
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
  | 'released'
  | 'lease'
>;

function update(
  { listeners }: ListenerSetup,
  serverId: ObjectId,
  { _id, revision }: Pick<Listener, '_id' | 'revision'>,
  changed: Changed,
): Promise<Listener | null> {
  // An owner's own pause outlives a change of settings; one for a fault of configuration does not.
  const held = { $eq: ['$pause.by', 'owner'] };
  const pause = { $cond: [held, '$pause', null] };
  const release = releasedBy('settings-changed', changed.updatedAt);
  const released = { $cond: [held, { $ifNull: ['$released', null] }, release] };
  // What was proven at one place says nothing of another.
  const isSamePlace = PLACE.map((key) => ({ $eq: [`$${key}`, { $literal: changed[key] ?? null }] }));
  const proven = { $cond: [{ $and: isSamePlace }, '$proven', []] };
  const set = { ...literally(changed), pause, released, proven, revision: { $add: ['$revision', 1] } };
  return listeners.findOneAndUpdate({ serverId, _id, revision }, [{ $set: set }], {
    returnDocument: 'after',
  });
}

/** What makes a listener another one. */
const PLACE = ['protocol', 'host', 'port', 'url'] as const;

/** A listener's `released` when `by` lets its votes go, which it does only where they were held. */
function releasedBy(by: Cause, at: Date): Document {
  const held = { $or: [{ $gt: ['$pause', null] }, { $gt: ['$breaker.openSince', null] }] };
  return { $cond: [held, { by, at }, { $ifNull: ['$released', null] }] };
}

/** Values in an aggregation pipeline, where a `$` at the beginning of a text would mean a field. */
export function literally(values: Document): Document {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { $literal: value }]));
}

async function insert(deps: ListenerSetup, serverId: ObjectId, changed: Changed): Promise<Listener | null> {
  const listener = await checked<Listener>(listenerSchema, {
    _id: new ObjectId(),
    serverId,
    ...changed,
    revision: 1,
    createdAt: changed.updatedAt,
    pause: null,
    lastDeliveredAt: null,
    proven: [],
    released: null,
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
export type ListenerView = Omit<Listener, 'sealedSecret' | 'previousSecret' | 'released' | 'lease'> & {
  state: ListenerState;
  waiting: number;
};

/**
 * A server's listener and how it fares; null when it has none.
 *
 * @param countedAtMost - waiting votes are not counted further; all of them by default
 */
export async function showListener(
  { listeners, votes }: Pick<ListenerSetup, 'listeners' | 'votes'>,
  serverId: ObjectId,
  countedAtMost?: number,
): Promise<ListenerView | null> {
  const found = await listeners.findOne({ serverId });
  if (!found) return null;
  const { sealedSecret: _, previousSecret: __, released: ___, lease: ____, ...shown } = found;
  return {
    ...shown,
    state: listenerState(found),
    waiting: await countWaiting(votes, serverId, countedAtMost),
  };
}

/**
 * Removes a server's listener. Its waiting votes are kept and are not forwarded any more; they can be sent later
 * by hand. Killed half-way, the relay finishes it.
 *
 * @returns how many votes were released, or null when there was no listener
 */
export async function removeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<number | null> {
  const removed = await deps.listeners.findOneAndDelete({ serverId });
  if (!removed) return null;
  await recordAudit(deps, {
    by,
    action: 'listener.remove',
    serverId,
    details: { host: removed.host, port: removed.port },
  });
  return releaseWaitingVotes(deps, serverId, 'listener-removed');
}

/** Holds a server's votes back until they are resumed. Returns the listener, or null when there is none. */
export async function pauseListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<Listener | null> {
  const pause = { at: deps.clock.now(), by: 'owner' };
  const listener = await changeListener(deps, { serverId }, by, 'listener.pause', literally({ pause }));
  if (listener) logChange(deps, listener, 'listener.paused', by);
  return listener;
}

function logChange({ log }: ListenerSetup, { serverId, _id }: Listener, event: string, by: string): void {
  log.info({ event, serverId: serverId.toHexString(), listenerId: _id.toHexString(), by });
}

/** Lets a paused or unreachable listener be tried again at once. Returns it, or null when there is none. */
export async function resumeListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
): Promise<Listener | null> {
  const listener = await changeListener(deps, { serverId }, by, 'listener.resume', {
    ...literally({ pause: null, breaker: REACHABLE, voteFaults: 0 }),
    released: releasedBy('resume', deps.clock.now()),
  });
  if (!listener) return null;
  logChange(deps, listener, 'listener.resumed', by);
  await wake(deps, listener, 'resume');
  return listener;
}

/**
 * Changes a listener under a new revision and records it; null when none is as `which` says.
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
 * Starts a drain at once, also where one is delayed because the listener was unreachable; votes that wait for
 * their own next time go too.
 */
async function wake(
  { votes, producer, clock }: ListenerSetup,
  listener: Listener,
  by: Cause,
): Promise<boolean> {
  const { serverId, _id } = listener;
  const now = clock.now();
  await votes.updateMany(
    { serverId, 'delivery.state': 'waiting', 'delivery.nextAt': { $gt: now } },
    { $set: { 'delivery.nextAt': now, 'delivery.dueBy': by } },
  );
  const payload = { serverId: serverId.toHexString(), listenerId: _id.toHexString() };
  return producer.add('forward-votes', payload, { hasten: true });
}

/** Fails the waiting votes of a server that is removed. Safe to run again. Returns how many. */
export function failWaitingVotes(
  deps: Pick<ListenerSetup, 'votes' | 'clock'>,
  serverId: ObjectId,
): Promise<number> {
  return releaseWaitingVotes(deps, serverId, 'server-removed');
}
