import { expect, onTestFinished, test } from 'vitest';
import { hasOperator, makeSetupLink, SETUP_LINK_MS } from '../../src/accounts/setup.ts';
import { SECOND } from '../../src/platform/clock.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import {
  CHEAP_PASSWORDS,
  getPage,
  OWN_ORIGIN,
  openWebApp,
  openWebAppOn,
  sendForm,
  textOf,
  type WebApp,
  webAppOfFile,
} from '../support/web-app.ts';
import { cookiesOf, copied, isSignedIn, sendSignIn } from './account-pages.ts';

const ADA = { email: 'ada@example.org', name: 'Ada Operator', password: PASSWORD };
const USELESS = 'This code does not work.';
const site = webAppOfFile({ TRUST_PROXY: '1' });

const newCode = async ({ deps }: WebApp) => (await makeSetupLink(deps)).split('#token=')[1] ?? '';

function sendOperator(web: WebApp, code: string, more: Partial<typeof ADA> = {}, headers = {}) {
  return sendForm(web, '/setup/operator', { code, ...ADA, ...more }, headers);
}

const operators = ({ deps }: WebApp) => deps.users.find({ role: 'operator' }).toArray();

test('whoever has the link makes the operator, is signed in, and goes on with the second factor and the list of the set-up', async () => {
  const web = site();
  expect((await getPage(web, '/setup')).body).toContain('data-setup-code');
  const code = await newCode(web);
  // Without JavaScript, the whole link may be pasted.
  const form = await sendForm(web, '/setup', { code: ` http://localhost:3000/setup#token=${code} ` });
  expect(form.statusCode).toBe(200);
  expect(form.headers['cache-control']).toBe('no-store');
  expect(form.body).toContain(`name="code" value="${code}"`);

  const made = await sendOperator(web, code);
  expect(made.statusCode, made.body).toBe(200);
  expect(made.body).toContain('Scan this code with your app');
  const own = cookiesOf(made);
  expect(await isSignedIn(web, own)).toBe(true);
  // Operators need a second factor, so the admin area is still closed.
  expect((await getPage(web, '/operator/setup', own)).headers.location).toBe('/account/two-factor');
  const secret = copied(made.body);
  const on = await sendForm(web, '/account/two-factor/confirm', { code: codeOf(secret) }, own);
  expect(on.body).toContain('href="/operator/setup"');
  const steps = textOf((await getPage(web, '/operator/setup', cookiesOf(on))).body);
  expect(steps).toMatch(
    /Name the site.*Look at what the site saw.*mail server.*imprint.*logo and colour.*Add a server/,
  );

  expect(await operators(web)).toMatchObject([
    { email: ADA.email, name: ADA.name, emailVerified: true, twoFactorEnabled: true },
  ]);
  expect(await web.deps.verifications.countDocuments()).toBe(0);
  const entries = await web.deps.auditLog.find({ action: 'person.make-operator' }).toArray();
  expect(entries).toMatchObject([{ by: 'cli', details: { email: ADA.email, with: 'setup link' } }]);
  expect(JSON.stringify(entries)).not.toContain(code);
});

test('a link works once, and a site with an operator has no such pages', async () => {
  const web = site();
  const code = await newCode(web);
  const made = await sendOperator(web, code);
  const unknown = await getPage(web, '/nothing');
  const asUnknown = (body: string) =>
    decodeURIComponent(body).replaceAll(/\/(nothing|setup\/operator|setup)\b/g, '');
  // The operator who reloads the page goes on with the set-up.
  const reloaded = await sendOperator(web, code, {}, cookiesOf(made));
  expect(reloaded.headers.location).toBe('/operator/setup');
  const again = await sendOperator(web, code, { email: 'eve@example.org' });
  for (const answer of [await getPage(web, '/setup'), await sendForm(web, '/setup', { code }), again]) {
    expect(answer.statusCode).toBe(404);
    expect(asUnknown(answer.body)).toBe(asUnknown(unknown.body));
  }
  expect((await sendForm(web, '/setup', { code }, { accept: 'application/json' })).json()).toMatchObject({
    code: 'not-found',
  });
  expect(await operators(web)).toHaveLength(1);
  expect(await web.deps.users.countDocuments()).toBe(1);
  await expect(makeSetupLink(web.deps)).rejects.toMatchObject({ code: 'has-operator' });
});

