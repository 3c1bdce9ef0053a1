import { beforeEach, describe, expect, test } from 'vitest';
import { createKnownDevices } from '../../src/accounts/known-devices.ts';
import { codeOf } from '../support/authenticator.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { CHEAP_PASSWORDS, sendForm, textOf, type WebApp, webAppOfFile } from '../support/web-app.ts';
import { cookiesOf, sendSignIn, setUpTwoFactor } from './account-pages.ts';

/** Password checks wait for this. */
let released = Promise.resolve();

beforeEach(() => {
  released = Promise.resolve();
});

const shared = webAppOfFile(
  { TRUST_PROXY: '1' },
  {
    passwords: {
      hash: (password) => released.then(() => CHEAP_PASSWORDS.hash(password)),
      verify: (password, stored) => released.then(() => CHEAP_PASSWORDS.verify(password, stored)),
    },
  },
);

const from = (address: string, headers: { cookie?: string } = {}) => ({
  'x-forwarded-for': address,
  ...headers,
});

/** Sets the counters whose keys begin with `kind`, because real attempts would each take a password hash. */
async function makeTries({ deps }: WebApp, kind: string, count: number): Promise<void> {
  await deps.rateLimits.updateMany({ _id: new RegExp(`^${kind}`) }, { $set: { count } });
}

