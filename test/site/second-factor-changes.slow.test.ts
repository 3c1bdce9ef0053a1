import { describe, expect, onTestFinished, test } from 'vitest';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { getPage, sendForm, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { cookiesOf, copied, giveTwoFactor, mailsTo, sendSignIn, setUpTwoFactor } from './account-pages.ts';

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Tallyport <votes@example.org>' };
const shared = webAppOfFile();

const change = (web: WebApp, form: string, headers: { cookie: string }, fields: Record<string, string>) =>
  sendForm(web, `/account/two-factor/${form}`, { password: PASSWORD, ...fields }, headers);

const isOn = async (web: WebApp, email: string) =>
  (await web.deps.users.findOne({ email }))?.twoFactorEnabled;

test('a second factor is not turned off with the password and no valid code', async () => {
  const web = shared();
  const operator = await signIn(web, { role: 'operator', twoFactor: false });
  const { headers, backupCodes } = await giveTwoFactor(web, operator);
  for (const fields of [{}, { code: ' ' }, { code: '000000' }, { code: 'aaaaa-bbbbb' }])
    expect((await change(web, 'off', headers, fields as Record<string, string>)).statusCode).toBe(400);
  expect(await isOn(web, operator.email)).toBe(true);
  expect((await change(web, 'off', headers, { code: backupCodes[0] ?? '' })).statusCode).toBe(303);
});

test.each(['backup-codes', 'off'])('the form “%s” takes a code of the app once', async (form) => {
  const web = shared();
  const owner = await signIn(web);
  const { headers, secret } = await giveTwoFactor(web, owner);
  const code = codeOf(secret);
  const half = await sendSignIn(web, owner.email);
  expect((await sendForm(web, '/sign-in/code', { code }, cookiesOf(half))).statusCode).toBe(303);
  // An attacker who knows the code tries it in an open session.
  const replayed = await change(web, form, headers, { code });
  expect(replayed.statusCode).toBe(400);
  expect(replayed.body).toContain('A code works once, and this one was used already');
  expect(await isOn(web, owner.email)).toBe(true);
});

test('a wrong password beside a backup code does not use the code up', async () => {
  const web = shared();
  const owner = await signIn(web);
  const { headers, backupCodes } = await giveTwoFactor(web, owner);
  const code = backupCodes[0] ?? '';
  const wrong = await change(web, 'off', headers, { password: 'four ships in the bay', code });
  expect(wrong.statusCode).toBe(400);
  expect(wrong.body).toContain('The password is wrong.');
  expect(await isOn(web, owner.email)).toBe(true);
  expect((await change(web, 'off', headers, { code })).statusCode).toBe(303);
});

test('codes cannot be guessed in an open session: ten attempts in ten minutes', async () => {
  const web = shared();
  const owner = await signIn(web);
  const { headers, backupCodes } = await giveTwoFactor(web, owner);
  await web.deps.rateLimits.deleteMany({});
  expect((await change(web, 'off', headers, { code: '000000' })).statusCode).toBe(400);
  await web.deps.rateLimits.updateMany({ _id: /^proof:/ }, { $set: { count: 9 } });
  expect((await change(web, 'off', headers, { code: '000001' })).statusCode).toBe(400);
  expect((await change(web, 'off', headers, { code: backupCodes[0] ?? '' })).statusCode).toBe(429);
  expect(await isOn(web, owner.email)).toBe(true);
});

/** Makes the operator's sessions older. */
async function ago(web: WebApp, ms: number): Promise<void> {
  const at = new Date(Date.now() - ms);
  await web.deps.sessions.updateMany({}, { $set: { createdAt: at, secondFactorAt: at } });
}

test('a new password renews an operator’s session, and not the time of the code', async () => {
  const web = shared();
  const { headers } = await signIn(web, { role: 'operator' });
  await ago(web, 12 * HOUR + MINUTE);
  expect((await getPage(web, '/operator', headers)).headers.location).toMatch(/^\/sign-in/);
  const fields = { current: PASSWORD, password: 'seven lamps on the quay' };
  const renewed = cookiesOf(await sendForm(web, '/account/password', fields, headers));
  expect((await getPage(web, '/account', renewed)).statusCode).toBe(200);
  expect((await getPage(web, '/operator', renewed)).headers.location).toMatch(/^\/sign-in/);
});

test('a new password within twelve hours of the code keeps access to the admin area', async () => {
  const web = shared();
  const { headers } = await signIn(web, { role: 'operator' });
  const fields = { current: PASSWORD, password: 'seven lamps on the quay' };
  const renewed = cookiesOf(await sendForm(web, '/account/password', fields, headers));
  expect((await getPage(web, '/operator', renewed)).statusCode).toBe(200);
});

test.each([
  'required',
  'optional',
] as const)('where a second factor is %s, a session in which no code was given opens no admin area', async (rule) => {
  const web = shared();
  web.deps.config.OPERATOR_TWO_FACTOR = rule;
  onTestFinished(() => {
    web.deps.config.OPERATOR_TWO_FACTOR = 'required';
  });
  const { headers } = await signIn(web, { role: 'operator' });
  expect((await getPage(web, '/operator', headers)).statusCode).toBe(200);
  await web.deps.sessions.updateMany({}, { $unset: { secondFactorAt: '' } });
  expect((await getPage(web, '/operator', headers)).headers.location).toMatch(/^\/sign-in/);
});

test('a sign-in with a code opens the admin area', async () => {
  const web = shared();
  const operator = await signIn(web, { role: 'operator', twoFactor: false });
  const { secret } = await giveTwoFactor(web, operator);
  const half = cookiesOf(await sendSignIn(web, operator.email));
  const whole = cookiesOf(await sendForm(web, '/sign-in/code', { code: codeOf(secret) }, half));
  expect((await getPage(web, '/operator', whole)).statusCode).toBe(200);
});

describe('with a mail server', () => {
  const withMail = webAppOfFile(MAIL);

  test('each change is recorded in the audit log and mailed, also with notifications off', async () => {
    const web = withMail();
    const { email, headers: before, userId } = await signIn(web);
    await web.deps.users.updateOne({ _id: userId }, { $set: { wantsMail: false } });
    const { headers, backupCodes } = await setUpTwoFactor(web, { headers: before });
    const made = await change(web, 'backup-codes', headers, { code: backupCodes[0] ?? '' });
    await change(web, 'off', headers, { code: copied(made.body).split('\n')[0] ?? '' });
    const current = cookiesOf(await sendSignIn(web, email));
    await sendForm(
      web,
      '/account/password',
      { current: PASSWORD, password: 'seven lamps on the quay' },
      current,
    );

    const actions = [
      'account.two-factor-on',
      'account.backup-codes',
      'account.two-factor-off',
      'account.password',
    ];
    const entries = await web.deps.auditLog.find({ by: email }).sort({ at: 1, _id: 1 }).toArray();
    expect(entries.map(({ action }) => action)).toEqual(actions);
    for (const { details } of entries) expect(details).toEqual({ personId: userId.toHexString() });
    const letters = await mailsTo(web.deps, email);
    expect(letters.map((text) => text.split('\n')[0])).toEqual([
      'The second factor of your account was switched on.',
      'New backup codes were made for your account. The old ones work no more.',
      'The second factor of your account was switched off. Your password alone opens it now.',
      'A new password was set for your account.',
    ]);
    for (const text of letters) expect(text).toContain('If this was not you');
  });

  test('a password set by a link and a second factor reset by an operator are mailed too', async () => {
    const web = withMail();
    const { email, userId } = await signIn(web);
    await sendForm(web, '/forgot-password', { email });
    const [text = ''] = await mailsTo(web.deps, email);
    const token = /\?token=(\S+)/.exec(text)?.[1] ?? '';
    await sendForm(web, '/set-password', { token, password: 'seven lamps on the quay' });
    const operator = await signIn(web, { role: 'operator' });
    await sendForm(web, `/operator/users/${userId.toHexString()}/reset-two-factor`, {}, operator.headers);
    const letters = await mailsTo(web.deps, email);
    expect(letters[1]).toContain('A new password was set for your account.');
    expect(letters[2]).toContain('An operator has taken the second factor of your account away.');
    expect(await web.deps.auditLog.countDocuments({ action: 'account.password', by: email })).toBe(1);
  });
});
