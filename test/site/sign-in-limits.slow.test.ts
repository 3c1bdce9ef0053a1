import { expect, test } from 'vitest';
import { createKnownDevices } from '../../src/accounts/known-devices.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import {
  CHEAP_PASSWORDS,
  OWN_ORIGIN,
  openWebApp,
  openWebAppOn,
  sendForm,
  textOf,
  type WebApp,
} from '../support/web-app.ts';
import { cookiesOf, sendSignIn, setUpTwoFactor } from './account-pages.ts';

const from = (address: string, headers: { cookie?: string } = {}) => ({
  'x-forwarded-for': address,
  ...headers,
});

/** Sets the counters whose keys begin with `kind`, because real attempts would each take a password hash. */
async function makeTries({ deps }: WebApp, kind: string, count: number): Promise<void> {
  await deps.rateLimits.updateMany({ _id: new RegExp(`^${kind}`) }, { $set: { count } });
}

/** Opens a web application in which password checks wait until `release` is called. */
async function blockedPasswordChecks() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const passwords = {
    hash: (password: string) => released.then(() => CHEAP_PASSWORDS.hash(password)),
    verify: (password: string, stored: string) =>
      released.then(() => CHEAP_PASSWORDS.verify(password, stored)),
  };
  const web = await openWebAppOn({ ...(await testDeps({ TRUST_PROXY: '1' })), passwords });
  const devices = createKnownDevices(web.deps.config, web.deps.clock);
  const deviceCookie = (email: string) => ({ cookie: devices.cookieFor(email).split(';')[0] ?? '' });
  return { web, release, deviceCookie };
}

/** Returns the cookie of a known device. */
async function deviceOf(web: WebApp, email: string, address = '203.0.113.9'): Promise<{ cookie: string }> {
  const { cookie } = cookiesOf(await sendSignIn(web, email, PASSWORD, from(address)));
  const device = cookie.split('; ').find((one) => one.includes('tallyport.device='));
  expect(device).toBeDefined();
  return { cookie: device ?? '' };
}

