import type { Collection, ObjectId } from 'mongodb';
import type { Listener } from '../listeners/listener.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { AppDeps } from './app-deps.ts';

export function unreadableListenersText(count: number): string {
  const what = count === 1 ? 'The secret of 1 listener' : `The secrets of ${count} listeners`;
  return `${what} cannot be read, so no vote is sent there: they were stored under another SECRET_KEY. Set that one as SECRET_KEY, or as SECRET_KEY_PREVIOUS beside a new one`;
}

export function countUnreadableListeners(
  listeners: Collection<Listener>,
  { sealedByOthers }: SecretBox,
  of: { serverId?: ObjectId } = {},
): Promise<number> {
  return listeners.countDocuments({ ...of, sealedSecret: sealedByOthers });
}

/** Does not throw when MongoDB fails. */
export async function warnOfUnreadableListeners({ listeners, secrets, log }: AppDeps): Promise<void> {
  const count = await countUnreadableListeners(listeners, secrets).catch(() => 0);
  if (count > 0) log.warn({ event: 'secrets.unreadable', listeners: count }, unreadableListenersText(count));
}
