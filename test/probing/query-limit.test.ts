import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { QueryLimit } from '../../src/probing/query-limit.ts';

describe('The limit of queries', () => {
  it('starts queries in their order of arrival', async () => {
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

  it('rejects a query that waits for more than half a minute', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = new QueryLimit(1);
    const leave = await limit.acquire();
    const waiting = limit.acquire();
    const refused = expect(waiting).rejects.toMatchObject({
      failure: 'stopped',
      message: 'The check could not be made: too many other checks are running.',
    });
    vi.advanceTimersByTime(30_000);
    await refused;
    // The slot is free once the first one releases it.
    leave();
    await expect(limit.acquire()).resolves.toBeTypeOf('function');
  });
});