test('wrong attempts from one network are refused and do not block other networks', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web, { role: 'operator', twoFactor: false });
  expect((await sendSignIn(web, email, 'wrong', from('2001:db8:7:7::1'))).statusCode).toBe(401);
  await makeTries(web, 'sign-in:account:', 9);
  // The limit counts all addresses of an IPv6 network together.
  expect((await sendSignIn(web, email, 'wrong', from('2001:db8:7:7::2'))).statusCode).toBe(401);
  const refused = await sendSignIn(web, email, PASSWORD, from('2001:db8:7:7::99'));
  expect(refused.statusCode).toBe(429);
  expect(refused.cookies).toEqual([]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
  const text = textOf(refused.body);
  expect(text).toContain('Too many attempts. You can try again in');
  expect(text).not.toContain('a few minutes');
  expect((await sendSignIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('a known device can sign in despite many attempts from other clients, also of its own network', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const device = await deviceOf(web, email);
  await sendSignIn(web, email, 'wrong', from('203.0.113.9'));
  await makeTries(web, 'sign-in:', 1_000);
  const limits = await web.deps.rateLimits.find({ count: 1_000 }).toArray();
  expect(limits.map(({ _id }) => _id.split(':')[1]).toSorted()).toEqual([
    'account',
    'address',
    'all',
    'email',
    'site',
  ]);
  expect((await sendSignIn(web, email, PASSWORD, from('203.0.113.9'))).statusCode).toBe(429);
  expect((await sendSignIn(web, email, PASSWORD, from('203.0.113.9', device))).statusCode).toBe(303);
});

test('a known device has ten attempts in ten minutes, and is unknown for other accounts', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const other = await signIn(web);
  const device = await deviceOf(web, email);
  expect((await sendSignIn(web, email, 'wrong', from('192.0.2.1', device))).statusCode).toBe(401);
  await makeTries(web, 'sign-in:device:', 9);
  // The limit of a device is the same in every network.
  expect((await sendSignIn(web, email, 'wrong', from('192.0.2.2', device))).statusCode).toBe(401);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.3', device))).statusCode).toBe(429);
  // For another account, this is an unknown device.
  await sendSignIn(web, other.email, 'wrong', from('198.51.100.1', device));
  await makeTries(web, 'sign-in:account:', 10);
  expect((await sendSignIn(web, other.email, PASSWORD, from('198.51.100.1', device))).statusCode).toBe(429);
});

test('all networks together have a hundred attempts on one account in an hour', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const other = await signIn(web);
  await sendSignIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:email:', 100);
  expect((await sendSignIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(429);
  expect((await sendSignIn(web, other.email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('a device becomes known only after the code of the second factor', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const owner = await signIn(web);
  const { secret } = await setUpTwoFactor(web, owner);
  const half = await sendSignIn(web, owner.email);
  expect(cookiesOf(half).cookie).not.toContain('tallyport.device');
  const whole = await sendForm(web, '/sign-in/code', { code: codeOf(secret) }, cookiesOf(half));
  expect(whole.statusCode).toBe(303);
  expect(cookiesOf(whole).cookie).toContain('tallyport.device');
});

test('simultaneous attempts from one network leave slots for other networks and known devices', async () => {
  const { web, release, deviceCookie } = await blockedPasswordChecks();
  const { email } = await signIn(web);
  const ended: number[] = [];
  const tries = Array.from({ length: 14 }, async (_, n) => {
    const answer = await sendSignIn(web, `nobody-${n}@example.org`, 'wrong', from(`2001:db8:7:${n}::1`));
    ended.push(answer.statusCode);
  });
  // No password has been checked yet.
  await expect.poll(() => ended).toEqual(Array(10).fill(503));
  const honest = [
    sendSignIn(web, email, PASSWORD, from('198.51.100.1')),
    sendSignIn(web, email, PASSWORD, from('2001:db8:7:1::1', deviceCookie(email))),
  ];
  release();
  expect((await Promise.all(honest)).map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  await Promise.all(tries);
  expect(ended.slice(10)).toEqual([401, 401, 401, 401]);
});

test.each([
  ['session', 10],
  ['known device', 12],
])('with a %s of their own nobody fills the places of others', async (kind, refused) => {
  const { web, release, deviceCookie } = await blockedPasswordChecks();
  const [mallory, operator] = [await signIn(web), await signIn(web, { role: 'operator', twoFactor: false })];
  const cookie = () => (kind === 'session' ? mallory.headers : deviceCookie(mallory.email));
  const ended: number[] = [];
  const tries = Array.from({ length: 14 }, async () => {
    const answer = await sendSignIn(web, mallory.email, PASSWORD, from('192.0.2.1', cookie()));
    ended.push(answer.statusCode);
  });
  // No password has been checked yet.
  await expect.poll(() => ended).toHaveLength(refused);
  expect(ended).not.toContain(303);
  const honest = [
    sendSignIn(web, operator.email, PASSWORD, from('198.51.100.1', deviceCookie(operator.email))),
    sendSignIn(web, operator.email, PASSWORD, from('198.51.100.2')),
  ];
  release();
  expect((await Promise.all(honest)).map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  await Promise.all(tries);
});

test('correct passwords count too: an account signs in thirty times in ten minutes with known devices', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  let device = await deviceOf(web, email);
  const statuses: number[] = [];
  for (let n = 0; n < 32; n += 1) {
    const answer = await sendSignIn(web, email, PASSWORD, from('192.0.2.1', device));
    statuses.push(answer.statusCode);
    // Each successful sign-in replaces the device's cookie.
    if (answer.statusCode === 303) device = { cookie: cookiesOf(answer).cookie };
  }
  expect(statuses.indexOf(429)).toBe(30);
  // The limit of this device does not affect other devices of the account, or other accounts.
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.2'))).statusCode).toBe(303);
});

test('correct passwords on the account pages count too: ten in ten minutes', async () => {
  const web = await openWebApp();
  const { headers } = await signIn(web);
  const statuses: number[] = [];
  for (let n = 0; n < 11; n += 1) {
    statuses.push(
      (await sendForm(web, '/account/two-factor/begin', { password: PASSWORD }, headers)).statusCode,
    );
  }
  expect(statuses.indexOf(429)).toBe(10);
});

test('correct passwords from one network count too: three hundred in ten minutes', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(303);
  await makeTries(web, 'sign-in:all:', 300);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(429);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.2'))).statusCode).toBe(303);
});

test('codes are counted per network, not per address', async () => {
  const web = await openWebApp();
  const code = (remoteAddress: string) =>
    web.app.inject({
      method: 'POST',
      url: '/sign-in/code',
      remoteAddress,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...OWN_ORIGIN },
      payload: 'code=000000',
    });
  const statuses: number[] = [];
  for (let n = 1; n <= 31; n += 1) statuses.push((await code(`2001:db8:1:2::${n}`)).statusCode);
  expect(statuses.indexOf(429)).toBe(30);
  expect((await code('2001:db8:1:3::1')).statusCode).toBe(303);
});

test('wrong sign-in attempts do not stop a signed-in user from changing the password', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email, headers } = await signIn(web);
  await sendSignIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:', 1_000);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(429);
  const fields = { current: PASSWORD, password: 'seven lamps on the quay' };
  const changed = await sendForm(web, '/account/password', fields, from('192.0.2.1', headers));
  expect(changed.headers.location).toBe('/account?done=password');
});

test('an IPv6 /48 has twenty attempts on an account in an hour', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const statuses: number[] = [];
  for (let n = 1; n <= 21; n += 1) {
    statuses.push((await sendSignIn(web, email, 'wrong', from(`2001:db8:7:${n}::1`))).statusCode);
  }
  expect(statuses.indexOf(429)).toBe(20);
  // The account can sign in from another /48 and over IPv4.
  expect((await sendSignIn(web, email, PASSWORD, from('2001:db8:8:1::1'))).statusCode).toBe(303);
  expect((await sendSignIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('sign-ins, codes and sign-ups of an IPv6 /48 are counted together', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const statuses = async (network: string) => {
    const sent = [
      await sendSignIn(web, email, 'wrong', from(`${network}::1`)),
      await sendForm(web, '/sign-in/code', { code: '000000' }, from(`${network}::1`)),
      await sendForm(web, '/sign-up', { name: 'Nora', email, password: PASSWORD }, from(`${network}::1`)),
    ];
    return sent.map(({ statusCode }) => statusCode);
  };
  expect(await statuses('2001:db8:7:1')).toEqual([401, 303, 409]);
  await web.deps.rateLimits.updateMany({ _id: /2001:db8:7::\/48$/ }, { $set: { count: 120 } });
  expect(await statuses('2001:db8:7:2')).toEqual([429, 429, 429]);
  expect(await statuses('2001:db8:8:1')).toEqual([401, 303, 409]);
});