test('the code is stored as a hash and ends after an hour; a newer link ends the earlier ones', async () => {
  const clock = stoppedClock();
  const web = await openWebApp({}, { clock });
  const { deps } = web;
  const earlier = await newCode(web);
  const code = await newCode(web);
  const stored = await deps.verifications.find().toArray();
  expect(stored).toHaveLength(1);
  expect(JSON.stringify(stored)).not.toContain(code);

  expect(textOf((await sendForm(web, '/setup', { code: earlier })).body)).toContain(USELESS);
  clock.move(SETUP_LINK_MS - SECOND);
  expect((await sendForm(web, '/setup', { code })).statusCode).toBe(200);
  clock.move(SECOND);
  const expired = await sendOperator(web, code);
  expect(expired.statusCode).toBe(400);
  expect(textOf(expired.body)).toContain(USELESS);
  expect(await deps.users.countDocuments()).toBe(0);
});

test('if several people use a link at once, exactly one becomes the operator, and the others leave no account', async () => {
  const web = site();
  const code = await newCode(web);
  const people = ['a', 'b', 'c', 'd'].map((name) => `${name}@example.org`);
  const answers = await Promise.all(people.map((email) => sendOperator(web, code, { email })));
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  for (const status of statuses) expect([200, 400, 404, 409]).toContain(status);
  const users = await web.deps.users.find().toArray();
  expect(users).toMatchObject([{ role: 'operator', email: people[statuses.indexOf(200)] }]);
});

