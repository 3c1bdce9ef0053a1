import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import type { Typed } from '../form.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { badge, card, confirmed, copyable, notice, textField } from '../parts.ts';
import { codeField, passwordField } from './proof.ts';

export function offPage(path: string, { errors }: Typed, { isRequired }: { isRequired: boolean }): Page {
  return {
    title: 'Two-factor authentication',
    width: 'narrow',
    body: html`<h1>Two-factor authentication</h1>
      ${isRequired ? notice('attention', 'Operators of this listing must use two-factor authentication. Set it up to open the admin area.') : ''}
      ${errors.form ? notice('bad', errors.form) : ''}
      <p>You need an authenticator app, such as Aegis, Google Authenticator or a password manager. It shows a six-digit code that you enter when you sign in.</p>
      <form method="post" action="${path}/begin" class="card stack">
        ${passwordField(errors.password)}
        <button type="submit">Set up</button>
      </form>`,
  };
}

/** The forms of the page when the second factor is on. Errors are shown in the form that was sent. */
export type SentForm = 'backup-codes' | 'off';

export function onPage(path: string, base: string, { errors }: Typed, sent?: SentForm): Page {
  const errorsIn = (form: SentForm) => (form === sent ? errors : {});
  return {
    title: 'Two-factor authentication',
    width: 'narrow',
    body: html`<h1>Two-factor authentication ${badge('good', 'on')}</h1>
      ${card({
        title: 'New backup codes',
        body: html`<p>Each backup code signs you in once if you do not have your phone. New codes replace the old ones.</p>
          <form method="post" action="${path}/backup-codes" class="stack">
            ${proofFields('', errorsIn('backup-codes'))}
            <button type="submit" class="quiet">Generate new backup codes</button>
          </form>`,
      })}
      ${card({
        title: 'Turn off',
        body: confirmed({
          text: 'Turn off two-factor authentication',
          consequence:
            'You will sign in with your password only. To move to another phone, turn it off and set it up again.',
          isOpen: sent === 'off',
          form: html`<form method="post" action="${path}/off" class="stack">
            ${proofFields('-off', errorsIn('off'))}
            <button type="submit" class="danger">Turn off</button>
          </form>`,
        }),
      })}
      <p><a href="${base}/account">Back to your account</a></p>`,
  };
}

/** The fields that confirm a change. `suffix` makes the ids of the two forms distinct. */
function proofFields(suffix: string, errors: Typed['errors']): Html {
  return html`${errors.form ? notice('bad', errors.form) : ''}
    ${passwordField(errors.password, `password${suffix}`)} ${codeField(`code${suffix}`, errors.code)}`;
}

export function setUpPage(path: string, totpUri: string): Page {
  const secret = new URL(totpUri).searchParams.get('secret') ?? '';
  return {
    title: 'Set up two-factor authentication',
    width: 'narrow',
    body: html`<h1>Set up two-factor authentication</h1>
      <section class="card stack">
        <h2>1. Scan this code with your app</h2>
        <div class="qr" role="img" aria-label="QR code for your authenticator app">${qrCode(totpUri)}</div>
        <p>Or enter this secret in the app:</p>
        ${copyable(inGroups(secret), 'Secret')}
      </section>
      <section class="card stack">
        <h2>2. Enter the code from your app</h2>
        ${codePart(path, undefined)}
      </section>
      <p class="soft">The code and the secret are shown only once. Two-factor authentication is on after you enter a correct code.</p>`,
  };
}

export function codePage(path: string, { errors }: Typed): Page {
  return {
    title: 'Set up two-factor authentication',
    width: 'narrow',
    body: html`<h1>Set up two-factor authentication</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <section class="card stack">${codePart(path, errors.code)}</section>
      <p>App not set up yet? <a href="${path}">Start over</a>.</p>`,
  };
}

function codePart(path: string, error: string | undefined): Html {
  return html`<form method="post" action="${path}/confirm" class="stack">
    ${textField({ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, error, hint: 'Six digits.' })}
    <button type="submit">Turn on</button>
  </form>`;
}

export function backupCodesPage(codes: string[], onwards: string, { isNew = false } = {}): Page {
  return {
    title: 'Backup codes',
    width: 'narrow',
    body: html`<h1>Backup codes</h1>
      ${isNew ? notice('good', 'Two-factor authentication is on.') : notice('good', 'The old backup codes no longer work.')}
      <section class="card stack">
        <p>Print these codes or save them in your password manager, not on the same phone. Each code signs you in once if you cannot use your app. They are shown only once.</p>
        ${copyable(codes.join('\n'), 'Backup codes')}
        <a class="button" href="${onwards}">I have saved them</a>
      </section>`,
  };
}

/** Always black on white, which QR readers need. */
function qrCode(text: string): Html {
  return raw(renderSVG(text, { border: 2 })) as Html;
}

/** A secret in groups of four for reading and typing; apps ignore the spaces. */
function inGroups(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
