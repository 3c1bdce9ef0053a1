import type { Processor } from 'bullmq';
import { finishAddressChanges } from '../src/accounts/address/change-address.ts';
import type { Platform } from '../src/process/app-deps.ts';
import { deleteDueAccounts } from '../src/workflows/delete-account.ts';

/** Completes changes of addresses and deletes accounts. After an interruption the next round does it. */
export function settleAccountsWorker(platform: Platform, stop: AbortSignal): Processor {
  return async () => {
    const changed = await finishAddressChanges(platform, stop);
    const deleted = await deleteDueAccounts(platform, { signal: stop });
    if (changed + deleted > 0) platform.log.info({ event: 'accounts.settled', changed, deleted });
    return { changed, deleted };
  };
}
