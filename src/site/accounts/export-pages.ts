import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { t } from '../../language/t.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import { EXPORTS, exportAccount } from '../../workflows/export-account.ts';
import { SIGNED_IN } from '../route-options.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { refuseIfUsedUp } from '../shared/used-up.ts';
import type { AccountParts } from './account-parts.ts';

/**
 * `/account/export`: the user's data as JSON. There is no GET, because a link on another site could then use up the
 * limit of exports.
 */
export function exportPages(app: FastifyInstance, { deps }: Pick<AccountParts, 'deps'>): void {
  formRoute(app, {
    path: '/account/export',
    access: SIGNED_IN,
    run: async ({ request, user: { _id } }) => {
      const usedUp = await refuseIfUsedUp(deps, EXPORTS, _id);
      if (usedUp) return usedUp;
      const user = await deps.users.findOne({ _id });
      if (!user) return refused(404, t('This account no longer exists.'));
      request.log.info({ event: 'account.exported', userId: _id.toHexString() });
      const name = `account-${dayOf(deps.clock.now())}.json`;
      return {
        send: (reply) =>
          reply
            .header('cache-control', 'no-store')
            .header('content-disposition', `attachment; filename="${name}"`)
            .type('application/json; charset=utf-8')
            .send(Readable.from(exportAccount(deps, user))),
      };
    },
  });
}
