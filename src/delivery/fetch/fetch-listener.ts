import type { ObjectId } from 'mongodb';
import type { z } from 'zod';
import { fetchSettingsSchema } from '../../listeners/listener-settings.ts';
import { refuseEarlierProcesses } from '../../platform/earlier-processes.ts';
import { parseInput } from '../../platform/input.ts';
import type { Mongo } from '../../platform/mongo.ts';
import { type ListenerSet, type ListenerSetup, storeListener } from '../store-listener.ts';

/**
 * Lets the game server fetch its votes: nothing is sent to it, so it needs no address, port or secret.
 *
 * @throws {InvalidDocumentError} for wrong settings; {EarlierProcessesError} while processes of an earlier version run,
 *   because they do not know such a listener
 */
export async function setFetchListener(
  deps: ListenerSetup & { mongo: Pick<Mongo, 'connection'> },
  serverId: ObjectId,
  settings: z.input<typeof fetchSettingsSchema>,
  by: string,
): Promise<ListenerSet> {
  const { serviceName, maxSendings, resendUsedUp } = parseInput(fetchSettingsSchema, settings);
  await refuseEarlierProcesses(deps.mongo);
  for (;;) {
    const existing = await deps.listeners.findOne({ serverId });
    const fields = {
      protocol: 'fetch',
      host: '',
      port: 0,
      url: null,
      serviceName,
      sealedSecret: '',
      previousSecret: null,
      maxSendings,
    } as const;
    const how = { by, existing, sameSecret: existing?.protocol === 'fetch', resendUsedUp };
    const listener = await storeListener(deps, serverId, fields, how);
    // null: another request changed the listener at the same moment. This change is made again on top of it.
    if (listener) return listener;
  }
}
