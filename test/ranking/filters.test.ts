import { expect, test } from 'vitest';
import { versionsOf } from '../../src/ranking/filters.ts';
import { cpuMs } from '../support/cpu-time.ts';

test.each([
  ['Paper 1.21.4', ['1.21']],
  ['1.20.x – 1.21', ['1.20', '1.21']],
  ['Requires MC 1.8 / 1.21', ['1.8', '1.21']],
  ['Velocity 1.18.x-1.21.4', ['1.18', '1.19', '1.20', '1.21']],
  ['1.19.4, 1.20.1', ['1.19', '1.20']],
  ['1.8 to 1.10', ['1.8', '1.9', '1.10']],
  ['1.21-SNAPSHOT', ['1.21']],
  ['v0.217.14', ['0.217']],
  // Two versions of one release, or of two major ones, are no range of releases.
  ['1.21.1-1.21.4', ['1.21']],
  ['1.20 - 2.1', ['1.20', '2.1']],
  ['1.21 - 1.8', ['1.21', '1.8']],
  ['26.1', ['26.1']],
  ['BungeeCord', []],
  ['20240101', []],
  ['', []],
])('%j is of the releases %j', (text, releases) => {
  expect(versionsOf(text)).toEqual(releases);
});

test('a text of nothing but versions is read in a moment, and gives a bounded list', () => {
  const spent = cpuMs(() => {
    expect(versionsOf('1.0-1.999').length).toBeLessThanOrEqual(30);
    expect(versionsOf(Array.from({ length: 5_000 }, (_, i) => `1.${i % 999}`).join(' ')).length).toBe(30);
    expect(versionsOf('1.'.repeat(50_000))).toEqual(['1.1']);
    expect(versionsOf(`1.8${' '.repeat(50_000)}-`)).toEqual(['1.8']);
  });
  expect(spent).toBeLessThan(1_000);
});
