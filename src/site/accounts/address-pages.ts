import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type AddressChange, CONFIRM_DAYS } from '../../accounts/address/address-change.ts';
import {
  ADDRESS_CHANGES,
  addressSchema,
  type Confirmed,
  cancelAddressChange,
  changeAddressUnconfirmed,
  changeOfLink,
  confirmAddressChange,
  findAddressChange,
  requestAddressChange,
} from '../../accounts/address/change-address.ts';
import { countMail } from '../../accounts/mail-limits.ts';
import { MAX_TOKEN_LENGTH } from '../../accounts/one-time-token.ts';
import { defineMessage, t } from '../../language/t.ts';
import { countUse } from '../../platform/limits/by-network.ts';
import { showUser, type UserView } from '../../workflows/show-user.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { tooManyLinks, withMinimumDuration } from '../shared/better-auth-calls.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, type RefusedForm } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { narrowPage } from '../shared/narrow-page.ts';
import { button, facts, linkTo } from '../shared/parts.ts';
import {
  noPasswordYet,
  proofForm,
  reAuthenticationFields,
  SECRET_FIELDS,
  withReAuthentication,
} from '../shared/re-authentication.ts';
import { emailField } from './account-fields.ts';
import type { AccountParts } from './account-parts.ts';

const TAKEN = defineMessage('An account with this e-mail address already exists.');

const decisionForm = z.object({
  // A value that cannot be a token becomes empty: the answer is then the same as for an invalid link.
  token: z.string().max(MAX_TOKEN_LENGTH).catch(''),
  decision: z.enum(['confirm', 'cancel'], { error: () => t('Choose one of these.') }),
});

/** `/account/email` and `/confirm-address`, to which the mailed links lead. */
export function addressPages(app: FastifyInstance, parts: AccountParts): void {
  changePages(app, parts);
  confirmationPages(app, parts.deps);
}

function changePages(app: FastifyInstance, { deps, auth, devices }: AccountParts): void {
  const { base } = app.site;
  const sendsMail = () => deps.config.SMTP_URL !== undefined;

  const form = async (request: FastifyRequest, typed: Typed = UNTOUCHED): Promise<Page> => {
    const view = await showUser(deps, userOf(request)._id);
    if (!view) throw new PageError(404, t('This account no longer exists.'));
    return changePage(base, view, sendsMail(), typed);
  };

  app.get('/account/email', SIGNED_IN, async (request, reply) =>
    sendPage(request, reply, await form(request)),
  );

  formRoute(app, {
    path: '/account/email',
    access: SIGNED_IN,
    schema: (request) => proofForm(userOf(request)).extend({ email: addressSchema }),
    secrets: SECRET_FIELDS,
    show: form,
    run: async ({ request, reply, user, data }) => {
      const proven = await withReAuthentication(request, { deps, auth }, data, () =>
        change(request, data.email),
      );
      if ('errors' in proven) return proven;
      const result = proven.done;
      if (typeof result !== 'string') return result;
      request.log.info({ event: `account.address_${result}`, userId: user._id.toHexString() });
      if (result === 'requested') return { page: sentPage(base, user.email, data.email) };
      reply.header('set-cookie', devices.cookieFor(data.email));
      return `${base}/account?done=email`;
    },
  });

  const change = async (
    request: FastifyRequest,
    email: string,
  ): Promise<'changed' | 'requested' | RefusedForm> => {
    if (!request.signedIn) throw new Error('this route requires a signed-in user');
    const { user, session } = request.signedIn;
    const own = { user, sessionId: session.id };
    if (!sendsMail()) {
      const isChanged = await changeAddressUnconfirmed(deps, own, { email });
      return isChanged ? 'changed' : { status: 409, errors: { email: t(TAKEN) } };
    }
    const from = { address: request.ip, userId: user._id };
    const retryAt =
      (await countUse(deps, ADDRESS_CHANGES, user._id)) ??
      (await countMail(deps, { email, ...from })) ??
      // If the current address is not confirmed, it may be a stranger's. So the mail to it is counted as well.
      (user.emailVerified ? null : await countMail(deps, { email: user.email, ...from }));
    if (retryAt) return tooManyLinks(retryAt);
    // The duration must not depend on whether another account has the address, because that would reveal it.
    await withMinimumDuration(() => requestAddressChange(deps, own, { email }));
    return 'requested';
  };

  formRoute(app, {
    path: '/account/email/cancel',
    access: SIGNED_IN,
    run: async ({ user }) => {
      const change = await findAddressChange(deps, user._id);
      const isCancelled = change !== null && (await cancelAddressChange(deps, change));
      return `${base}/account${isCancelled ? '?done=email-cancelled' : ''}`;
    },
  });
}

/** Opening a mailed link changes nothing: mail scanners open every link. */
function confirmationPages(app: FastifyInstance, deps: AccountParts['deps']): void {
  const { base } = app.site;

  app.get('/confirm-address', ANYONE, async (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const isToken = typeof token === 'string' && token.length <= MAX_TOKEN_LENGTH;
    const found = isToken ? await changeOfLink(deps, token) : null;
    if (!found) return sendPage(request, reply, invalidLinkPage(base), 400);
    return sendPage(request, reply, confirmPage(base, found, token as string));
  });

  formRoute(app, {
    path: '/confirm-address',
    access: ANYONE,
    schema: decisionForm,
    run: async ({ request, data: { token, decision } }) => {
      const invalid = { page: invalidLinkPage(base), status: 400 };
      const found = await changeOfLink(deps, token);
      if (!found) return invalid;
      const { change, end } = found;
      const userId = change._id.toHexString();
      if (decision === 'cancel' && end === 'old') {
        if (!(await cancelAddressChange(deps, change))) return invalid;
        request.log.info({ event: 'account.address_cancelled', userId });
        return { page: confirmedPage(base, change, 'cancelled') };
      }
      const result = await confirmAddressChange(deps, token);
      request.log.info({ event: 'account.address_confirmed', userId, end, result });
      if (result === 'useless-link') return invalid;
      const page = confirmedPage(base, change, result, end);
      return { page, status: result === 'taken' ? 409 : 200 };
    },
  });
}

