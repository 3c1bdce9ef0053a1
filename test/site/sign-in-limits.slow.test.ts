import { expect, test } from 'vitest';
import { createKnownDevices } from '../../src/accounts/known-devices.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { testPlatform } from '../support/test-platform.ts';
import {
  CHEAP_PASSWORDS,
  OWN_ORIGIN,
  openWebApp,
  openWebAppOn,
  sendForm,
  type WebApp,
} from '../support/web-app.ts';
import { cookiesOf, sendSignIn, setUpTwoFactor } from './account-pages.ts';

const from = (address: string, headers: { cookie?: string } = {}) => ({
  'x-forwarded-for': address,
  ...headers,
});

/** Makes the tries that were counted so far, for keys that begin with `kind`, this many. Each real one costs a hash. */
async function makeTries({ platform }: WebApp, kind: string, count: number): Promise<void> {
  await platform.rateLimits.updateMany({ _id: new RegExp(`^${kind}`) }, { $set: { count } });
}

/** A web application in which no password is checked before `release`. */
async function heldPasswords() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const passwords = {
    hash: (password: string) => released.then(() => CHEAP_PASSWORDS.hash(password)),
    verify: (password: string, stored: string) =>
      released.then(() => CHEAP_PASSWORDS.verify(password, stored)),
  };
  const web = await openWebAppOn({ ...(await testPlatform({ TRUST_PROXY: '1' })), passwords });
  const devices = createKnownDevices(web.platform.config, web.platform.clock);
  const deviceCookie = (email: string) => ({ cookie: devices.cookieFor(email).split(';')[0] ?? '' });
  return { web, release, deviceCookie };
}

/** The cookie by which a browser is known once somebody has signed in there. */
async function deviceOf(web: WebApp, email: string, address = '203.0.113.9'): Promise<{ cookie: string }> {
  const { cookie } = cookiesOf(await sendSignIn(web, email, PASSWORD, from(address)));
  const device = cookie.split('; ').find((one) => one.includes('tallyport.device='));
  expect(device).toBeDefined();
  return { cookie: device ?? '' };
}

test('wrong tries from one network are refused, and keep no other network out', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web, { role: 'operator', twoFactor: false });
  expect((await sendSignIn(web, email, 'wrong', from('2001:db8:7:7::1'))).statusCode).toBe(401);
  await makeTries(web, 'sign-in:account:', 9);
  // One network of IPv6, whatever address it tries from.
  expect((await sendSignIn(web, email, 'wrong', from('2001:db8:7:7::2'))).statusCode).toBe(401);
  const refused = await sendSignIn(web, email, PASSWORD, from('2001:db8:7:7::99'));
  expect(refused.statusCode).toBe(429);
  expect(refused.cookies).toEqual([]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
  expect((await sendSignIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('a known device signs in however many tries come from everywhere, its own network among them', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const device = await deviceOf(web, email);
  await sendSignIn(web, email, 'wrong', from('203.0.113.9'));
  await makeTries(web, 'sign-in:', 1_000);
  const limits = await web.platform.rateLimits.find({ count: 1_000 }).toArray();
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

test('a known device has ten tries in ten minutes itself, and is none for another account', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const other = await signIn(web);
  const device = await deviceOf(web, email);
  expect((await sendSignIn(web, email, 'wrong', from('192.0.2.1', device))).statusCode).toBe(401);
  await makeTries(web, 'sign-in:device:', 9);
  // A device that is taken along counts the same everywhere.
  expect((await sendSignIn(web, email, 'wrong', from('192.0.2.2', device))).statusCode).toBe(401);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.3', device))).statusCode).toBe(429);
  // For somebody else's account it is a device like any other.
  await sendSignIn(web, other.email, 'wrong', from('198.51.100.1', device));
  await makeTries(web, 'sign-in:account:', 10);
  expect((await sendSignIn(web, other.email, PASSWORD, from('198.51.100.1', device))).statusCode).toBe(429);
});

test('all networks together have a hundred tries of one account in an hour', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const other = await signIn(web);
  await sendSignIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:email:', 100);
  expect((await sendSignIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(429);
  expect((await sendSignIn(web, other.email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('who has a second factor is known by a device only after the code', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const owner = await signIn(web);
  const { secret } = await setUpTwoFactor(web, owner);
  const half = await sendSignIn(web, owner.email);
  expect(cookiesOf(half).cookie).not.toContain('tallyport.device');
  const whole = await sendForm(web, '/sign-in/code', { code: codeOf(secret) }, cookiesOf(half));
  expect(whole.statusCode).toBe(303);
  expect(cookiesOf(whole).cookie).toContain('tallyport.device');
});

test('simultaneous tries from one network leave places for other networks and for known devices', async () => {
  const { web, release, deviceCookie } = await heldPasswords();
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
  const { web, release, deviceCookie } = await heldPasswords();
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

test('right passwords count too: an account signs in thirty times in ten minutes with known devices', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  let device = await deviceOf(web, email);
  const statuses: number[] = [];
  for (let n = 0; n < 32; n += 1) {
    const answer = await sendSignIn(web, email, PASSWORD, from('192.0.2.1', device));
    statuses.push(answer.statusCode);
    // Each sign-in makes a new device.
    if (answer.statusCode === 303) device = { cookie: cookiesOf(answer).cookie };
  }
  expect(statuses.indexOf(429)).toBe(30);
  // Its other devices, and other accounts, sign in elsewhere.
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.2'))).statusCode).toBe(303);
});

test('right passwords on the pages of the own account count too: ten in ten minutes', async () => {
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

test('right passwords of one network count too: three hundred in ten minutes', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(303);
  await makeTries(web, 'sign-in:all:', 300);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(429);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.2'))).statusCode).toBe(303);
});

test('codes are counted for a network, not for each of its addresses', async () => {
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

test('wrong tries to sign in keep nobody who is signed in from changing their password', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email, headers } = await signIn(web);
  await sendSignIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:', 1_000);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(429);
  const fields = { current: PASSWORD, password: 'seven lamps on the quay' };
  const changed = await sendForm(web, '/account/password', fields, from('192.0.2.1', headers));
  expect(changed.headers.location).toBe('/account?done=password');
});

test('an IPv6 /48 has twenty tries of an account in an hour', async () => {
  const web = await openWebApp({ TRUST_PROXY: '1' });
  const { email } = await signIn(web);
  const statuses: number[] = [];
  for (let n = 1; n <= 21; n += 1) {
    statuses.push((await sendSignIn(web, email, 'wrong', from(`2001:db8:7:${n}::1`))).statusCode);
  }
  expect(statuses.indexOf(429)).toBe(20);
  // Its account signs in elsewhere: from another /48, and by IPv4.
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
  await web.platform.rateLimits.updateMany({ _id: /2001:db8:7::\/48$/ }, { $set: { count: 120 } });
  expect(await statuses('2001:db8:7:2')).toEqual([429, 429, 429]);
  expect(await statuses('2001:db8:8:1')).toEqual([401, 303, 409]);
});
