import Fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { plainAddresses } from '../../src/http/client-addresses.ts';
import { openWebApp } from '../support/web-app.ts';

const PROXY = { remoteAddress: '10.0.0.1' };

/** An application with only the hook and a route that answers the address of its client. */
function addressApp(trust: number | string[]): FastifyInstance {
  const app = Fastify({ trustProxy: typeof trust === 'number' ? (_, hop) => hop < trust : trust });
  plainAddresses(app, trust);
  app.get('/', async ({ ip }) => ip);
  onTestFinished(() => app.close());
  return app;
}

async function addressOf(trust: number | string[], header: string | string[]): Promise<string> {
  const headers = { 'x-forwarded-for': header };
  return (await addressApp(trust).inject({ url: '/', headers, ...PROXY })).body;
}

test.each([
  ['192.0.2.1:5678', '192.0.2.1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%eth0]:443', 'fe80::1'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['203.0.113.66, 192.0.2.1:5678', '192.0.2.1'],
  // What is no address counts as the proxy that wrote it, and nothing before it is believed.
  ['unknown', '10.0.0.1'],
  ['192.0.2.1:port', '10.0.0.1'],
  ['192.0.2.256', '10.0.0.1'],
  ['192.0.2', '10.0.0.1'],
  ['203.0.113.66, unix:', '10.0.0.1'],
  ['[192.0.2.1', '10.0.0.1'],
  [',', '10.0.0.1'],
])('the client of the header “%s” is %s', async (header, address) => {
  expect(await addressOf(1, header)).toBe(address);
});

test.each([
  [2, '192.0.2.1:5678, 10.0.0.2:443', '192.0.2.1'],
  // Entries that are no address are not left out between others: the client could move the count of proxies.
  [2, '203.0.113.66, unknown, 10.0.0.2', '10.0.0.2'],
  [['10.0.0.0/8'], '203.0.113.66, 192.0.2.1:5678, 10.0.0.2:443', '192.0.2.1'],
  [['10.0.0.0/8'], `203.0.113.66, ${'10.0.0.2:443, '.repeat(500)}10.0.0.3`, '10.0.0.2'],
])('behind the proxies %s the client of “%s” is %s', async (trust, header, address) => {
  expect(await addressOf(trust, header)).toBe(address);
});

test('a limit by network counts a client once for all its ports, and all clients without an address as one', async () => {
  const { app } = await openWebApp({ TRUST_PROXY: '1' });
  const draw = async (address: string) => {
    const headers = { accept: 'text/html', 'x-forwarded-for': address };
    return (await app.inject({ url: '/servers/random', headers, ...PROXY })).statusCode;
  };
  for (let n = 1; n <= 60; n += 1) {
    expect([await draw(`192.0.2.1:${n}`), await draw(`unknown-${n}`)]).toEqual([303, 303]);
  }
  expect([await draw('192.0.2.1:61'), await draw('unknown-61'), await draw('192.0.2.2:1')]).toEqual([
    429, 429, 303,
  ]);
});

test('an IPv4 client of a port that listens on IPv6 is an IPv4 address', async () => {
  const app = addressApp(1);
  await app.listen({ host: '::', port: 0 });
  const { port } = app.server.address() as { port: number };
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('127.0.0.1');
});
