import { expect, it, vi } from 'vitest';
import { BacklogThrottle } from '../../src/delivery/drain/backlog-throttle.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';

/** A throttle that has just recorded a fresh vote. */
function wanted(): BacklogThrottle {
  const throttle = new BacklogThrottle();
  const cast = new Date();
  throttle.note([{ votedAt: cast }], after(cast, SECOND));
  return throttle;
}

it('backlogs are not throttled while no fresh vote is forwarded', () => {
  const throttle = new BacklogThrottle();
  const now = new Date();
  throttle.note([{ votedAt: after(now, -MINUTE) }], now);
  expect(throttle.take(64)).toMatchObject({ votes: 64, waitMs: 0 });
  expect(throttle.take(64)).toMatchObject({ votes: 64, waitMs: 0 });
});

it('all backlogs of a worker share a rate after a fresh vote, for some seconds', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const throttle = wanted();
  expect(throttle.take(64)).toMatchObject({ votes: 16, waitMs: 0 });
  const { votes, waitMs } = throttle.take(16);
  expect(votes).toBe(0);
  expect(waitMs).toBeGreaterThan(0);
  now.mockReturnValue(1_000 + waitMs);
  expect(throttle.take(4)).toMatchObject({ votes: 4, waitMs: 0 });
  const shorter = throttle.take(16).waitMs;
  expect(shorter).toBeGreaterThan(0);
  expect(shorter).toBeLessThan(waitMs);
  now.mockReturnValue(10_000);
  expect(throttle.take(64)).toMatchObject({ votes: 64, waitMs: 0 });
});

it('a backlog’s unused part of a grant does not use up the rate', () => {
  vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const throttle = wanted();
  throttle.giveBack(throttle.take(64), 0);
  const grant = throttle.take(64);
  expect(grant).toMatchObject({ votes: 16, waitMs: 0 });
  const { waitMs } = throttle.take(64);
  throttle.giveBack(grant, 4);
  expect(throttle.take(64).waitMs).toBeCloseTo(waitMs / 4);
});

it('the unused part of a grant is not returned if another backlog has reserved after it', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
  const throttle = wanted();
  const grant = throttle.take(16);
  const { waitMs } = throttle.take(16);
  now.mockReturnValue(1_000 + waitMs);
  throttle.take(16);
  throttle.giveBack(grant, 0);
  expect(throttle.take(16).waitMs).toBe(waitMs);
});

it('the rate of backlogs doubles each minute, and starts again at the first rate after a pause', () => {
  const now = vi.spyOn(performance, 'now');
  const start = 1_000;
  const waitAt = (ms: number) => {
    now.mockReturnValue(start + ms);
    throttle.note([{ votedAt: new Date() }], new Date());
    throttle.take(16);
    return throttle.take(16).waitMs;
  };
  const throttle = new BacklogThrottle();
  const first = waitAt(0);
  for (let ms = 5 * SECOND; ms < MINUTE; ms += 5 * SECOND) expect(waitAt(ms)).toBeCloseTo(first);
  expect(waitAt(MINUTE)).toBeCloseTo(first / 2);
  for (let ms = MINUTE; ms < 2 * MINUTE; ms += 5 * SECOND) waitAt(ms);
  expect(waitAt(2 * MINUTE)).toBeCloseTo(first / 4);
  expect(waitAt(2 * MINUTE + 11 * SECOND)).toBeCloseTo(first);
});
