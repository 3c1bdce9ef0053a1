import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noteAccountChange } from '../../accounts/account-changes.ts';
import { mustHaveSecondFactor } from '../../accounts/sessions.ts';
import { t } from '../../language/t.ts';
import { signInHeaders, userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { giveCookies } from '../shared/better-auth-calls.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { badge, card, confirmed, notice } from '../shared/parts.ts';
import { passwordField, reAuthenticationFields, withReAuthentication } from '../shared/re-authentication.ts';
import type { AccountParts } from './account-parts.ts';
import { backupCodesPage, PATH, PROOF, setUpForms } from './two-factor-setup.ts';

type Start = (request: FastifyRequest, typed?: Typed, sent?: TwoFactorForm) => Page;

/** `/account/two-factor`: the authenticator app and backup codes. A secret is shown once, in an answer to a form. */
export function twoFactorPages(app: FastifyInstance, parts: AccountParts): void {
  const { base } = app.site;
  const path = `${base}${PATH}`;

  const start: Start = (request, typed = UNTOUCHED, sent) =>
    userOf(request).twoFactorEnabled
      ? onPage(path, base, typed, sent)
      : offPage(path, typed, { isRequired: mustHaveSecondFactor(parts.deps, userOf(request)) });

  app.get(PATH, SIGNED_IN, async (request, reply) => sendPage(request, reply, start(request)));
  setUpForms(app, parts, start);
  formsWhenOn(app, parts, start);
}

function formsWhenOn(app: FastifyInstance, { deps, auth }: AccountParts, start: Start): void {
  const { base } = app.site;

  formRoute(app, {
    ...PROOF,
    path: `${PATH}/backup-codes`,
    show: (request, typed) => start(request, typed, 'backup-codes'),
    run: async ({ request, user, data }) => {
      const { password } = data;
      const made = await withReAuthentication(request, { deps, auth }, data, () =>
        auth.api.generateBackupCodes({ body: { password }, headers: signInHeaders(request) }),
      );
      if ('errors' in made) return made;
      await noteAccountChange(deps, user, 'backup-codes');
      return { page: backupCodesPage(made.done.backupCodes, `${base}/account`) };
    },
  });

  formRoute(app, {
    ...PROOF,
    path: `${PATH}/off`,
    show: (request, typed) => start(request, typed, 'off'),
    run: async ({ request, reply, user, data }) => {
      const { password } = data;
      const ended = await withReAuthentication(request, { deps, auth }, data, () =>
        auth.api.disableTwoFactor({
          body: { password },
          headers: signInHeaders(request),
          returnHeaders: true,
        }),
      );
      if ('errors' in ended) return ended;
      giveCookies(reply, ended.done.headers);
      request.log.info({ event: 'account.two_factor_off', userId: user._id.toHexString() });
      await noteAccountChange(deps, user, 'two-factor-off');
      return `${base}/account?done=two-factor-off`;
    },
  });
}

/** `isRequired`: the user is an operator and must turn the second factor on. */
function offPage(path: string, typed: Typed, { isRequired }: { isRequired: boolean }): Page {
  const required = t(
    'Operators of this listing must use two-factor authentication. Set it up to open the admin area.',
  );
  const needed = t(
    'You need an authenticator app, such as Aegis, Google Authenticator or a password manager. It shows a six-digit code that you enter when you sign in.',
  );
  return narrowPage(
    t('Two-factor authentication'),
    html`${isRequired ? notice('attention', required) : ''}
      <p>${needed}</p>
      <form method="post" action="${path}/begin" class="card stack">
        ${passwordField(typed)}
        <button type="submit">${t('Set up')}</button>
      </form>`,
  );
}

type TwoFactorForm = 'backup-codes' | 'off';

/** `sent`: the form to which the errors belong. */
function onPage(path: string, base: string, typed: Typed, sent?: TwoFactorForm): Page {
  const proof = (form: TwoFactorForm, suffix?: string) =>
    reAuthenticationFields(form === sent ? typed : UNTOUCHED, { twoFactorEnabled: true }, suffix);
  return {
    title: t('Two-factor authentication'),
    width: 'narrow',
    body: html`<h1>${t('Two-factor authentication')} ${badge('good', t('on'))}</h1>
      ${card({
        title: t('New backup codes'),
        body: html`<p>${t(
          'Each backup code signs you in once if you do not have your phone. New codes replace the old ones.',
        )}</p>
          <form method="post" action="${path}/backup-codes" class="stack">
            ${proof('backup-codes')}
            <button type="submit" class="quiet">${t('Generate new backup codes')}</button>
          </form>`,
      })}
      ${card({
        title: t('Turn off'),
        body: confirmed({
          text: t('Turn off two-factor authentication'),
          consequence: t(
            'You will sign in with your password only. To move to another phone, turn it off and set it up again.',
          ),
          isOpen: sent === 'off',
          form: html`<form method="post" action="${path}/off" class="stack">
            ${proof('off', '-off')}
            <button type="submit" class="danger">${t('Turn off')}</button>
          </form>`,
        }),
      })}
      <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
  };
}
