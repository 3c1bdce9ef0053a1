import { finishAddressChanges } from '../src/accounts/address/change-address.ts';
import { runSteps } from '../src/platform/run-steps.ts';
import { deleteDueAccounts } from '../src/workflows/delete-account.ts';
import type { QueueWork } from './queue-work.ts';

/** If a run is interrupted, the next run does the remaining work. */
export const settleAccountsWork: QueueWork<'settle-accounts'> = {
  period: { every: '10 minutes' },
  processor:
    ({ deps, stop }) =>
    async () => {
      const steps = {
        changed: () => finishAddressChanges(deps, stop),
        deleted: () => deleteDueAccounts(deps, { signal: stop }),
      };
      const { changed, deleted } = await runSteps(deps, 'settle-accounts', steps, stop);
      if (changed + deleted > 0) deps.log.info({ event: 'accounts.settled', changed, deleted });
      return { changed, deleted };
    },
};