function changePage(base: string, { user, hasPassword }: UserView, sendsMail: boolean, typed: Typed): Page {
  const consequence = sendsMail
    ? t(
        'We send a link to both addresses. The change happens after you have opened both and confirmed, within {days} days. Your other sessions are then signed out.',
        { days: CONFIRM_DAYS },
      )
    : t('The new address is what you sign in with. Your other sessions are signed out.');
  const ifNotReadable = t(
    'If you cannot read mails to your present address, ask the operator of this listing.',
  );
  return narrowPage(
    t('Change your e-mail address'),
    html`<p>${consequence}</p>
      <form method="post" action="${base}/account/email" class="card stack">
        ${facts([[t('Present address'), user.email]])}
        ${emailField(typed, { label: t('New e-mail address'), autocomplete: 'email' })}
        ${reAuthenticationFields(typed, user)}
        <button type="submit">${t('Change address')}</button>
      </form>
      ${hasPassword ? '' : noPasswordYet(base)}
      ${sendsMail ? html`<p class="soft small">${ifNotReadable}</p>` : ''}
      <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
  );
}

/** Does not reveal whether another account has the new address. */
function sentPage(base: string, from: string, to: string): Page {
  const sent = t(
    'We have sent a link to {from} and one to {to}. Open both within {days} days. Until then your address stays as it is.',
    { days: CONFIRM_DAYS, from, to },
  );
  return narrowPage(
    t('Confirm both addresses'),
    html`<p>${sent}</p>
      <p class="soft">${t('No mail? Check your spam folder and the address above.')}</p>
      <p><a href="${base}/account">${t('Back to your account')}</a></p>`,
  );
}

type Found = { change: AddressChange; end: 'old' | 'new' };

/** `end`: the address to which the link went. The old one can also cancel; a change by an operator it can only cancel. */
function confirmPage(base: string, { change, end }: Found, token: string): Page {
  const { from, to, by } = change;
  const isOldOfOperators = end === 'old' && Boolean(by);
  const title = isOldOfOperators
    ? t('Your address is about to be changed')
    : t('Confirm the change of your address');
  const confirm = end === 'old' ? t('Confirm change') : t('Confirm this address');
  const remark = isOldOfOperators
    ? t(
        'An operator was asked for this change. It happens when the new address confirms it. If you did not ask for it, cancel it and tell the operator.',
      )
    : end === 'new'
      ? t('If you did not ask for this, close this page. Nothing will change.')
      : t(
          'If you did not ask for this, somebody knows your password. Cancel the change, then <a>set a new password</a>.',
          { a: linkTo(`${base}/forgot-password`) },
        );
  return narrowPage(
    title,
    html`<div class="card stack">
        ${facts(
          end === 'old'
            ? [
                [t('Present address'), from],
                [t('New address'), to],
              ]
            : [[t('New address'), to]],
        )}
        <div class="actions">
          ${isOldOfOperators ? '' : decision(base, token, 'confirm', confirm)}
          ${end === 'old' ? decision(base, token, 'cancel', t('Cancel change')) : ''}
        </div>
        <p class="soft small">${remark}</p>
      </div>`,
  );
}

function decision(base: string, token: string, name: 'confirm' | 'cancel', text: string): Html {
  const kind = name === 'confirm' ? 'primary' : 'quiet';
  return button({ to: `${base}/confirm-address`, text, kind, hidden: { token, decision: name } });
}

function confirmedPage(
  base: string,
  { from, to }: Pick<AddressChange, 'from' | 'to'>,
  result: Exclude<Confirmed, 'useless-link'> | 'cancelled',
  end: 'old' | 'new' = 'old',
): Page {
  const stays = t(
    'The address of your account is still {from}. If you did not ask for the change, <a>set a new password</a> now: somebody knows yours.',
    { from, a: linkTo(`${base}/forgot-password`) },
  );
  const [title, body] = {
    waiting: [
      t('One address is confirmed'),
      html`<p>${t('Now open the link in our mail to {to}. The address changes after that.', {
        to: end === 'old' ? to : t('the present address of the account'),
      })}</p>`,
    ],
    changed: [
      t('The address is changed'),
      html`<p>${t('The address of your account is now {to}. Sign in with it from now on.', { to })}</p>
        <p><a class="button" href="${base}/account">${t('Your account')}</a></p>`,
    ],
    taken: [
      t('The address was not changed'),
      html`<p>${t('Another account has the new address by now.')}</p>
        <p><a href="${base}/account">${t('Your account')}</a></p>`,
    ],
    cancelled: [t('The change is cancelled'), html`<p>${stays}</p>`],
  }[result] as [string, Html];
  return { title, width: 'narrow', body: html`<h1>${title}</h1>${body}` };
}

function invalidLinkPage(base: string): Page {
  const why = t(
    'The change is complete, was cancelled or replaced by a newer one, or is more than {days} days old; or the link is incomplete.',
    { days: CONFIRM_DAYS },
  );
  return narrowPage(
    t('This link does not work'),
    html`<p>${why}</p>
      <p>${t('See <a>your account</a>.', { a: linkTo(`${base}/account`) })}</p>`,
  );
}
