import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { ConfigError } from '../../src/platform/environment.ts';
import { sendSignIn } from '../site/account-pages.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { OWN_ORIGIN, openWebApp, openWebAppOn, type WebApp } from '../support/web-app.ts';

function errorsOf(TRUST_PROXY: string): string[] {
  try {
    loadConfig({ TRUST_PROXY });
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
  return [];
}

test.each([
  [
    'true',
    'TRUST_PROXY (“true”) would let every client choose its own address: set the number of proxies in front (1 for a single one), or their addresses or ranges, separated by commas',
  ],
  ['99', 'TRUST_PROXY (“99”) must be at most 8 proxies'],
])('TRUST_PROXY=%s is refused at the start, and the error says what to set', (value, line) => {
  expect(errorsOf(value)).toEqual([line]);
});

const HOW =
  'set the number of proxies in front (1 for a single one), or their addresses or ranges, separated by commas';
const tooWide = (range: string, least: number) =>
  `TRUST_PROXY: “${range}” is so wide that clients other than your proxies could choose their own address: a prefix is at least ${least} here; ${HOW}`;

test.each([
  ['10.0.0.1,0.0.0.0/0', '0.0.0.0/0', 8],
  ['0.0.0.0/1,128.0.0.0/1', '0.0.0.0/1', 8],
  ['10.0.0.0/7', '10.0.0.0/7', 8],
  ['::/0', '::/0', 16],
  ['2000::/3', '2000::/3', 16],
  ['::ffff:0:0/96', '::ffff:0:0/96', 104],
])('TRUST_PROXY=%s is refused, because it trusts strangers', (value, range, least) => {
  expect(errorsOf(value)).toEqual([tooWide(range, least)]);
});

test.each([
  '1.5',
  '0x1',
  '010.0.0.1',
  '10.1',
  '-1',
  '1e0',
  '10.0.0.1/33',
  '::1/129',
  '10.0.0.0/255.0.0.0',
  '10.0.0.1/',
  '/8',
  'fe80::1%eth-0',
  'loopback',
])('TRUST_PROXY=%s is not a number, address or range', (value) => {
  expect(errorsOf(value)).toEqual([
    `TRUST_PROXY: “${value}” is neither an address nor a range; use false, or ${HOW}`,
  ]);
});

test.each([
  ['', false],
  ['false', false],
  ['0', false],
  ['2', 2],
  ['10.0.0.0/8, 2001:db8::7', ['10.0.0.0/8', '2001:db8::7']],
  ['10.0.0.1/32,fd00::/16', ['10.0.0.1/32', 'fd00::/16']],
  ['::ffff:10.0.0.1', ['::ffff:10.0.0.1']],
])('TRUST_PROXY=%s is accepted', (value, expected) => {
  expect(loadConfig({ TRUST_PROXY: value }).TRUST_PROXY).toEqual(expected);
});

/** The address that is recorded for a sign-in. */
async function addressSeen(
  web: WebApp,
  forwarded: string,
  remoteAddress: string,
): Promise<string | null | undefined> {
  const { email } = await signIn(web);
  const answer = await web.app.inject({
    method: 'POST',
    url: '/sign-in',
    remoteAddress,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': forwarded,
      'user-agent': email,
      ...OWN_ORIGIN,
    },
    payload: new URLSearchParams({ email, password: PASSWORD }).toString(),
  });
  expect(answer.statusCode).toBe(303);
  return (await web.deps.sessions.findOne({ userAgent: email }))?.ipAddress;
}

describe('X-Forwarded-For from a client has no effect', () => {
  test.each([
    ['false', '203.0.113.66', '192.0.2.1', '192.0.2.1'],
    ['1', '203.0.113.66, 192.0.2.1', '10.0.0.1', '192.0.2.1'],
    ['2', '203.0.113.66, 192.0.2.1, 10.0.0.2', '10.0.0.1', '192.0.2.1'],
    ['10.0.0.0/8', '203.0.113.66, 192.0.2.1, 10.0.0.2', '10.0.0.1', '192.0.2.1'],
    // Not through the proxy.
    ['10.0.0.0/8', '203.0.113.66', '192.0.2.1', '192.0.2.1'],
  ])('with TRUST_PROXY=%s and the header %s from %s it is %s', async (trust, header, from, address) => {
    expect(await addressSeen(await openWebApp({ TRUST_PROXY: trust }), header, from)).toBe(address);
  });
});

type Line = { event?: string; header?: string; msg?: string };

async function linesOf(trust: string, work: (web: WebApp) => Promise<unknown>): Promise<Line[]> {
  const lines: Line[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const deps = await testDeps({ TRUST_PROXY: trust });
  await work(await openWebAppOn({ ...deps, log }));
  return lines.filter(({ event }) => event === 'proxy.not_trusted');
}

test('a forwarded header causes one warning while no proxy is trusted', async () => {
  const lines = await linesOf('false', async (web) => {
    await web.app.inject({ url: '/healthz' });
    for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-forwarded-for']) {
      await web.app.inject({ url: '/healthz', headers: { [header]: 'for=192.0.2.1' } });
    }
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    header: 'x-forwarded-for',
    msg: expect.stringContaining('set TRUST_PROXY to'),
  });
});

test('there is no warning if a proxy is trusted', async () => {
  const lines = await linesOf('1', (web) =>
    sendSignIn(web, 'a@example.org', 'x', { 'x-forwarded-for': '192.0.2.1' }),
  );
  expect(lines).toEqual([]);
});

test('a forwarded header from an address that is not in the list causes one warning', async () => {
  const lines = await linesOf('10.0.0.0/8', async (web) => {
    const ask = (remoteAddress: string, headers: Record<string, string>) =>
      web.app.inject({ url: '/healthz', remoteAddress, headers });
    // The proxy's own request, one through the proxy, and a client without the header.
    await ask('10.0.0.1', { 'x-forwarded-for': '10.0.0.1' });
    await ask('10.0.0.1', { 'x-forwarded-for': '192.0.2.1' });
    await ask('192.0.2.1', {});
    for (const address of ['172.18.0.1', '172.18.0.2']) {
      await ask(address, { 'x-forwarded-for': '192.0.2.1' });
    }
  });
  expect(lines).toEqual([
    expect.objectContaining({
      header: 'x-forwarded-for',
      address: '172.18.0.1',
      msg: expect.stringContaining('add its address to TRUST_PROXY'),
    }),
  ]);
});
