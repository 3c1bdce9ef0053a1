import { expect, test } from 'vitest';
import { createKnownDevices } from '../../src/accounts/known-devices.ts';
import { type Clock, DAY } from '../../src/platform/clock.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const CONFIG = {
  SECRET_KEY: 'k3y-for-tests-0123456789-abcdefghij',
  SECRET_KEY_PREVIOUS: undefined,
  PUBLIC_URL: 'http://localhost:3000',
  basePath: '',
};

const at = (ms: number): Clock => ({ now: () => new Date(ms) });
type Changes = Partial<Omit<typeof CONFIG, 'SECRET_KEY_PREVIOUS'>> & { SECRET_KEY_PREVIOUS?: string };

const devicesOf = (config: Changes = {}, ms = NOW) => createKnownDevices({ ...CONFIG, ...config }, at(ms));
const sentBack = (setCookie: string) => `other=1; ${setCookie.split(';')[0]}; more=2`;

test('a cookie identifies a device for the account that signed in there', () => {
  const devices = devicesOf();
  const cookie = sentBack(devices.cookieFor('nora@example.org'));
  const device = devices.find(cookie, ' Nora@Example.org');
  expect(device).toMatch(/^[\w-]{22}$/);
  expect(devices.find(cookie, 'nora@example.org')).toBe(device);
  expect(devices.find(cookie, 'oscar@example.org')).toBeNull();
  expect(devices.find(undefined, 'nora@example.org')).toBeNull();
});

test('two devices of one user have different ids', () => {
  const devices = devicesOf();
  const found = [1, 2].map(() => devices.find(sentBack(devices.cookieFor('a@example.org')), 'a@example.org'));
  expect(new Set(found).size).toBe(2);
});

test('a forged, changed or expired cookie identifies no device', () => {
  const devices = devicesOf();
  const cookie = sentBack(devices.cookieFor('a@example.org'));
  const [, value = ''] = /device=([^;]*)/.exec(cookie) ?? [];
  const [issued = '', nonce = '', signature = ''] = value.split('.');
  const later = (Number.parseInt(issued, 36) + 1).toString(36);
  for (const forged of [
    '',
    'x',
    '..',
    `${issued}.${nonce}.`,
    `${issued}.${nonce}.${signature.slice(0, -1)}`,
    `${later}.${nonce}.${signature}`,
    `${issued}.${nonce.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A'))}.${signature}`,
    'a'.repeat(10_000),
  ]) {
    expect(devices.find(`tallyport.device=${forged}`, 'a@example.org'), forged).toBeNull();
  }
  expect(devicesOf({}, NOW + 179 * DAY).find(cookie, 'a@example.org')).not.toBeNull();
  expect(devicesOf({}, NOW + 181 * DAY).find(cookie, 'a@example.org')).toBeNull();
});

test('after a change of SECRET_KEY devices stay known while SECRET_KEY_PREVIOUS is set', () => {
  const cookie = sentBack(devicesOf().cookieFor('a@example.org'));
  const SECRET_KEY = 'another-k3y-for-tests-0123456789-xyz';
  expect(devicesOf({ SECRET_KEY }).find(cookie, 'a@example.org')).toBeNull();
  const both = devicesOf({ SECRET_KEY, SECRET_KEY_PREVIOUS: CONFIG.SECRET_KEY });
  expect(both.find(cookie, 'a@example.org')).not.toBeNull();
});

test('the cookie is limited to this site and its path', () => {
  expect(devicesOf().cookieFor('a@example.org')).toMatch(
    /^tallyport\.device=[\w.-]+; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const secure = devicesOf({ PUBLIC_URL: 'https://example.org/listing', basePath: '/listing' });
  expect(secure.cookieFor('a@example.org')).toMatch(
    /^__Secure-tallyport\.device=[\w.-]+; Max-Age=15552000; Path=\/listing; HttpOnly; SameSite=Lax; Secure$/,
  );
});
