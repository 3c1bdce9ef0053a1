import { ObjectId } from 'mongodb';
import type { AuditAction } from '../../platform/audit/audit-actions.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { DURABLE, isDuplicateKey } from '../../platform/mongo.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import type { EventsDeps } from '../deps.ts';
import {
  endingOf,
  readWebhookAddress,
  type WebhookKey,
  webhookIn,
  webhookText,
} from '../discord/webhook-address.ts';
import type { LiveMessage } from './live-message.ts';

function contextOf(_id: ObjectId): string {
  return `live message ${_id.toHexString()}`;
}

const FRESH = { posts: 0, runs: 0, failures: 0 };

function sealedWebhook(secrets: SecretBox, key: WebhookKey): Pick<LiveMessage, '_id' | 'sealed' | 'ending'> {
  const _id = new ObjectId();
  return { _id, sealed: secrets.seal(webhookText(key), contextOf(_id)), ending: endingOf(key) };
}

/** @throws {UnsealError} when the key that sealed it is lost */
export function openLiveWebhook(
  secrets: SecretBox,
  { _id, sealed }: Pick<LiveMessage, '_id' | 'sealed'>,
): WebhookKey {
  return webhookIn(secrets.open(sealed, contextOf(_id)));
}

/** Null if the server has none. */
export function readLiveMessage(
  { liveMessages }: Pick<EventsDeps, 'liveMessages'>,
  serverId: ObjectId,
): Promise<LiveMessage | null> {
  return liveMessages.findOne({ serverId, isCurrent: true });
}

/**
 * Begins a message in Discord; an earlier one of the server is deleted there. A worker posts it.
 *
 * @throws {InvalidDocumentError} for `webhook`, if the address is invalid
 */
export async function setLiveMessage(
  deps: EventsDeps,
  serverId: ObjectId,
  address: string,
  by: string,
): Promise<LiveMessage> {
  const key = readWebhookAddress(address);
  const now = deps.clock.now();
  const sealed = sealedWebhook(deps.secrets, key);
  const live = { ...sealed, serverId, isCurrent: true, setAt: now, nextAt: now, ...FRESH };
  await insert(deps, live);
  await audit(deps, live, by, 'live.set');
  await wake(deps, live._id);
  return live;
}

async function insert(deps: EventsDeps, live: LiveMessage): Promise<void> {
  for (;;) {
    await retireLiveMessage(deps, live.serverId);
    try {
      await deps.liveMessages.insertOne(live, { writeConcern: DURABLE });
      return;
    } catch (error) {
      // Another call has set one meanwhile: the last one wins.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** After it stopped. Null if it did not, or the server has none. */
export async function restartLiveMessage(
  deps: EventsDeps,
  serverId: ObjectId,
  by: string,
): Promise<LiveMessage | null> {
  const now = deps.clock.now();
  const live = await deps.liveMessages.findOneAndUpdate(
    { serverId, isCurrent: true, stopped: { $exists: true } },
    {
      $set: { setAt: now, nextAt: now, posts: 0, failures: 0 },
      $unset: { stopped: '', lastReason: '', seen: '', shown: '' },
    },
    { returnDocument: 'after', writeConcern: DURABLE },
  );
  if (!live) return null;
  await audit(deps, live, by, 'live.restart');
  await wake(deps, live._id);
  return live;
}

/**
 * A worker deletes the message in Discord. One that was set after `setUntil` stays. Returns whether there was one.
 */
export async function removeLiveMessage(
  deps: EventsDeps,
  serverId: ObjectId,
  by: string,
  setUntil?: Date,
): Promise<boolean> {
  const live = await retireLiveMessage(deps, serverId, setUntil);
  if (!live) return false;
  await audit(deps, live, by, 'live.remove');
  return true;
}

/** For a message that is in Discord besides the one of `live`. */
export async function addRemoved(
  deps: EventsDeps,
  { serverId, setAt }: LiveMessage,
  key: WebhookKey,
  messageId: string,
): Promise<void> {
  const now = deps.clock.now();
  const removed = { ...sealedWebhook(deps.secrets, key), serverId, setAt, ...FRESH };
  await deps.liveMessages.insertOne({ ...removed, messageId, removedAt: now, nextAt: now });
  await wake(deps, removed._id);
}

/** Without an entry in the audit log, which has one about the server. */
export async function retireLiveMessage(
  deps: EventsDeps,
  serverId: ObjectId,
  setUntil?: Date,
): Promise<LiveMessage | null> {
  const now = deps.clock.now();
  const live = await deps.liveMessages.findOneAndUpdate(
    { serverId, isCurrent: true, ...(setUntil ? { setAt: { $lte: setUntil } } : {}) },
    { $set: { removedAt: now, nextAt: now, failures: 0 }, $unset: { isCurrent: '', stopped: '' } },
    { writeConcern: DURABLE },
  );
  if (live) await wake(deps, live._id);
  return live;
}

async function wake({ producer }: EventsDeps, _id: ObjectId): Promise<void> {
  await producer.add('update-live-messages', { liveMessageId: _id.toHexString() }, { hasten: true });
}

function audit(
  deps: EventsDeps,
  { serverId, ending }: LiveMessage,
  by: string,
  action: AuditAction,
): Promise<void> {
  return recordAudit(deps, { by, action, serverId, details: { ending } });
}
