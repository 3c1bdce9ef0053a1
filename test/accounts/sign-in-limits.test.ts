import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  CODES,
  countTry,
  forgiveTry,
  OTHER_SITE_RETURNS,
  OTHER_SITE_SIGN_INS,
  RE_AUTHENTICATIONS,
  SIGN_UPS,
  type Try,
} from '../../src/accounts/sign-in-limits.ts';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { countUse } from '../../src/platform/limits/by-network.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps & { clock: StoppedClock };

beforeEach(async () => {
  deps = { ...(await testDeps()), clock: stoppedClock() };
});

const ann = (address: string, device: string | null = null): Try => ({
  email: 'ann@example.org',
  address,
  device,
});
const ben = (address: string, device: string | null = null): Try => ({
  ...ann(address, device),
  email: 'ben@example.org',
});
const isAllowed = async (who: Try) => (await countTry(deps, who)) === null;

/** Sets the counters whose keys begin with `kind`. */
async function setUsed(kind: string, count: number): Promise<void> {
  const { matchedCount } = await deps.rateLimits.updateMany(
    { _id: new RegExp(`^${kind}`) },
    { $set: { count } },
  );
  expect(matchedCount).toBeGreaterThan(0);
}

/** Uses up a limit of `most`: after the first use, the last one is allowed and a further one refused. */
async function useUp(kind: string, most: number, use: (n: number) => Promise<Date | null>): Promise<Date> {
  expect(await use(1)).toBeNull();
  await setUsed(kind, most - 1);
  expect(await use(2)).toBeNull();
  const until = await use(3);
  expect(until).toBeInstanceOf(Date);
  return until as Date;
}

describe('wrong passwords', () => {
  test('of one network for an account are ten in ten minutes, whatever its IPv6 addresses are', async () => {
    const use = (n: number) => countTry(deps, ann(`2001:db8:7:7::${n}`));
    const until = await useUp('sign-in:account:', 10, use);
    expect(until).toEqual(after(deps.clock.now(), 10 * MINUTE));
    expect(await isAllowed(ann('198.51.100.1'))).toBe(true);
    expect(await isAllowed(ben('2001:db8:7:7::1'))).toBe(true);
    deps.clock.move(10 * MINUTE);
    expect(await isAllowed(ann('2001:db8:7:7::1'))).toBe(true);
  });

  test('of an IPv6 /48 for an account are twenty in an hour', async () => {
    const use = (n: number) => countTry(deps, ann(`2001:db8:7:${n}::1`));
    expect(await useUp('sign-in:site:', 20, use)).toEqual(after(deps.clock.now(), HOUR));
    // The account can sign in from another /48 and over IPv4.
    expect(await isAllowed(ann('2001:db8:8:1::1'))).toBe(true);
    expect(await isAllowed(ann('198.51.100.1'))).toBe(true);
  });

  test('of all networks for an account are a hundred in an hour', async () => {
    const use = (n: number) => countTry(deps, ann(`20.${n}.1.1`));
    expect(await useUp('sign-in:email:', 100, use)).toEqual(after(deps.clock.now(), HOUR));
    expect(await isAllowed(ben('20.200.1.1'))).toBe(true);
  });

  test('do not count for a known device, which has ten tries in ten minutes in all networks', async () => {
    await countTry(deps, ann('192.0.2.1'));
    await setUsed('sign-in:', 1_000);
    expect(await isAllowed(ann('192.0.2.1'))).toBe(false);
    const use = (n: number) => countTry(deps, ann(`192.0.2.${n}`, 'one'));
    expect(await useUp('sign-in:device:', 10, use)).toEqual(after(deps.clock.now(), 10 * MINUTE));
    expect(await isAllowed(ann('192.0.2.1', 'two'))).toBe(true);
    expect(await isAllowed(ben('192.0.2.1', 'one'))).toBe(true);
  });
});

describe('right passwords', () => {
  /** A try with the right password. */
  const signIn = (who: Try) => async () => {
    const refused = await countTry(deps, who);
    if (!refused) await forgiveTry(deps, who);
    return refused;
  };

  test('do not count as wrong ones', async () => {
    await signIn(ann('192.0.2.1'))();
    await signIn(ann('192.0.2.1', 'one'))();
    const counted = await deps.rateLimits.find({ count: { $gt: 0 } }).toArray();
    expect(counted.map(({ _id }) => _id.split(':')[1]).toSorted()).toEqual(['all', 'devices']);
  });

  test('of one network are three hundred in ten minutes', async () => {
    const until = await useUp('sign-in:all:', 300, signIn(ann('192.0.2.1')));
    expect(until).toEqual(after(deps.clock.now(), 10 * MINUTE));
    expect(await isAllowed(ben('192.0.2.1'))).toBe(false);
    expect(await isAllowed(ann('192.0.2.2'))).toBe(true);
  });

  test('of an account’s known devices are thirty in ten minutes', async () => {
    // Each successful sign-in makes a new known device.
    const use = (n: number) => signIn(ann('192.0.2.1', `device ${n}`))();
    expect(await useUp('sign-in:devices:', 30, use)).toEqual(after(deps.clock.now(), 10 * MINUTE));
    // Neither other clients nor other accounts are affected.
    expect(await isAllowed(ann('192.0.2.1'))).toBe(true);
    expect(await isAllowed(ben('192.0.2.1', 'device 1'))).toBe(true);
  });

  test('of a signed-in user who confirms who they are: ten in ten minutes', async () => {
    const userId = new ObjectId();
    const until = await useUp('proof:user:', 10, () => countUse(deps, RE_AUTHENTICATIONS, userId));
    expect(until).toEqual(after(deps.clock.now(), 10 * MINUTE));
    expect(await countUse(deps, RE_AUTHENTICATIONS, new ObjectId())).toBeNull();
  });
});

test.each([
  ['tries to sign in', 'sign-in:address:', (at: string) => countTry(deps, { ...ann(at), email: at })],
  ['codes', 'code:address:', (at: string) => countUse(deps, CODES, at)],
  ['sign-ups', 'sign-up:address:', (at: string) => countUse(deps, SIGN_UPS, at)],
  [
    'sign-ins that begin at another site',
    'other-site:',
    (at: string) => countUse(deps, OTHER_SITE_SIGN_INS, at),
  ],
  ['returns from another site', 'other-site-return:', (at: string) => countUse(deps, OTHER_SITE_RETURNS, at)],
])('%s are thirty in ten minutes for a network, and 120 for an IPv6 /48', async (_what, kind, count) => {
  const inNetwork = (n: number) => count(`2001:db8:1:2::${n}`);
  expect(await useUp(kind, 30, inNetwork)).toEqual(after(deps.clock.now(), 10 * MINUTE));
  const inSite = (n: number) => count(`2001:db8:1:9${n}::1`);
  await useUp(`${kind}.*/48$`, 120, inSite);
  expect(await count('2001:db8:2:3::1')).toBeNull();
});
