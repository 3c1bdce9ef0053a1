import { expect, test } from 'vitest';
import { networkOf, widerNetworkOf } from '../../../src/platform/limits/network-of.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['64:ff9b::c000:207', '192.0.2.7'],
  ['2002:c000:207:1::1', '192.0.2.7'],
  ['::1', '::/64'],
  ['unix', 'unknown'],
  ['', 'unknown'],
  ['192.0.2.7:5678', '192.0.2.7'],
  ['[2001:db8:1:2::7]:443', '2001:db8:1:2::/64'],
])('%s is limited as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['unix', 'unknown'],
])('%s belongs to the wider network %s', (address, wider) => {
  expect(widerNetworkOf(address)).toBe(wider);
});
