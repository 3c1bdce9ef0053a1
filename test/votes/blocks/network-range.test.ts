import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { isInRange, isWide, networkText, parseNetwork } from '../../../src/votes/blocks/network-range.ts';

const textOf = (text: string) => {
  const range = parseNetwork(text);
  return range && networkText(range);
};

test.each([
  ['203.0.113.7', '203.0.113.7/32'],
  [' 203.0.113.7/24 ', '203.0.113.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8::5', '2001:db8::5/128'],
  ['2001:db8:1:2:3::/48', '2001:db8:1::/48'],
  ['::/0', '::/0'],
  // An IPv4-mapped address is its IPv4 address.
  ['::ffff:203.0.113.7', '203.0.113.7/32'],
  ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
  ['::ffff:cb00:7107/96', '0.0.0.0/0'],
])('%s is the network %s', (typed, text) => {
  expect(textOf(typed)).toBe(text);
});

test.each([
  '',
  'steve',
  '10.1',
  '010.0.0.1',
  '0x7f000001',
  '256.1.1.1',
  '203.0.113.0/33',
  '203.0.113.0/-1',
  '203.0.113.0/24/8',
  '2001:db8::/129',
  'fe80::1%eth0',
  // Wider than all mapped addresses: it would mean something else than it says.
  '::ffff:203.0.113.7/64',
  '203.0.113.0/ 24',
])('“%s” is no network', (typed) => {
  expect(parseNetwork(typed)).toBeNull();
});

test.each([
  ['203.0.0.0/15', true],
  ['203.0.0.0/16', false],
  ['2001:db8::/31', true],
  ['2001:db8::/32', false],
])('%s needs a confirmation: %s', (typed, wide) => {
  const range = parseNetwork(typed);
  expect(range && isWide(range)).toBe(wide);
});

test.each([
  ['203.0.113.255', '203.0.113.0/24', true],
  ['203.0.114.0', '203.0.113.0/24', false],
  ['::ffff:203.0.113.9', '203.0.113.0/24', true],
  ['2001:db8:1:ffff::1', '2001:db8:1::/48', true],
  ['2001:db8:2::1', '2001:db8:1::/48', false],
  ['203.0.113.1', '::/0', false],
  ['2001:db8::1', '0.0.0.0/0', false],
])('%s in %s: %s', (address, typed, inside) => {
  const range = parseNetwork(typed);
  expect(range && isInRange(ipaddr.process(address), range)).toBe(inside);
});
