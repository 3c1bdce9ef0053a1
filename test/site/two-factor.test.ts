import { symmetricEncrypt } from 'better-auth/crypto';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createAuth } from '../../src/accounts/auth.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import {
  CHEAP_PASSWORDS,
  getPage,
  OWN_ORIGIN,
  sendForm,
  type WebApp,
  webAppOfFile,
} from '../support/web-app.ts';
import { cookiesOf, copied, giveTwoFactor, isSignedIn, sendSignIn, setUpTwoFactor } from './account-pages.ts';

const shared = webAppOfFile();
let web: WebApp;

beforeEach(() => {
  web = shared();
});

/** The redirect after a code without a pending sign-in. */
const ENDED = '/sign-in?done=code-too-late&next=%2Fdashboard';

function sendCode(web: WebApp, code: string, pending: { cookie: string }) {
  return sendForm(web, '/sign-in/code', { code, next: '/dashboard' }, pending);
}

/** The cookie of a pending sign-in. */
async function halfSignedIn(web: WebApp, email: string): Promise<{ cookie: string }> {
  const half = await sendSignIn(web, email);
  expect(half.headers.location).toBe('/sign-in/code');
  const pending = cookiesOf(half);
  expect(await isSignedIn(web, pending)).toBe(false);
  return pending;
}

test('an operator without a second factor must set it up to open the admin area', async () => {
  const operator = await signIn(web, { role: 'operator', twoFactor: false });
  const area = await getPage(web, '/operator', operator.headers);
  expect(area.headers.location).toBe('/account/two-factor');
  const page = await getPage(web, '/account/two-factor', operator.headers);
  expect(page.body).toContain('Operators of this listing must use two-factor authentication.');
  const { headers } = await setUpTwoFactor(web, operator);
  expect((await getPage(web, '/operator', headers)).statusCode).toBe(200);
  // Turning the second factor on has ended the earlier session.
  expect(await isSignedIn(web, operator.headers)).toBe(false);
});

test('if it is optional, an operator needs no second factor', async () => {
  web.deps.config.OPERATOR_TWO_FACTOR = 'optional';
  onTestFinished(() => {
    web.deps.config.OPERATOR_TWO_FACTOR = 'required';
  });
  const { headers } = await signIn(web, { role: 'operator', twoFactor: false });
  expect((await getPage(web, '/operator', headers)).statusCode).toBe(200);
});

test('setup shows the secret as a QR code and as text, and needs a correct code to turn on', async () => {
  const { email, headers } = await signIn(web);
  const wrong = await sendForm(web, '/account/two-factor/begin', { password: 'wrong' }, headers);
  expect(wrong.statusCode).toBe(400);
  expect(wrong.body).toContain('The password is wrong.');
  const begun = await sendForm(web, '/account/two-factor/begin', { password: PASSWORD }, headers);
  expect(begun.body).toContain('<svg xmlns="http://www.w3.org/2000/svg"');
  expect(copied(begun.body)).toMatch(/^[A-Z2-7]{4}( [A-Z2-7]{1,4})+$/);
  const refused = await sendForm(web, '/account/two-factor/confirm', { code: '000000' }, headers);
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('The code is wrong.');
  expect((await sendSignIn(web, email)).headers.location).toBe('/dashboard');
  // If the setup is started a second time, the newer secret counts.
  await setUpTwoFactor(web, { headers });
  await halfSignedIn(web, email);
});

test('a sign-in needs a code, and each code works once', async () => {
  const nora = await signIn(web);
  const { secret } = await giveTwoFactor(web, nora);
  const [first, second] = [await halfSignedIn(web, nora.email), await halfSignedIn(web, nora.email)];
  const code = codeOf(secret);
  expect((await sendCode(web, '000000', first)).statusCode).toBe(401);
  const done = await sendCode(web, `${code.slice(0, 3)} ${code.slice(3)}`, first);
  expect(done.headers.location).toBe('/dashboard');
  expect(await isSignedIn(web, cookiesOf(done))).toBe(true);

  // An attacker who knows the password and the code tries to use it again.
  const replayed = await sendCode(web, code, second);
  expect(replayed.statusCode).toBe(401);
  expect(replayed.body).toContain('That code was already used.');
  expect(await isSignedIn(web, cookiesOf(replayed))).toBe(false);
  expect((await sendCode(web, code, first)).headers.location).toBe(ENDED);
  expect((await getPage(web, ENDED, {})).body).toContain('This sign-in has expired.');
});

