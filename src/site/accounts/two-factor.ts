import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html, raw } from 'hono/html';
import { renderSVG } from 'uqr';
import { z } from 'zod';
import { endSessions } from '../../accounts/people.ts';
import { whoIs } from '../../accounts/sessions.ts';
import { countTry, forgiveTry } from '../../accounts/sign-in-limits.ts';
import { isDuplicateKey } from '../../mongo.ts';
import { personOf, signInHeaders } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { readForm, type Typed, UNTOUCHED, withFault } from '../form.ts';
import type { Html } from '../html.ts';
import { type Page, sendPage } from '../layout.ts';
import { PERSON } from '../page-route.ts';
import { badge, card, confirmed, copyable, notice, textField } from '../parts.ts';
import type { AccountSources } from './account-pages.ts';
import { giveCookies, refusalCode } from './library.ts';

const passwordForm = z.object({
  password: z.string().min(1, 'Enter your password.').max(256, 'That is too long for a password.'),
});

const codeForm = z.object({
  code: z
    .string()
    .transform((value) => value.replace(/\s/g, ''))
    .pipe(z.string().regex(/^\d{6}$/, 'A code has six digits.')),
});

type Values = { password: string };

/** `/account/two-factor`: an authenticator app and backup codes. Secrets are shown once, in answers to forms. */
export function twoFactorPages(app: FastifyInstance, { platform, auth }: AccountSources): void {
  const { base } = app.site;
  const path = `${base}/account/two-factor`;

  const start = (request: FastifyRequest, typed: Typed = UNTOUCHED) =>
    personOf(request).twoFactorEnabled
      ? onPage(path, base, typed)
      : offPage(path, typed, { isDemanded: isDemanded(request) });

  const isDemanded = (request: FastifyRequest) =>
    personOf(request).role === 'operator' && platform.config.OPERATOR_TWO_FACTOR === 'required';

  /** Does what needs the password: what was typed is shown again, with why, where it is not right. */
  async function withPassword<T>(
    request: FastifyRequest,
    work: (values: Values) => Promise<T>,
  ): Promise<{ done: T } | { refused: Page }> {
    const { data, typed } = readForm(passwordForm, request);
    if (!data) return { refused: start(request, typed) };
    const who = { email: personOf(request).email, address: request.ip };
    const retryAt = await countTry(platform, who);
    if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
    try {
      const done = await work(data);
      await forgiveTry(platform, who);
      return { done };
    } catch (error) {
      const code = refusalCode(error);
      request.log.warn({ event: 'account.two_factor_refused', address: request.ip, code });
      const sentence = REFUSALS[code] ?? 'That is not your password.';
      return { refused: start(request, withFault(typed, sentence)) };
    }
  }

  app.get('/account/two-factor', PERSON, async (request, reply) => sendPage(request, reply, start(request)));

  app.post('/account/two-factor/begin', PERSON, async (request, reply) => {
    const begun = await withPassword(request, (body) => begin(request, body));
    if ('refused' in begun) return sendPage(request, reply, begun.refused, 400);
    return sendPage(request, reply, setUpPage(path, begun.done.totpURI));
  });

  app.post('/account/two-factor/confirm', PERSON, async (request, reply) => {
    const { data, typed } = readForm(codeForm, request);
    if (!data) return sendPage(request, reply, codePage(path, typed), 400);
    const who = { email: `code of ${personOf(request)._id.toHexString()}`, address: request.ip };
    const retryAt = await countTry(platform, who);
    if (retryAt) throw new PageError(429, 'Too many tries. Wait a few minutes.', retryAt);
    try {
      const { headers } = await auth.api.verifyTOTP({
        body: data,
        headers: signInHeaders(request),
        returnHeaders: true,
      });
      giveCookies(reply, headers);
      await endOthers(request, headers);
    } catch (error) {
      const code = refusalCode(error);
      if (code === 'TOTP_NOT_ENABLED') return reply.redirect(path, 303);
      return sendPage(request, reply, codePage(path, withFault(typed, WRONG_CODE)), 400);
    }
    const person = personOf(request);
    request.log.info({ event: 'account.two_factor_on', personId: person._id.toHexString() });
    const { backupCodes } = await auth.api.viewBackupCodes({ body: { userId: person._id.toHexString() } });
    const onwards = isDemanded(request) ? `${base}/operator` : `${base}/account`;
    return sendPage(request, reply, backupCodesPage(backupCodes, onwards, { isNew: true }));
  });

  app.post('/account/two-factor/backup-codes', PERSON, async (request, reply) => {
    const made = await withPassword(request, (body) =>
      auth.api.generateBackupCodes({ body, headers: signInHeaders(request) }),
    );
    if ('refused' in made) return sendPage(request, reply, made.refused, 400);
    return sendPage(request, reply, backupCodesPage(made.done.backupCodes, `${base}/account`));
  });

  app.post('/account/two-factor/off', PERSON, async (request, reply) => {
    const ended = await withPassword(request, (body) =>
      auth.api.disableTwoFactor({ body, headers: signInHeaders(request), returnHeaders: true }),
    );
    if ('refused' in ended) return sendPage(request, reply, ended.refused, 400);
    giveCookies(reply, ended.done.headers);
    const personId = personOf(request)._id.toHexString();
    request.log.info({ event: 'account.two_factor_off', personId });
    return reply.redirect(`${base}/account?done=two-factor-off`, 303);
  });

  /** Sessions that began with the password alone must not pass for ones with a second factor. */
  async function endOthers(request: FastifyRequest, given: Headers): Promise<void> {
    const cookie = given.getSetCookie().map((one) => one.split(';')[0] ?? '');
    const { signedIn } = await whoIs(auth, new Headers({ cookie: cookie.join('; ') }));
    await endSessions(platform, personOf(request)._id, (signedIn ?? request.signedIn)?.session.id);
  }

  async function begin(request: FastifyRequest, body: Values): Promise<{ totpURI: string }> {
    const asked = { body: { ...body, method: 'totp' as const }, headers: signInHeaders(request) };
    const begun = await auth.api.enableTwoFactor(asked).catch((error: unknown) => {
      // The button was pressed twice: the second secret takes the first one's place.
      if (isDuplicateKey(error)) return auth.api.enableTwoFactor(asked);
      throw error;
    });
    if (begun.method !== 'totp') throw new Error('the sign-in library made no secret');
    return begun;
  }
}

