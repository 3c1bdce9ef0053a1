import { expect, test } from 'vitest';
import { trendOf } from '../../bench/soak/trend.ts';

test('a line has its slope and no error, a level one none', () => {
  expect(trendOf([0, 1, 2, 3], [10, 12, 14, 16])).toEqual({ slope: 2, error: 0 });
  expect(trendOf([0, 1, 2, 3], [5, 5, 5, 5])).toEqual({ slope: 0, error: 0 });
});

test('what goes up and down has an error that its slope does not exceed twice', () => {
  const times = Array.from({ length: 60 }, (_, i) => i);
  const { slope, error } = trendOf(
    times,
    times.map((time) => 100 + (time % 2 === 0 ? 3 : -3)),
  );
  expect(Math.abs(slope)).toBeLessThan(2 * error);
  const growing = trendOf(
    times,
    times.map((time) => 100 + time + (time % 2 === 0 ? 3 : -3)),
  );
  expect(growing.slope - 2 * growing.error).toBeGreaterThan(0.9);
});

test('two measurements are no trend', () => {
  expect(trendOf([0, 1], [1, 2]).slope).toBeNaN();
});
