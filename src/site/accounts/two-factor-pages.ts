import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import type { Typed } from '../form.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { badge, card, confirmed, copyable, notice, textField } from '../parts.ts';

export function offPage(path: string, { errors }: Typed, { isDemanded }: { isDemanded: boolean }): Page {
  return {
    title: 'Second factor',
    width: 'narrow',
    body: html`<h1>Second factor</h1>
      ${isDemanded ? notice('attention', 'Operators of this listing need a second factor. Set it up to go on to the admin area.') : ''}
      ${errors.form ? notice('bad', errors.form) : ''}
      <p>You need an authenticator app on your phone, such as Aegis, Google Authenticator or a password manager. When you sign in, it gives you a code of six digits.</p>
      <form method="post" action="${path}/begin" class="card stack">
        ${passwordField(errors.password)}
        <button type="submit">Set it up</button>
      </form>`,
  };
}

/** The forms of the page where it is on: what is wrong stands in the one that was sent. */
export type SentForm = 'backup-codes' | 'off';

export function onPage(path: string, base: string, { errors }: Typed, sent?: SentForm): Page {
  const faultsIn = (form: SentForm) => (form === sent ? errors : {});
  return {
    title: 'Second factor',
    width: 'narrow',
    body: html`<h1>Second factor ${badge('good', 'on')}</h1>
      ${card({
        title: 'New backup codes',
        body: html`<p>Each of them signs you in once when your phone is not at hand. New ones make the old ones useless.</p>
          <form method="post" action="${path}/backup-codes" class="stack">
            ${proofFields('', faultsIn('backup-codes'))}
            <button type="submit" class="quiet">Make new backup codes</button>
          </form>`,
      })}
      ${card({
        title: 'Switch it off',
        body: confirmed({
          text: 'Switch it off',
          consequence:
            'Your password alone opens your account then. To move to another phone, switch it off and set it up again.',
          isOpen: sent === 'off',
          form: html`<form method="post" action="${path}/off" class="stack">
            ${proofFields('-off', faultsIn('off'))}
            <button type="submit" class="danger">Switch the second factor off</button>
          </form>`,
        }),
      })}
      <p><a href="${base}/account">Back to your account</a></p>`,
  };
}

/** What is asked for where it is on. `suffix` tells the fields of two forms apart. */
function proofFields(suffix: string, errors: Typed['errors']): Html {
  return html`${errors.form ? notice('bad', errors.form) : ''}
    ${passwordField(errors.password, `password${suffix}`)} ${proofCodeField(`code${suffix}`, errors.code)}`;
}

function passwordField(error: string | undefined, id = 'password'): Html {
  return textField({
    name: 'password',
    id,
    label: 'Your password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    error,
  });
}

function proofCodeField(id: string, error?: string): Html {
  return textField({
    name: 'code',
    id,
    label: 'Code',
    autocomplete: 'one-time-code',
    required: true,
    maxlength: 32,
    error,
    hint: 'Six digits from your authenticator app, or one of your backup codes.',
  });
}

export function setUpPage(path: string, totpUri: string): Page {
  const secret = new URL(totpUri).searchParams.get('secret') ?? '';
  return {
    title: 'Set up the second factor',
    width: 'narrow',
    body: html`<h1>Set up the second factor</h1>
      <section class="card stack">
        <h2>1. Scan this with the app</h2>
        <div class="qr" role="img" aria-label="QR code for your authenticator app">${qrCode(totpUri)}</div>
        <p>Or type the secret into it:</p>
        ${copyable(inGroups(secret), 'Secret')}
      </section>
      <section class="card stack">
        <h2>2. Enter the code that it shows</h2>
        ${codePart(path, undefined)}
      </section>
      <p class="soft">Both are shown only now. Nothing is switched on before the code was right.</p>`,
  };
}

export function codePage(path: string, { errors }: Typed): Page {
  return {
    title: 'Set up the second factor',
    width: 'narrow',
    body: html`<h1>Set up the second factor</h1>
      ${errors.form ? notice('bad', errors.form) : ''}
      <section class="card stack">${codePart(path, errors.code)}</section>
      <p>Is the app not set up yet? <a href="${path}">Begin again</a>.</p>`,
  };
}

function codePart(path: string, error: string | undefined): Html {
  return html`<form method="post" action="${path}/confirm" class="stack">
    ${textField({ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, error, hint: 'Six digits.' })}
    <button type="submit">Switch it on</button>
  </form>`;
}

export function backupCodesPage(codes: string[], onwards: string, { isNew = false } = {}): Page {
  return {
    title: 'Backup codes',
    width: 'narrow',
    body: html`<h1>Backup codes</h1>
      ${isNew ? notice('good', 'Your second factor is on.') : notice('good', 'The old backup codes work no more.')}
      <section class="card stack">
        <p>Print these or put them into your password manager, not onto the same phone: each signs you in once when the app is not at hand. They are shown only now.</p>
        ${copyable(codes.join('\n'), 'Backup codes')}
        <a class="button" href="${onwards}">I have kept them</a>
      </section>`,
  };
}

/** Drawn by us, black on white in either colour scheme: readers of QR codes want it so. */
function qrCode(text: string): Html {
  return raw(renderSVG(text, { border: 2 })) as Html;
}

/** A long secret in groups of four, as users read and type it; apps ignore the blanks. */
function inGroups(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