const WRONG_CODE =
  'That code is not right. Wait for the next one, and check that your phone’s clock is right.';

const REFUSALS: Record<string, string> = {
  TOTP_ALREADY_ENABLED: 'Your second factor is on already.',
  CREDENTIAL_ACCOUNT_NOT_FOUND: 'Set a password first: the second factor stands beside it.',
};

function offPage(path: string, { faults }: Typed, { isDemanded }: { isDemanded: boolean }): Page {
  return {
    title: 'Second factor',
    width: 'narrow',
    body: html`<h1>Second factor</h1>
      ${isDemanded ? notice('attention', 'Operators of this listing need a second factor. Set it up to go on to the desk.') : ''}
      ${faults.form ? notice('bad', faults.form) : ''}
      <p>You need an authenticator app on your phone, such as Aegis, Google Authenticator or a password manager. When you sign in, it gives you a code of six digits.</p>
      <form method="post" action="${path}/begin" class="card stack">
        ${passwordField(faults.password)}
        <button type="submit">Set it up</button>
      </form>`,
  };
}

function onPage(path: string, base: string, { faults }: Typed): Page {
  return {
    title: 'Second factor',
    width: 'narrow',
    body: html`<h1>Second factor ${badge('good', 'on')}</h1>
      ${faults.form ? notice('bad', faults.form) : ''}
      ${card({
        title: 'New backup codes',
        body: html`<p>Each of them signs you in once when your phone is not at hand. New ones make the old ones useless.</p>
          <form method="post" action="${path}/backup-codes" class="stack">
            ${passwordField(faults.password)}
            <button type="submit" class="quiet">Make new backup codes</button>
          </form>`,
      })}
      ${card({
        title: 'Switch it off',
        body: confirmed({
          text: 'Switch it off',
          consequence:
            'Your password alone opens your account then. To move to another phone, switch it off and set it up again.',
          form: html`<form method="post" action="${path}/off" class="stack">
            ${textField({ name: 'password', id: 'password-off', label: 'Your password', type: 'password', autocomplete: 'current-password', required: true })}
            <button type="submit" class="danger">Switch the second factor off</button>
          </form>`,
        }),
      })}
      <p><a href="${base}/account">Back to your account</a></p>`,
  };
}

function passwordField(fault: string | undefined): Html {
  return textField({
    name: 'password',
    label: 'Your password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    fault,
  });
}

function setUpPage(path: string, totpUri: string): Page {
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

function codePage(path: string, { faults }: Typed): Page {
  return {
    title: 'Set up the second factor',
    width: 'narrow',
    body: html`<h1>Set up the second factor</h1>
      ${faults.form ? notice('bad', faults.form) : ''}
      <section class="card stack">${codePart(path, faults.code)}</section>
      <p>Is the app not set up yet? <a href="${path}">Begin again</a>.</p>`,
  };
}

function codePart(path: string, fault: string | undefined): Html {
  return html`<form method="post" action="${path}/confirm" class="stack">
    ${textField({ name: 'code', label: 'Code', autocomplete: 'one-time-code', inputmode: 'numeric', required: true, fault, hint: 'Six digits.' })}
    <button type="submit">Switch it on</button>
  </form>`;
}

function backupCodesPage(codes: string[], onwards: string, { isNew = false } = {}): Page {
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

/** A long secret in groups of four, as people read and type it; apps ignore the blanks. */
function inGroups(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, '$1 ');
}