test('after a used code the next one works, and wrong attempts stay counted', async () => {
  const nora = await signIn(web);
  const { secret } = await giveTwoFactor(web, nora);
  const [first, second] = [await halfSignedIn(web, nora.email), await halfSignedIn(web, nora.email)];
  const now = Date.now();
  const used = codeOf(secret, now);
  await sendCode(web, used, first);
  for (let n = 0; n < 4; n += 1) await sendCode(web, '000000', second);
  expect((await sendCode(web, used, second)).body).toContain('Wait for the next one.');
  const factor = { userId: nora.userId };
  expect(await web.deps.twoFactors.findOne(factor)).toMatchObject({ failedVerificationCount: 4 });
  const next = codeOf(secret, now + 30_000);
  const done = await sendCode(web, next, second);
  expect(done.headers.location).toBe('/dashboard');
  expect(await isSignedIn(web, cookiesOf(done))).toBe(true);

  const third = await halfSignedIn(web, nora.email);
  for (let n = 0; n < 4; n += 1) await sendCode(web, '000000', third);
  await sendCode(web, next, third);
  await sendCode(web, '000000', third);
  expect((await sendCode(web, '000000', third)).body).toContain('Too many wrong codes.');
});

test('one code sent twice at the same time starts one session', async () => {
  const nora = await signIn(web);
  const { email } = nora;
  const { secret } = await giveTwoFactor(web, nora);
  const pending = [await halfSignedIn(web, email), await halfSignedIn(web, email)];
  const code = codeOf(secret);
  const answers = await Promise.all(pending.map((one) => sendCode(web, code, one)));
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 401]);
});

test('after five wrong codes the user must sign in again', async () => {
  const nora = await signIn(web);
  const { email } = nora;
  const { secret } = await giveTwoFactor(web, nora);
  const pending = await halfSignedIn(web, email);
  for (let n = 0; n < 5; n += 1) await sendCode(web, '000000', pending);
  const answer = await sendCode(web, codeOf(secret), pending);
  expect(answer.statusCode).toBe(401);
  expect(answer.body).toContain('Too many wrong codes.');
});

test('codes sent by others do not block sign-ins', async () => {
  const nora = await signIn(web);
  const { email } = nora;
  const { secret } = await giveTwoFactor(web, nora);
  const fromElsewhere = async () => {
    const { statusCode } = await web.app.inject({
      method: 'POST',
      url: '/sign-in/code',
      remoteAddress: '192.0.2.7',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        ...OWN_ORIGIN,
      },
      payload: 'code=000000',
    });
    return statusCode;
  };
  expect(await fromElsewhere()).toBe(303);
  await web.deps.rateLimits.updateMany({ _id: /^code:address:192/ }, { $set: { count: 30 } });
  expect(await fromElsewhere()).toBe(429);
  const done = await sendCode(web, codeOf(secret), await halfSignedIn(web, email));
  expect(done.headers.location).toBe('/dashboard');
});

test('a session from before the setup does not count as one with a second factor', async () => {
  const operator = await signIn(web, { role: 'operator', twoFactor: false });
  // An attacker who knows the password.
  const other = cookiesOf(await sendSignIn(web, operator.email));
  expect(await isSignedIn(web, other)).toBe(true);
  const { headers } = await setUpTwoFactor(web, operator);
  expect((await getPage(web, '/operator', headers)).statusCode).toBe(200);
  expect((await getPage(web, '/operator', other)).statusCode).toBe(303);
  expect(await isSignedIn(web, other)).toBe(false);
});

test('a backup code works once; new codes replace the old ones', async () => {
  const nora = await signIn(web);
  const { email } = nora;
  const { backupCodes } = await giveTwoFactor(web, nora);
  expect(backupCodes).toHaveLength(10);
  const [one = '', two = '', three = ''] = backupCodes;
  const done = await sendCode(web, one, await halfSignedIn(web, email));
  expect(done.headers.location).toBe('/dashboard');
  expect((await sendCode(web, one, await halfSignedIn(web, email))).statusCode).toBe(401);
  const made = await sendForm(
    web,
    '/account/two-factor/backup-codes',
    { password: PASSWORD, code: two },
    cookiesOf(done),
  );
  const fresh = copied(made.body).split('\n');
  expect(fresh).toHaveLength(10);
  expect((await sendCode(web, three, await halfSignedIn(web, email))).statusCode).toBe(401);
  expect((await sendCode(web, fresh[0] ?? '', await halfSignedIn(web, email))).statusCode).toBe(303);
});

test('a backup code is accepted in any notation', async () => {
  const nora = await signIn(web);
  const { backupCodes } = await giveTwoFactor(web, nora);
  for (const code of backupCodes) expect(code).toMatch(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/);
  const [one = '', two = '', three = ''] = backupCodes;
  const typed = [one.toLowerCase(), two.replaceAll('-', ''), ` ${three.replaceAll('-', ' – ')} `];
  for (const code of typed) {
    const done = await sendCode(web, code, await halfSignedIn(web, nora.email));
    expect([code, done.headers.location]).toEqual([code, '/dashboard']);
  }
});

