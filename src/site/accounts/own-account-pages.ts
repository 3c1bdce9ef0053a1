import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID } from 'mongodb';
import { z } from 'zod';
import { findAddressChange } from '../../accounts/address/change-address.ts';
import { canBeMailed } from '../../accounts/can-be-mailed.ts';
import { findDeletion } from '../../accounts/deletion/request-deletion.ts';
import { linkedSites, otherSites } from '../../accounts/other-sites/other-sites.ts';
import {
  changeOwnAccount,
  endSession,
  finishPasswordChange,
  listSessions,
  unlinkSite,
} from '../../accounts/own-account.ts';
import { hashingFor } from '../../accounts/password-slots.ts';
import { RE_AUTHENTICATIONS } from '../../accounts/sign-in-limits.ts';
import { endSessions } from '../../accounts/users.ts';
import { t } from '../../language/t.ts';
import { mailSetting } from '../../notifications/kinds.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import {
  MAIL_SWITCHES,
  noteVoteOf,
  startMailReminder,
  stopMailReminder,
} from '../../reminders/keep-mail-reminder.ts';
import { EXPORTS, exportAccount } from '../../workflows/export-account.ts';
import { showUser } from '../../workflows/show-user.ts';
import { PageError } from '../error-pages.ts';
import { signInHeaders } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { giveCookies, hashingClientOf, refusalCode } from '../shared/better-auth-calls.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { idParam } from '../shared/id-param.ts';
import { chosenKinds, kindsForm } from '../shared/kind-boxes.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { readMailReminder } from '../shared/mail-reminder.ts';
import { nextPage } from '../shared/next-path.ts';
import { refuseIfUsedUp } from '../shared/used-up.ts';
import { newPassword, refuseOwn, userName } from './account-fields.ts';
import type { AccountParts } from './account-parts.ts';
import { accountPage } from './own-account-views.ts';

/** At most this many sessions are shown. “Sign out everywhere” also ends the others. */
const MAX_SESSIONS = 50;

const passwordForm = z.object({
  current: z
    .string()
    .min(1, { error: () => t('Enter your current password.') })
    .max(256, { error: () => t('The password is too long.') }),
  password: newPassword,
});

/** `/account`: the user's own settings. */
export function ownAccountPages(app: FastifyInstance, { deps, auth }: AccountParts): void {
  const { base } = app.site;
  const show: ShowAccount = async (request, typed = UNTOUCHED) => {
    const { signedIn } = request;
    const view = signedIn && (await showUser(deps, signedIn.user._id));
    if (!signedIn || !view) throw new PageError(404, t('This account no longer exists.'));
    const linked = linkedSites(deps.config, view.credentials);
    return accountPage({
      base,
      sendsMail: deps.config.SMTP_URL !== undefined,
      mailReminder: await readMailReminder(deps, request),
      sites: otherSites(deps.config).map((site) => ({ ...site, isLinked: linked.has(site.id) })),
      hasPassword: view.hasPassword,
      signedIn: { ...signedIn, user: view.user },
      deletion: await findDeletion(deps, view.user._id),
      addressChange: await findAddressChange(deps, view.user._id),
      sessions: await listSessions(deps, view.user._id, MAX_SESSIONS),
      now: deps.clock.now(),
      typed,
    });
  };

  app.get('/account', SIGNED_IN, async (request, reply) => sendPage(request, reply, await show(request)));
  profileForms(app, deps, show);
  reminderForm(app, deps);
  passwordForms(app, { deps, auth }, show);
  siteForms(app, deps);
  sessionForms(app, { deps, auth });
}

type ShowAccount = (request: FastifyRequest, typed?: Typed) => Promise<Page>;

