import type { Processor } from 'bullmq';
import { finishAddressChanges } from '../src/accounts/address/change-address.ts';
import { runSteps } from '../src/platform/run-steps.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { deleteDueAccounts } from '../src/workflows/delete-account.ts';

/** Returns the processor of `settle-accounts`. If a run is interrupted, the next run does the remaining work. */
export function settleAccountsWorker(deps: AppDeps, stop: AbortSignal): Processor {
  return async () => {
    const steps = {
      changed: () => finishAddressChanges(deps, stop),
      deleted: () => deleteDueAccounts(deps, { signal: stop }),
    };
    const { changed, deleted } = await runSteps(deps, 'settle-accounts', steps, stop);
    if (changed + deleted > 0) deps.log.info({ event: 'accounts.settled', changed, deleted });
    return { changed, deleted };
  };
}
