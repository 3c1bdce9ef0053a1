import { expect, it, vi } from 'vitest';
import { BacklogThrottle } from '../../src/delivery/backlog-throttle.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';

it('backlogs are not throttled while no fresh vote is forwarded', () => {
  const throttle = new BacklogThrottle();
  const now = new Date();
  throttle.note([{ votedAt: after(now, -MINUTE) }], now);
  expect(throttle.limit(64)).toBe(64);
  expect([throttle.take(64), throttle.take(64)]).toEqual([0, 0]);
});

it('all backlogs of a worker share a rate after a fresh vote, for some seconds', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const throttle = new BacklogThrottle();
  const cast = new Date();
  throttle.note([{ votedAt: cast }], after(cast, SECOND));
  expect(throttle.limit(64)).toBe(16);
  expect(throttle.limit(4)).toBe(4);
  expect(throttle.take(16)).toBe(0);
  const waitMs = throttle.take(16);
  expect(waitMs).toBeGreaterThan(0);
  now.mockReturnValue(1_000 + waitMs);
  expect(throttle.take(16)).toBe(0);
  expect(throttle.take(16)).toBeGreaterThan(0);
  now.mockReturnValue(10_000);
  expect(throttle.take(64)).toBe(0);
  expect(throttle.limit(64)).toBe(64);
});