function profileForms(app: FastifyInstance, deps: AppDeps, show: ShowAccount): void {
  const { base } = app.site;

  formRoute(app, {
    path: '/account/name',
    access: SIGNED_IN,
    schema: z.object({ name: userName }),
    show,
    run: async ({ user, data }) => {
      await changeOwnAccount(deps, user._id, { name: data.name });
      return `${base}/account?done=name`;
    },
  });

  formRoute(app, {
    path: '/account/mail',
    access: SIGNED_IN,
    schema: kindsForm,
    run: async ({ user, values }) => {
      const setting = mailSetting(chosenKinds(values));
      await changeOwnAccount(deps, user._id, setting);
      return `${base}/account?done=mail-${setting.wantsMail ? 'on' : 'off'}#notifications`;
    },
  });
}

function reminderForm(app: FastifyInstance, deps: AppDeps): void {
  formRoute(app, {
    path: '/account/vote-reminder',
    access: SIGNED_IN,
    schema: z.object({ wanted: z.enum(['yes', 'no']), vote: z.uuid().optional(), next: fieldText }),
    run: async ({ user, data: { wanted, vote, next } }) => {
      const usedUp = await refuseIfUsedUp(deps, MAIL_SWITCHES, user._id);
      if (usedUp) return usedUp;
      if (wanted === 'no') await stopMailReminder(deps, { _id: user._id });
      else if (!canBeMailed(deps.config, user)) return refused(409, t('Confirm your e-mail address first.'));
      else await startMailReminder(deps, user._id);
      if (wanted === 'yes' && vote) await noteVoteOf(deps, user._id, new UUID(vote));
      return nextPage(app, next, `${app.site.base}/account?done=vote-reminder-${wanted}#notifications`);
    },
  });
}

function passwordForms(
  app: FastifyInstance,
  { deps, auth }: Pick<AccountParts, 'deps' | 'auth'>,
  show: ShowAccount,
): void {
  const { base } = app.site;

  formRoute(app, {
    path: '/account/password',
    access: SIGNED_IN,
    schema: passwordForm,
    secrets: ['current', 'password'],
    show,
    run: async ({ request, reply, user, data }) => {
      const userId = user._id.toHexString();
      const own = refuseOwn(data.password, user);
      if (own) return own;
      const usedUp = await refuseIfUsedUp(deps, RE_AUTHENTICATIONS, user._id);
      if (usedUp) return usedUp;
      try {
        const { headers } = await hashingFor(hashingClientOf(request, user.email), () =>
          auth.api.changePassword({
            body: { currentPassword: data.current, newPassword: data.password, revokeOtherSessions: true },
            headers: signInHeaders(request),
            returnHeaders: true,
          }),
        );
        giveCookies(reply, headers);
      } catch (error) {
        const code = refusalCode(error);
        request.log.warn({ event: 'account.password_refused', userId, code });
        return { errors: { current: t('The current password is wrong.') } };
      }
      request.log.info({ event: 'account.password_changed', userId });
      await finishPasswordChange(deps, user);
      return `${base}/account?done=password`;
    },
  });
}

/** The form that disconnects another site. A sign-in through the site connects it. */
function siteForms(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;

  formRoute(app, {
    path: '/account/sites/:siteId/unlink',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      const { siteId } = request.params as { siteId: string };
      const site = otherSites(deps.config).find(({ id }) => id === siteId);
      if (!site) return refused(404, t('This page does not exist.'));
      if (!(await unlinkSite(deps, user, site))) return refused(409, t('Set a password first.'));
      request.log.info({ event: 'account.site_unlinked', userId: user._id.toHexString(), provider: site.id });
      return `${base}/account?done=unlinked`;
    },
  });
}

function sessionForms(app: FastifyInstance, { deps, auth }: Pick<AccountParts, 'deps' | 'auth'>): void {
  const { base } = app.site;

  formRoute(app, {
    path: '/account/sessions/end-all',
    access: SIGNED_IN,
    run: async ({ request, reply, user }) => {
      await endSessions(deps, user._id);
      const { headers } = await auth.api.signOut({ headers: signInHeaders(request), returnHeaders: true });
      giveCookies(reply, headers);
      return `${base}/sign-in?done=signed-out-everywhere`;
    },
  });

  formRoute(app, {
    path: '/account/sessions/:sessionId/end',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      await endSession(deps, user._id, idParam(request, 'sessionId'));
      return `${base}/account?done=session`;
    },
  });
}

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
