import { expect, it } from 'vitest';
import { hostAndPort } from '../../src/platform/host-and-port.ts';

it.each([
  ['play.example.org', 'play.example.org:25565'],
  ['192.0.2.1', '192.0.2.1:25565'],
  ['2001:db8::1', '[2001:db8::1]:25565'],
])('%s and a port are written as %s', (host, written) => {
  expect(hostAndPort(host, 25_565)).toBe(written);
});