test('wrong attempts from one network are refused and do not block other networks', async () => {
  const web = shared();
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

test('a known device can sign in despite many attempts from other clients; its right password counts as no wrong one', async () => {
  const web = shared();
  const { email } = await signIn(web);
  const first = await sendSignIn(web, email, PASSWORD, from('203.0.113.9'));
  const device = cookiesOf(first)
    .cookie.split('; ')
    .find((one) => one.includes('tallyport.device='));
  expect(device).toBeDefined();
  await sendSignIn(web, email, 'wrong', from('203.0.113.9'));
  await makeTries(web, 'sign-in:', 1_000);
  expect((await sendSignIn(web, email, PASSWORD, from('203.0.113.9'))).statusCode).toBe(429);
  const known = await sendSignIn(web, email, PASSWORD, from('203.0.113.9', { cookie: device ?? '' }));
  expect(known.statusCode).toBe(303);
  const left = await web.deps.rateLimits.find({ _id: /^sign-in:devices?:/ }).toArray();
  expect(left.map(({ _id, count }) => [_id.split(':')[1], count]).toSorted()).toEqual([
    ['device', 0],
    ['devices', 1],
  ]);
});

test('a device becomes known only after the code of the second factor', async () => {
  const web = shared();
  const owner = await signIn(web);
  const { secret } = await setUpTwoFactor(web, owner);
  const half = await sendSignIn(web, owner.email);
  expect(cookiesOf(half).cookie).not.toContain('tallyport.device');
  const whole = await sendForm(web, '/sign-in/code', { code: codeOf(secret) }, cookiesOf(half));
  expect(whole.statusCode).toBe(303);
  expect(cookiesOf(whole).cookie).toContain('tallyport.device');
});

describe('of simultaneous attempts', () => {
  const deviceOf = ({ deps }: WebApp, email: string) => {
    const cookie = createKnownDevices(deps.config, deps.clock).cookieFor(email);
    return { cookie: cookie.split(';')[0] ?? '' };
  };

  /** Fourteen attempts whose passwords are not checked before `release` is called. */
  function attempts(send: (n: number) => ReturnType<typeof sendSignIn>) {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    released = promise;
    const ended: number[] = [];
    const refused: unknown[] = [];
    const all = Array.from({ length: 14 }, async (_, n) => {
      const { statusCode, headers } = await send(n);
      ended.push(statusCode);
      if (statusCode === 503) refused.push(headers['retry-after']);
    });
    return { all, ended, refused, release };
  }

  test('those from one network leave slots for other networks and known devices', async () => {
    const web = shared();
    const { email } = await signIn(web);
    const { all, ended, refused, release } = attempts((n) =>
      sendSignIn(web, `nobody-${n}@example.org`, 'wrong', from(`2001:db8:7:${n}::1`)),
    );
    // No password has been checked yet.
    await expect.poll(() => ended).toEqual(Array(10).fill(503));
    expect(new Set(refused)).toEqual(new Set(['5']));
    const honest = [
      sendSignIn(web, email, PASSWORD, from('198.51.100.1')),
      sendSignIn(web, email, PASSWORD, from('2001:db8:7:1::1', deviceOf(web, email))),
    ];
    release();
    expect((await Promise.all(honest)).map(({ statusCode }) => statusCode)).toEqual([303, 303]);
    await Promise.all(all);
    expect(ended.slice(10)).toEqual([401, 401, 401, 401]);
  });

  test.each([
    ['session', 10],
    ['known device', 12],
  ])('those with a %s of their own fill no places of others', async (kind, refused) => {
    const web = shared();
    const [mallory, operator] = [
      await signIn(web),
      await signIn(web, { role: 'operator', twoFactor: false }),
    ];
    const cookie = kind === 'session' ? mallory.headers : deviceOf(web, mallory.email);
    const { all, ended, release } = attempts(() =>
      sendSignIn(web, mallory.email, PASSWORD, from('192.0.2.1', cookie)),
    );
    // No password has been checked yet.
    await expect.poll(() => ended).toHaveLength(refused);
    expect(ended).not.toContain(303);
    const honest = [
      sendSignIn(web, operator.email, PASSWORD, from('198.51.100.1', deviceOf(web, operator.email))),
      sendSignIn(web, operator.email, PASSWORD, from('198.51.100.2')),
    ];
    release();
    expect((await Promise.all(honest)).map(({ statusCode }) => statusCode)).toEqual([303, 303]);
    await Promise.all(all);
  });

  test('those of all networks wait in a short queue; the rest are refused', async () => {
    const web = shared();
    const { all, ended, release } = attempts((n) =>
      sendSignIn(web, `nobody-${n}@example.org`, 'wrong', from(`192.0.2.${n}`)),
    );
    // Two are being checked, eight wait.
    await expect.poll(() => ended).toEqual(Array(4).fill(503));
    release();
    await Promise.all(all);
    expect(ended.slice(4)).toEqual(Array(10).fill(401));
  });
});

test('correct passwords on the account pages count too: ten in ten minutes', async () => {
  const web = shared();
  const { headers } = await signIn(web);
  const begin = async () =>
    (await sendForm(web, '/account/two-factor/begin', { password: PASSWORD }, headers)).statusCode;
  expect(await begin()).toBe(200);
  await makeTries(web, 'proof:user:', 9);
  expect([await begin(), await begin()]).toEqual([200, 429]);
});

test('codes and sign-ups are counted per network, not per address', async () => {
  const web = shared();
  const { email } = await signIn(web);
  for (const [path, fields, counter, passed] of [
    ['/sign-in/code', { code: '000000' }, 'code:address:', 303],
    ['/sign-up', { name: 'Nora', email, password: PASSWORD }, 'sign-up:address:', 409],
  ] as const) {
    const send = async (address: string) =>
      (await sendForm(web, path, { ...fields }, from(address))).statusCode;
    expect(await send('2001:db8:1:2::1')).toBe(passed);
    await makeTries(web, counter, 29);
    expect([await send('2001:db8:1:2::2'), await send('2001:db8:1:2::3')]).toEqual([passed, 429]);
    expect(await send('2001:db8:1:3::1')).toBe(passed);
  }
});

test('wrong sign-in attempts do not stop a signed-in user from changing the password', async () => {
  const web = shared();
  const { email, headers } = await signIn(web);
  await sendSignIn(web, email, 'wrong', from('192.0.2.1'));
  await makeTries(web, 'sign-in:', 1_000);
  expect((await sendSignIn(web, email, PASSWORD, from('192.0.2.1'))).statusCode).toBe(429);
  const fields = { current: PASSWORD, password: 'seven lamps on the quay' };
  const changed = await sendForm(web, '/account/password', fields, from('192.0.2.1', headers));
  expect(changed.headers.location).toBe('/account?done=password');
});
