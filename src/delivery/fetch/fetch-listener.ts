import type { ObjectId } from 'mongodb';
import type { z } from 'zod';
import { fetchSettingsSchema } from '../../listeners/listener-settings.ts';
import { refuseEarlierProcesses } from '../../platform/earlier-processes.ts';
import { parseInput } from '../../platform/input.ts';
import type { DeliveryDeps } from '../deps.ts';
import { type ListenerSet, storeListener } from '../store-listener.ts';

/** @throws {EarlierProcessesError} while processes of an earlier version run: they cannot handle such a listener */
export async function setFetchListener(
  deps: DeliveryDeps,
  serverId: ObjectId,
  settings: z.input<typeof fetchSettingsSchema>,
  by: string,
): Promise<ListenerSet> {
  const { serviceName, maxSendings, resendUsedUp, rewards } = parseInput(fetchSettingsSchema, settings);
  await refuseEarlierProcesses(deps.mongo);
  const address = { protocol: 'fetch', host: '', port: 0, url: null } as const;
  const fields = { ...address, serviceName, sealedSecret: '', previousSecret: null, maxSendings };
  return storeListener(deps, serverId, { by, resendUsedUp, rewards }, (existing) => ({
    fields,
    sameSecret: existing?.protocol === 'fetch',
  }));
}
