import { expect, test } from 'vitest';
import { codeOf } from '../support/authenticator.ts';
import { cookiesOf, setUpTwoFactor, signIn } from './signing-in.ts';
import { OWN_ORIGIN, PASSWORD, sendForm, signedInAs, type WebApp, webApp } from './web-app.ts';

const from = (address: string, headers: { cookie?: string } = {}) => ({
  'x-forwarded-for': address,
  ...headers,
});

/** Makes the tries that were counted so far, for keys that begin with `kind`, this many. Each real one costs a hash. */
async function makeTries({ platform }: WebApp, kind: string, count: number): Promise<void> {
  await platform.rateLimits.updateMany({ _id: new RegExp(`^${kind}`) }, { $set: { count } });
}

/** The cookie by which a browser is known once somebody has signed in there. */
async function deviceOf(web: WebApp, email: string, address = '203.0.113.9'): Promise<{ cookie: string }> {
  const { cookie } = cookiesOf(await signIn(web, email, PASSWORD, from(address)));
  const device = cookie.split('; ').find((one) => one.includes('tallyport.device='));
  expect(device).toBeDefined();
  return { cookie: device ?? '' };
}

test('wrong tries from one network are refused, and keep no other network out', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const { email } = await signedInAs(web, 'operator', { twoFactor: false });
  expect((await signIn(web, email, 'wrong', from('2001:db8:7:7::1'))).statusCode).toBe(401);
  await makeTries(web, 'sign-in:account:', 9);
  // One network of IPv6, whatever address it tries from.
  expect((await signIn(web, email, 'wrong', from('2001:db8:7:7::2'))).statusCode).toBe(401);
  const refused = await signIn(web, email, PASSWORD, from('2001:db8:7:7::99'));
  expect(refused.statusCode).toBe(429);
  expect(refused.cookies).toEqual([]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(500);
  expect((await signIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('a known device signs in however many tries come from everywhere, its own network among them', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const { email } = await signedInAs(web, 'owner');
  const device = await deviceOf(web, email);
  await signIn(web, email, 'wrong', from('203.0.113.9'));
  await makeTries(web, 'sign-in:', 1_000);
  const limits = await web.platform.rateLimits.find({ count: 1_000 }).toArray();
  expect(limits.map(({ _id }) => _id.split(':')[1]).toSorted()).toEqual(['account', 'address', 'email']);
  expect((await signIn(web, email, PASSWORD, from('203.0.113.9'))).statusCode).toBe(429);
  expect((await signIn(web, email, PASSWORD, from('203.0.113.9', device))).statusCode).toBe(303);
});

test('a known device has ten tries in ten minutes itself, and is none for another account', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const { email } = await signedInAs(web, 'owner');
  const other = await signedInAs(web, 'owner');
  const device = await deviceOf(web, email);
  expect((await signIn(web, email, 'wrong', from('192.0.2.1', device))).statusCode).toBe(401);
  await makeTries(web, 'sign-in:device:', 9);
  // A device that is taken along counts the same everywhere.
  expect((await signIn(web, email, 'wrong', from('192.0.2.2', device))).statusCode).toBe(401);
  expect((await signIn(web, email, PASSWORD, from('192.0.2.3', device))).statusCode).toBe(429);
  // For somebody else's account it is a device like any other.
  await signIn(web, other.email, 'wrong', from('198.51.100.1', device));
  await makeTries(web, 'sign-in:account:', 10);
  expect((await signIn(web, other.email, PASSWORD, from('198.51.100.1', device))).statusCode).toBe(429);
});

test('all networks together have a hundred tries of one account in an hour', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const { email } = await signedInAs(web, 'owner');
  const other = await signedInAs(web, 'owner');
  await signIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:email:', 100);
  expect((await signIn(web, email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(429);
  expect((await signIn(web, other.email, PASSWORD, from('198.51.100.1'))).statusCode).toBe(303);
});

test('who has a second factor is known by a device only after the code', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const owner = await signedInAs(web, 'owner');
  const { secret } = await setUpTwoFactor(web, owner);
  const half = await signIn(web, owner.email);
  expect(cookiesOf(half).cookie).not.toContain('tallyport.device');
  const whole = await sendForm(web, '/sign-in/code', { code: codeOf(secret) }, cookiesOf(half));
  expect(whole.statusCode).toBe(303);
  expect(cookiesOf(whole).cookie).toContain('tallyport.device');
});

test('simultaneous tries from one network keep no other network and no known device waiting in vain', async () => {
  const web = await webApp({ TRUST_PROXY: '1' });
  const { email } = await signedInAs(web, 'owner');
  const device = await deviceOf(web, email);
  const tries = Array.from({ length: 14 }, (_, n) =>
    signIn(web, `nobody-${n}@example.org`, 'wrong', from('192.0.2.1')),
  );
  const honest = [
    signIn(web, email, PASSWORD, from('198.51.100.1')),
    signIn(web, email, PASSWORD, from('192.0.2.1', device)),
  ];
  expect((await Promise.all(honest)).map(({ statusCode }) => statusCode)).toEqual([303, 303]);
  const statuses = (await Promise.all(tries)).map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 401)).toHaveLength(4);
  expect(statuses.filter((status) => status === 503)).toHaveLength(10);
});

test('codes are counted for a network, not for each of its addresses', async () => {
  const web = await webApp();
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
  const web = await webApp({ TRUST_PROXY: '1' });
  const { email, headers } = await signedInAs(web, 'owner');
  await signIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:', 1_000);
  expect((await signIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(429);
  const fields = { current: PASSWORD, password: 'seven lamps on the quay' };
  const changed = await sendForm(web, '/account/password', fields, from('192.0.2.1', headers));
  expect(changed.headers.location).toBe('/account?done=password');
});
