import { hashPassword, type PasswordHashing, verifyPassword } from './accounts/password.ts';
import type { Kept } from './batching/kept.ts';
import { bindCollections, type Collections } from './collections.ts';
import type { ConnectedConfig } from './config.ts';
import { type OpenOptions, openResources, type Resources } from './resources.ts';
import { type Admitted, keepAdmitted } from './servers/api-tokens.ts';

/**
 * All that a door hands to the features: what the process holds open and every collection by name. A feature
 * function asks for the few it needs.
 */
export type Platform = Resources & Collections & { admitted: Kept<Admitted>; passwords: PasswordHashing };

/** Opens the resources of a process and binds the collections. Throws as `openResources` does. */
export async function openPlatform(
  config: ConnectedConfig,
  processName: string,
  options: OpenOptions = {},
): Promise<Platform> {
  const resources = await openResources(config, processName, options);
  return {
    ...resources,
    ...bindCollections(resources.mongo.db),
    admitted: keepAdmitted(),
    passwords: { hash: hashPassword, verify: verifyPassword },
  };
}