/** The site as a process sees it that dies at a call of a method. */
function dyingAt(web: WebApp, name: 'users' | 'verifications', method: string): Promise<WebApp> {
  const collection = new Proxy(web.deps[name], {
    get(target, key) {
      if (key === method) return () => Promise.reject(new Error('killed'));
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return openWebAppOn({ ...web.deps, [name]: collection, passwords: CHEAP_PASSWORDS });
}

test('if the process dies before the link is used up, the link still works, also for the same address', async () => {
  const web = site();
  const code = await newCode(web);
  const dying = await dyingAt(web, 'verifications', 'findOneAndDelete');
  expect((await sendOperator(dying, code)).statusCode).toBe(500);
  expect(await hasOperator(web.deps)).toBe(false);
  expect((await sendOperator(web, code)).statusCode).toBe(200);
  expect(await operators(web)).toMatchObject([{ email: ADA.email }]);
  expect(await web.deps.credentials.countDocuments()).toBe(1);
});

test('if the process dies in the step that uses the link up, another link makes the operator', async () => {
  const web = site();
  const code = await newCode(web);
  expect((await sendOperator(await dyingAt(web, 'users', 'updateOne'), code)).statusCode).toBe(500);
  expect(await hasOperator(web.deps)).toBe(false);
  expect((await sendOperator(web, code)).statusCode).toBe(400);
  expect((await sendOperator(web, await newCode(web))).statusCode).toBe(200);
  expect(await operators(web)).toMatchObject([{ email: ADA.email }]);
  expect((await sendSignIn(web, ADA.email)).statusCode).toBe(303);
});

test('an account of the same address becomes the operator’s, without its password and sessions', async () => {
  const web = site();
  const stranger = await signIn(web, { email: ADA.email });
  await web.deps.users.updateOne({ email: ADA.email }, { $set: { suspendedAt: new Date() } });
  const made = await sendOperator(web, await newCode(web), { password: 'seven lamps on the quay' });
  expect(made.statusCode, made.body).toBe(200);
  expect(await isSignedIn(web, stranger.headers)).toBe(false);
  expect((await sendSignIn(web, ADA.email)).statusCode).toBe(401);
  expect((await sendSignIn(web, ADA.email, 'seven lamps on the quay')).statusCode).toBe(303);
});

test('a wrong code shows nothing but that, and guesses are limited by network', async () => {
  const web = site();
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const code = await newCode(web);
  for (const wrong of ['guess', code.slice(1), `${code}A`, 'x'.repeat(2_000), '']) {
    const answer = await sendForm(web, '/setup', { code: wrong }, from('192.0.2.1'));
    expect(answer.statusCode).toBe(400);
    expect(answer.body).not.toContain('/setup/operator');
    expect(answer.body).not.toContain(code);
  }
  const guess = () => sendForm(web, '/setup', { code: 'guess' }, from('192.0.2.7'));
  expect((await guess()).statusCode).toBe(400);
  await web.deps.rateLimits.updateMany({ _id: /192\.0\.2\.7$/ }, { $set: { count: 19 } });
  expect([(await guess()).statusCode, (await guess()).statusCode]).toEqual([400, 429]);
  // Neither form checks a right code of this network now; other networks are not concerned.
  expect((await sendForm(web, '/setup', { code }, from('192.0.2.7'))).statusCode).toBe(429);
  expect((await sendOperator(web, code, {}, from('192.0.2.7'))).statusCode).toBe(429);
  expect((await sendForm(web, '/setup', { code }, from('192.0.2.8'))).statusCode).toBe(200);
  expect(await web.deps.users.countDocuments()).toBe(0);
});

test('the entries are checked before the link is used up, and the password is not shown again', async () => {
  const web = site();
  const code = await newCode(web);
  for (const [wrong, sentence] of [
    [{ email: 'nonsense' }, 'Must be an e-mail address.'],
    [{ password: 'short' }, 'Use at least 10 characters.'],
    [{ password: ADA.email }, 'The password must not be your e-mail address or name.'],
    [{ name: '' }, 'Must not be empty.'],
  ] as const) {
    const refused = await sendOperator(web, code, wrong);
    expect(refused.statusCode).toBe(400);
    expect(textOf(refused.body)).toContain(sentence);
    expect(refused.body).not.toContain(PASSWORD);
    expect(refused.body).toContain(`value="${code}"`);
  }
  expect((await sendOperator(web, code)).statusCode).toBe(200);
});

test('another site cannot send the forms', async () => {
  const web = site();
  const code = await newCode(web);
  for (const headers of [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: OWN_ORIGIN.origin, 'sec-fetch-site': 'same-site' },
  ])
    for (const path of ['/setup', '/setup/operator'])
      expect((await sendForm(web, path, { code, ...ADA }, headers)).statusCode).toBe(403);
  expect(await hasOperator(web.deps)).toBe(false);
});

test('if the second factor is optional, the operator may go on without one', async () => {
  const web = site();
  web.deps.config.OPERATOR_TWO_FACTOR = 'optional';
  onTestFinished(() => {
    web.deps.config.OPERATOR_TWO_FACTOR = 'required';
  });
  const made = await sendOperator(web, await newCode(web));
  expect(made.body).toContain('<a href="/operator/setup">Continue without a second factor</a>');
  expect((await getPage(web, '/operator/setup', cookiesOf(made))).statusCode).toBe(200);
});

test('with mail and a path in PUBLIC_URL, the link and its pages work too', async () => {
  const web = await openWebApp({
    PUBLIC_URL: 'http://localhost:3000/listing',
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'Tallyport <votes@example.org>',
  });
  expect(await makeSetupLink(web.deps)).toMatch(/^http:\/\/localhost:3000\/listing\/setup#token=[\w-]{32}$/);
  const made = await sendOperator(web, await newCode(web));
  expect(made.body).toContain('action="/listing/account/two-factor/confirm"');
});

test('the operator closes steps that are not needed and takes one up again', async () => {
  const web = site();
  const { headers } = await signIn(web, { role: 'operator' });
  const close = (is: string) => sendForm(web, '/operator/setup', { step: 'imprint', is }, headers);
  expect((await close('closed')).headers.location).toBe('/operator/setup');
  await close('closed');
  expect(textOf((await getPage(web, '/operator/setup', headers)).body)).toContain(
    'Write the imprint not needed',
  );
  await close('open');
  const steps = textOf((await getPage(web, '/operator/setup', headers)).body);
  expect(steps).not.toContain('not needed');
  const actions = await web.deps.auditLog.find().sort({ _id: 1 }).toArray();
  expect(actions.map(({ action }) => action)).toEqual(['setup.close-step', 'setup.open-step']);
  expect(textOf((await getPage(web, '/operator', headers)).body)).toContain('0 of 7 steps are done');
  await sendForm(web, '/operator/setup', { step: 'rest', is: 'closed' }, headers);
  expect(textOf((await getPage(web, '/operator/setup', headers)).body)).toContain('The site is set up.');
  expect((await getPage(web, '/operator', headers)).body).not.toContain('/operator/setup');
});
