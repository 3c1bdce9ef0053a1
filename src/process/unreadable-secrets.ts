import type { Collection, ObjectId } from 'mongodb';
import type { Subscription } from '../events/subscription.ts';
import type { Listener } from '../listeners/listener.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { AppDeps } from './app-deps.ts';

export function unreadableListenersText(count: number): string {
  return unreadableText(count, 'listener', 'vote');
}

export function unreadableSubscriptionsText(count: number): string {
  return unreadableText(count, 'subscription', 'event');
}

function unreadableText(count: number, owner: string, sent: string): string {
  const what = count === 1 ? `The secret of 1 ${owner}` : `The secrets of ${count} ${owner}s`;
  return `${what} cannot be read, so no ${sent} is sent there: they were stored under another SECRET_KEY. Set that one as SECRET_KEY, or as SECRET_KEY_PREVIOUS beside a new one`;
}

export function countUnreadableListeners(
  listeners: Collection<Listener>,
  { sealedByOthers }: SecretBox,
  of: { serverId?: ObjectId } = {},
): Promise<number> {
  return listeners.countDocuments({ ...of, sealedSecret: sealedByOthers });
}

export function countUnreadableSubscriptions(
  subscriptions: Collection<Subscription>,
  { sealedByOthers }: SecretBox,
): Promise<number> {
  return subscriptions.countDocuments({ sealedSecret: sealedByOthers });
}

const UNREADABLE_PUSH_KEY =
  'The key of reminders cannot be read, so none is sent by web push: it was stored under another SECRET_KEY. Set that one as SECRET_KEY_PREVIOUS, or replace the key (docs/reminders.md)';

/** Does not throw when MongoDB fails. */
export async function warnOfUnreadableSecrets(deps: AppDeps): Promise<void> {
  const { secrets, log } = deps;
  const event = 'secrets.unreadable';
  const listeners = await countUnreadableListeners(deps.listeners, secrets).catch(() => 0);
  if (listeners > 0) log.warn({ event, listeners }, unreadableListenersText(listeners));
  const subscriptions = await countUnreadableSubscriptions(deps.subscriptions, secrets).catch(() => 0);
  if (subscriptions > 0) log.warn({ event, subscriptions }, unreadableSubscriptionsText(subscriptions));
  const ofOthers = { sealedPrivateKey: secrets.sealedByOthers };
  const pushKeys = await deps.pushKeys.countDocuments(ofOthers).catch(() => 0);
  if (pushKeys > 0) log.warn({ event, pushKeys }, UNREADABLE_PUSH_KEY);
}
