import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { QueryLimit } from '../../src/probing/query-limit.ts';

describe('The limit of queries', () => {
  it('lets them pass in the order in which they came', async () => {
    const limit = new QueryLimit(1);
    const leave = await limit.acquire();
    const passed: number[] = [];
    const stopping = new AbortController();
    const pass = async (number: number, signal?: AbortSignal) => {
      const leaveAgain = await limit.acquire(signal);
      passed.push(number);
      leaveAgain();
    };
    const waiting = [pass(1), pass(2, stopping.signal), pass(3), pass(4)];
    stopping.abort();
    await expect(waiting[1]).rejects.toMatchObject({ failure: 'stopped' });
    expect(passed).toEqual([]);
    leave();
    await Promise.all([waiting[0], waiting[2], waiting[3]]);
    expect(passed).toEqual([1, 3, 4]);
  });

  it('keeps nobody waiting for more than half a minute', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = new QueryLimit(1);
    const leave = await limit.acquire();
    const waiting = limit.acquire();
    const refused = expect(waiting).rejects.toMatchObject({
      failure: 'stopped',
      message: 'The check could not be made: too many others are under way.',
    });
    vi.advanceTimersByTime(30_000);
    await refused;
    // The place is nobody's once the first one leaves.
    leave();
    await expect(limit.acquire()).resolves.toBeTypeOf('function');
  });
});
