import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { movableClock } from '../support/start-app.ts';
import { testDeps } from '../support/test-deps.ts';
import { openWebAppOn } from '../support/web-app.ts';

type Line = { event?: string; address?: string; requests?: number; msg?: string };

/** A web application behind one proxy whose clock a test moves; `warnings()` are the warnings of this kind. */
async function openSite() {
  const lines: Line[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const clock = movableClock();
  const deps = await testDeps({ TRUST_PROXY: '1' });
  const web = await openWebAppOn({ ...deps, log, clock });
  /** `count` requests, spread over `ms` milliseconds and over `browsers` user agents. */
  const visit = async (
    address: string,
    { count = 120, ms = 20 * MINUTE, browsers = 6, url = '/robots.txt' },
  ) => {
    for (let n = 0; n < count; n += 1) {
      clock.move(ms / count);
      const headers = { 'x-forwarded-for': address, 'user-agent': `Browser ${n % browsers}` };
      await web.app.inject({ url, headers });
    }
  };
  return { visit, warnings: () => lines.filter(({ event }) => event === 'clients.one_address') };
}

test.each([
  '172.18.0.1',
  'fd7a:115c:2026::1',
  '127.0.0.1',
])('many clients that all come from %s cause one warning that says what to do', async (address) => {
  const { visit, warnings } = await openSite();
  await visit(address, { count: 400 });
  expect(warnings()).toEqual([
    expect.objectContaining({ address, msg: expect.stringContaining('TRUST_PROXY') }),
  ]);
});

test('IPv6 visitors who share a private address are noticed beside IPv4 visitors who do not', async () => {
  const { visit, warnings } = await openSite();
  for (const round of [1, 2, 3, 4]) {
    await visit(`192.0.2.${round}`, { count: 30, ms: 5 * MINUTE });
    await visit('172.18.0.1', { count: 40, ms: 5 * MINUTE });
  }
  expect(warnings()).toMatchObject([{ address: '172.18.0.1' }]);
});

describe('there is no warning', () => {
  test.each([
    ['of the only user with two browsers and a plugin', '172.18.0.1', { count: 500, browsers: 3 }],
    ['of health checks', '172.18.0.1', { count: 300, url: '/readyz' }],
    ['of a burst of some minutes', '172.18.0.1', { count: 300, ms: 5 * MINUTE }],
    [
      'of an idle site whose user gets a new browser now and then',
      '172.18.0.1',
      { count: 400, ms: 30 * HOUR },
    ],
    ['of clients behind one public address', '203.0.113.7', { count: 300 }],
  ])('%s', async (_, address, how) => {
    const { visit, warnings } = await openSite();
    await visit(address, how);
    expect(warnings()).toEqual([]);
  });

  test('of a private network whose clients have their own addresses', async () => {
    const { visit, warnings } = await openSite();
    for (const n of [1, 2, 3, 4, 5]) await visit(`192.168.1.${n}`, { count: 20, ms: MINUTE });
    await visit('192.168.1.1', {});
    expect(warnings()).toEqual([]);
  });
});
