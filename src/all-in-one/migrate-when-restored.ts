import { setTimeout as pause } from 'node:timers/promises';
import { type Migrated, migrate } from '../database/migrate.ts';
import type { Say } from '../own-services/service-error.ts';
import { CodedError } from '../platform/app-error.ts';
import { SECOND } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import { createLogger } from '../platform/log.ts';

/** The services keep running meanwhile, so that `tallyport restore` in another terminal can use them. */
export async function migrateWhenRestored(
  config: Pick<ConnectedConfig, 'MONGODB_URI'>,
  say: Say,
): Promise<Migrated> {
  const log = createLogger({ LOG_LEVEL: 'warn' }, 'all-in-one');
  let isSaid = false;
  for (;;) {
    try {
      return await migrate(config, log);
    } catch (error) {
      if (!(error instanceof CodedError && error.code === 'restore-unfinished')) throw error;
      if (!isSaid) say(`${error.message} Tallyport starts when it has ended.`);
      isSaid = true;
      await pause(SECOND);
    }
  }
}