test('backup codes of older versions work with and without their dash', async () => {
  const nora = await signIn(web);
  await giveTwoFactor(web, nora);
  const { $context } = createAuth({ ...web.deps, passwords: CHEAP_PASSWORDS }, async () => {});
  const { secretConfig: key } = await $context;
  const data = JSON.stringify(['aB3dE-5fGhI', 'Zz9Yy-8XxWw']);
  const backupCodes = await symmetricEncrypt({ key, data });
  await web.deps.twoFactors.updateOne({ userId: nora.userId }, { $set: { backupCodes } as object });
  for (const [code, to] of [
    ['ab3de-5fghi', undefined],
    ['aB3dE5fGhI', '/dashboard'],
    ['Zz9Yy-8XxWw', '/dashboard'],
  ] as const) {
    const answer = await sendCode(web, code, await halfSignedIn(web, nora.email));
    expect([code, answer.headers.location]).toEqual([code, to]);
  }
});

test('turning it off needs the password and a code', async () => {
  const nora = await signIn(web);
  const { email } = nora;
  const { headers, secret } = await giveTwoFactor(web, nora);
  const code = codeOf(secret);
  expect((await getPage(web, '/account/two-factor', headers)).body).toContain(
    'Turn off two-factor authentication',
  );
  const wrong = await sendForm(web, '/account/two-factor/off', { password: 'wrong', code }, headers);
  expect(wrong.statusCode).toBe(400);
  await halfSignedIn(web, email);
  const off = await sendForm(web, '/account/two-factor/off', { password: PASSWORD, code }, headers);
  expect(off.headers.location).toBe('/account?done=two-factor-off');
  expect((await sendSignIn(web, email)).headers.location).toBe('/dashboard');
});

test.each([
  ['off', / open>/],
  ['backup-codes', /class="confirm" ?>/],
])('what is wrong with a form stands in it, and it stays open: %s', async (sent, details) => {
  const nora = await signIn(web);
  const { headers } = await giveTwoFactor(web, nora);
  const refused = [
    { fields: { password: 'wrong', code: '000000' }, sentence: 'The password is wrong.' },
    { fields: { password: PASSWORD, code: '000000' }, sentence: 'The code is wrong.' },
    { fields: { password: PASSWORD, code: '' }, sentence: 'Enter a code.' },
  ];
  for (const { fields, sentence } of refused) {
    const { body, statusCode } = await sendForm(web, `/account/two-factor/${sent}`, fields, headers);
    expect(statusCode).toBe(400);
    expect(body.match(/<details[^>]*>/)?.[0]).toMatch(details);
    const forms = body.split('<form').filter((form) => form.includes(`-error">${sentence}`));
    expect(forms).toHaveLength(1);
    expect(forms[0]).toContain(`action="/account/two-factor/${sent}"`);
  }
});

test('if it is on, starting the setup shows its page', async () => {
  const { headers } = await giveTwoFactor(web, await signIn(web));
  const answer = await sendForm(web, '/account/two-factor/begin', {}, headers);
  expect(answer.statusCode).toBe(409);
  expect(answer.body).toContain('Generate new backup codes');
});

test('if it is on, a code alone shows no backup codes and writes nothing', async () => {
  const nora = await signIn(web);
  const { headers, secret } = await giveTwoFactor(web, nora);
  const entries = await web.deps.auditLog.countDocuments();
  const answer = await sendForm(web, '/account/two-factor/confirm', { code: codeOf(secret) }, headers);
  expect(answer.headers.location).toBe('/account/two-factor');
  expect(await web.deps.auditLog.countDocuments()).toBe(entries);
});

test('the sign-in page does not reveal valid codes to a session', async () => {
  const nora = await signIn(web);
  const { headers, secret, backupCodes } = await giveTwoFactor(web, nora);
  for (const code of ['000000', codeOf(secret), 'wrong-one', backupCodes[0] ?? '']) {
    const answer = await sendCode(web, code, headers);
    expect([code, answer.headers.location]).toEqual([code, ENDED]);
  }
  // If there is a pending sign-in, the session does not matter: five wrong codes end the pending sign-in.
  const pending = await halfSignedIn(web, nora.email);
  const both = { cookie: `${headers.cookie}; ${pending.cookie}` };
  for (let n = 0; n < 5; n += 1) await sendCode(web, '000000', both);
  expect((await sendCode(web, codeOf(secret), both)).body).toContain('Too many wrong codes.');
  const signedIn = await sendCode(web, codeOf(secret), await halfSignedIn(web, nora.email));
  expect(signedIn.headers.location).toBe('/dashboard');
});
