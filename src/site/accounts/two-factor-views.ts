import { renderSVG } from 'uqr';
import { t } from '../../language/t.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Html, html, raw } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { badge, card, confirmed, copyable, linkTo, notice } from '../shared/parts.ts';
import { passwordField, reAuthenticationFields } from '../shared/re-authentication.ts';

/** The page while the second factor is off. `isRequired`: the user is an operator and must turn it on. */
export function offPage(path: string, typed: Typed, { isRequired }: { isRequired: boolean }): Page {
  const required = t(
    'Operators of this listing must use two-factor authentication. Set it up to open the admin area.',
  );
  const needed = t(
    'You need an authenticator app, such as Aegis, Google Authenticator or a password manager. It shows a six-digit code that you enter when you sign in.',
  );
  return {
    title: t('Two-factor authentication'),
    width: 'narrow',
    body: html`<h1>${t('Two-factor authentication')}</h1>
      ${isRequired ? notice('attention', required) : ''}
      <p>${needed}</p>
      <form method="post" action="${path}/begin" class="card stack">
        ${passwordField(typed)}
        <button type="submit">${t('Set up')}</button>
      </form>`,
  };
}

/** The forms of the page while the second factor is on. Errors are shown in the form that was sent. */
export type TwoFactorForm = 'backup-codes' | 'off';

/** The page while the second factor is on. `sent` is the form to which the errors belong. */
export function onPage(path: string, base: string, typed: Typed, sent?: TwoFactorForm): Page {
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

/** The new secret and the form for the first code. `skip`: the link for users who want no second factor now. */
export function twoFactorSetUpPage(
  path: string,
  totpUri: string,
  { skip }: { skip?: string | undefined } = {},
): Page {
  const secret = new URL(totpUri).searchParams.get('secret') ?? '';
  return {
    title: t('Set up two-factor authentication'),
    width: 'narrow',
    body: html`<h1>${t('Set up two-factor authentication')}</h1>
      <section class="card stack">
        <h2>${t('1. Scan this code with your app')}</h2>
        <div class="qr" role="img" aria-label="${t('QR code for your authenticator app')}">${qrCode(totpUri)}</div>
        <p>${t('Or enter this secret in the app:')}</p>
        ${copyable(inGroups(secret), t('Secret'))}
      </section>
      <section class="card stack">
        <h2>${t('2. Enter the code from your app')}</h2>
        ${codePart(path, UNTOUCHED)}
      </section>
      <p class="soft">${t(
        'The code and the secret are shown only once. Two-factor authentication is on after you enter a correct code.',
      )}</p>
      ${skip ? html`<p><a href="${skip}">${t('Continue without a second factor')}</a></p>` : ''}`,
  };
}

/** The page after a wrong first code, with the form for another one. It does not show the secret again. */
export function codePage(path: string, typed: Typed): Page {
  return {
    title: t('Set up two-factor authentication'),
    width: 'narrow',
    body: html`<h1>${t('Set up two-factor authentication')}</h1>
      <section class="card stack">${codePart(path, typed)}</section>
      <p>${t('App not set up yet? <a>Start over</a>.', { a: linkTo(path) })}</p>`,
  };
}

function codePart(path: string, typed: Typed): Html {
  return html`<form method="post" action="${path}/confirm" class="stack">
    ${fieldsOf(typed).secret('code', {
      label: t('Code'),
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      required: true,
      hint: t('Six digits.'),
    })}
    <button type="submit">${t('Turn on')}</button>
  </form>`;
}

/** The page with new backup codes, which are shown only once. `isNew`: whether the second factor was just turned on. */
export function backupCodesPage(codes: string[], onwards: string, { isNew = false } = {}): Page {
  const done = isNew ? t('Two-factor authentication is on.') : t('The old backup codes no longer work.');
  const advice = t(
    'Print these codes or save them in your password manager, not on the same phone. Each code signs you in once if you cannot use your app. They are shown only once.',
  );
  return {
    title: t('Backup codes'),
    width: 'narrow',
    body: html`<h1>${t('Backup codes')}</h1>
      ${notice('good', done)}
      <section class="card stack">
        <p>${advice}</p>
        ${copyable(codes.join('\n'), t('Backup codes'))}
        <a class="button" href="${onwards}">${t('I have saved them')}</a>
      </section>`,
  };
}

/** A QR code as SVG. It is black on white in both colour schemes, because QR readers need that. */
function qrCode(text: string): Html {
  return raw(renderSVG(text, { border: 2 })) as Html;
}

/** The secret in groups of four characters, which are easier to read and type. Apps ignore the spaces. */
function inGroups(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
