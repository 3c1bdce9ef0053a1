import { expect, test } from 'vitest';
import { MINUTE } from '../../../src/platform/clock.ts';
import { type Connection, takeConnection } from '../../../src/platform/limits/outgoing-limit.ts';
import { useAllowances } from '../../../src/platform/limits/rate-limit.ts';
import { limitOfTest } from '../../support/limits.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';

async function limits(env = { DESTINATION_LIMIT: '3', ACCOUNT_LIMIT: '2' }) {
  const deps = await testDeps(env);
  const clock = stoppedClock();
  const take = (connection: Partial<Connection> = {}) =>
    takeConnection(
      { ...deps, clock },
      { address: '198.51.100.7', port: 8192, accountId: null, isProvenByGreeting: false, ...connection },
    );
  const takeMany = async (count: number, connection: Partial<Connection>) => {
    const taken = [];
    for (let n = 0; n < count; n += 1) taken.push(await take(connection));
    return taken.filter((limited) => limited === null).length;
  };
  return { deps, clock, take, takeMany };
}

test('a destination has a limit of connections a minute over all accounts', async () => {
  const { clock, take, takeMany } = await limits();
  expect(await takeMany(5, {})).toBe(3);
  const until = new Date(clock.now().getTime() + MINUTE);
  expect(await take({ accountId: 'somebody' })).toEqual({ until, by: 'destination' });
  expect(await take({ address: '198.51.100.8' })).toBeNull();
  clock.move(MINUTE);
  expect(await take()).toBeNull();
});

test('an account has a limit over all destinations, and refused connections stay available to others', async () => {
  const { clock, take, takeMany } = await limits();
  expect(await take({ accountId: 'a', address: '198.51.100.1' })).toBeNull();
  expect(await take({ accountId: 'a', address: '198.51.100.2' })).toBeNull();
  const until = new Date(clock.now().getTime() + MINUTE);
  for (let n = 0; n < 5; n += 1) expect(await take({ accountId: 'a' })).toEqual({ until, by: 'account' });
  expect(await takeMany(5, {})).toBe(3);
});

test('the addresses of an IPv6 /64 are one destination, an IPv4-mapped address is its IPv4 address', async () => {
  const { takeMany } = await limits();
  expect(await takeMany(2, { address: '2001:db8:1:2::1' })).toBe(2);
  expect(await takeMany(5, { address: '2001:db8:1:2:ffff::9' })).toBe(1);
  expect(await takeMany(1, { address: '2001:db8:1:3::1' })).toBe(1);
  expect(await takeMany(2, { address: '192.0.2.9' })).toBe(2);
  expect(await takeMany(5, { address: '::ffff:192.0.2.9' })).toBe(1);
});

test('a destination that has greeted has six times the limit, in a separate allowance', async () => {
  const { takeMany } = await limits();
  expect(await takeMany(30, { isProvenByGreeting: true })).toBe(18);
  expect(await takeMany(30, {})).toBe(3);
});

test('many concurrent processes do not exceed the limit', async () => {
  const { take } = await limits();
  const taken = await Promise.all(Array.from({ length: 40 }, () => take()));
  expect(taken.filter((limited) => limited === null)).toHaveLength(3);
});

test('several uses are taken at once, as many as are left', async () => {
  const { deps, clock } = await limits();
  const take = (wanted: number) => useAllowances({ ...deps, clock }, limitOfTest('several', 10), wanted);
  const resetAt = new Date(clock.now().getTime() + MINUTE);
  expect(await take(4)).toEqual({ taken: 4, left: 6, resetAt });
  expect(await take(9)).toEqual({ taken: 6, left: 0, resetAt });
  expect(await take(9)).toEqual({ taken: 0, left: 0, resetAt });
  clock.move(MINUTE);
  expect(await take(9)).toMatchObject({ taken: 9 });
});

test('greeting destinations on different ports of an address have separate allowances', async () => {
  const { takeMany } = await limits();
  expect(await takeMany(30, { isProvenByGreeting: true, port: 8192 })).toBe(18);
  expect(await takeMany(30, { isProvenByGreeting: true, port: 8193 })).toBe(18);
  // All ports of an address without a greeting share one allowance.
  expect(await takeMany(30, { port: 8192 })).toBe(3);
  expect(await takeMany(30, { port: 8193 })).toBe(0);
});

test.each([
  true,
  false,
])('an account has a quarter of a destination at most (greeted: %s)', async (isProvenByGreeting) => {
  const { takeMany, take } = await limits({ DESTINATION_LIMIT: '40', ACCOUNT_LIMIT: '40' });
  const quarter = isProvenByGreeting ? 60 : 10;
  for (const accountId of ['a', 'b', 'c']) {
    expect(await takeMany(quarter + 5, { accountId, isProvenByGreeting })).toBe(quarter);
  }
  expect(await take({ accountId: 'a', isProvenByGreeting })).toMatchObject({ by: 'account' });
  // At another destination it may continue.
  expect(await take({ accountId: 'a', isProvenByGreeting, address: '198.51.100.9' })).toBeNull();
  expect(await take({ accountId: 'owner', isProvenByGreeting })).toBeNull();
});
