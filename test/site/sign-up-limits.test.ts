import { beforeEach, describe, expect, test } from 'vitest';
import { makeWithinLimits, networkSignUpsUsed, takeSignUp } from '../../src/accounts/sign-up-limits.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { PASSWORD } from '../support/sign-in.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';
import { linkTo, tokenOf } from './account-pages.ts';

describe('new accounts of a day', () => {
  let deps: AppDeps & { clock: StoppedClock };
  beforeEach(async () => {
    deps = { ...(await testDeps()), clock: stoppedClock(new Date('2026-11-21T10:00:00Z')) };
  });

  /** The number of accounts, out of `many`, that the limits allow. */
  async function made(many: number, account: (n: number) => { email: string; address: string }) {
    let count = 0;
    for (let n = 0; n < many; n += 1) if (!(await takeSignUp(deps, account(n)))) count += 1;
    return count;
  }

  test('are five for an address, ten for its IPv4 /24 or IPv6 /48', async () => {
    const mail = (n: number) => `a${n}@d${n}.example`;
    expect(await made(8, (n) => ({ email: mail(n), address: '203.0.113.7' }))).toBe(5);
    expect(await made(20, (n) => ({ email: mail(n), address: `203.0.113.${n + 50}` }))).toBe(5);
    expect(await made(20, (n) => ({ email: mail(n), address: `2001:db8:1:${n}::1` }))).toBe(10);
    deps.clock.move(DAY);
    expect(await made(8, (n) => ({ email: mail(n), address: '203.0.113.7' }))).toBe(5);
  });

  test('are 20 for a mail domain with all hosts below it, and more for a public provider', async () => {
    const host = (n: number) => `a${n}@h${n}.farm.co.uk`;
    expect(await made(30, (n) => ({ email: host(n), address: `20.${n}.1.1` }))).toBe(20);
    expect(await made(30, (n) => ({ email: `a${n}@gmail.com`, address: `21.${n}.1.1` }))).toBe(30);
  });

  test('are two for a mailbox, whatever its tags and dots, and then use up nothing else', async () => {
    const tagged = (n: number) => ({ email: `an.n+${n}@gmail.com`, address: '203.0.113.7' });
    expect(await made(10, tagged)).toBe(2);
    expect(await made(10, (n) => ({ email: `other${n}@gmail.com`, address: '203.0.113.7' }))).toBe(3);
  });

  test('are possible again when the network and the one around it both allow one', async () => {
    const from = (address: string) => (n: number) => ({ email: `a@${address}.d${n}.example`, address });
    const address = '203.0.113.7';
    expect(await made(1, from('203.0.113.1'))).toBe(1);
    deps.clock.move(DAY / 2);
    expect(await made(6, from(address))).toBe(5);
    // The window of the wider network ends, and its neighbours fill the next one.
    deps.clock.move(DAY / 2);
    expect(await made(6, from('203.0.113.1'))).toBe(5);
    expect(await made(6, from('203.0.113.2'))).toBe(5);
    const until = after(deps.clock.now(), DAY);
    expect(await networkSignUpsUsed(deps, address)).toEqual(until);
    expect(await takeSignUp(deps, from(address)(9))).toEqual(until);
  });

  test('that were not made in the end do not count', async () => {
    const account = { email: 'ann@example.org', address: '203.0.113.7' };
    const failed = makeWithinLimits(deps, account, () => Promise.reject(new Error('full')));
    await expect(failed).rejects.toThrow('full');
    for (let n = 0; n < 10; n += 1)
      expect(
        await makeWithinLimits(
          deps,
          account,
          async () => n,
          () => false,
        ),
      ).toEqual({
        retryAt: null,
        result: n,
      });
    expect(await makeWithinLimits(deps, account, async () => 'made')).toMatchObject({ result: 'made' });
  });

  test('leave the place of one that fails while another is refused', async () => {
    const account = (n: number) => ({ email: `ann${n}@example.org`, address: '203.0.113.8' });
    expect(await made(4, account)).toBe(4);
    const failed = makeWithinLimits(deps, account(4), async () => {
      expect(await takeSignUp(deps, account(5))).not.toBeNull();
      throw new Error('full');
    });
    await expect(failed).rejects.toThrow('full');
    expect(await takeSignUp(deps, account(6))).toBeNull();
  });
});

describe('the sign-up page', () => {
  const signUp = (web: WebApp, n: number) =>
    sendForm(web, '/sign-up', { name: 'Nora', email: `nora${n}@d${n}.example`, password: PASSWORD });

  test('without mail makes five accounts for an address, then says when the next one is possible', async () => {
    const web = await openWebApp();
    for (let n = 0; n < 5; n += 1) expect((await signUp(web, n)).statusCode).toBe(303);
    // The sixth account from this network address is refused.
    const refused = await signUp(web, 5);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000);
    expect(textOf(refused.body)).toContain('Too many new accounts came from your network');
    expect(await web.deps.users.countDocuments()).toBe(5);
  });

  test('with mail counts an account when its link is used, and the link still works the next day', async () => {
    const web = await openWebApp({
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'Tallyport <votes@example.org>',
      SIGN_UPS_PER_NETWORK: '2',
    });
    const finish = async (email: string) => {
      const token = tokenOf(await linkTo(web.deps, email));
      return sendForm(web, '/verify-email', { token, name: 'Nora', password: PASSWORD });
    };
    await signUp(web, 1);
    await signUp(web, 2);
    expect((await finish('nora1@d1.example')).statusCode).toBe(303);
    const refused = await finish('nora2@d2.example');
    expect([refused.statusCode, Number(refused.headers['retry-after']) > 86_000]).toEqual([429, true]);
    // At the limit, no link is sent, because it could not be used.
    expect((await signUp(web, 3)).statusCode).toBe(429);
    await web.deps.rateLimits.deleteMany({});
    expect((await finish('nora2@d2.example')).statusCode).toBe(303);
  });
});
