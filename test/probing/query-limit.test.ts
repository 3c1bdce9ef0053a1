import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limitQueries, type QueryLimit } from '../../src/probing/query-limit.ts';

/** Takes a slot until `end` is called. */
function hold(limit: QueryLimit, signal?: AbortSignal): { end: () => void; ended: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { end: resolve, ended: limit(() => promise, signal) };
}

describe('The limit of queries', () => {
  it('runs them in the order in which they came', async () => {
    const limit = limitQueries(1);
    const first = hold(limit);
    const started: number[] = [];
    const stopping = new AbortController();
    const start = (number: number, signal?: AbortSignal) => limit(async () => started.push(number), signal);
    const waiting = [start(1), start(2, stopping.signal), start(3), start(4)];
    stopping.abort();
    await expect(waiting[1]).rejects.toMatchObject({ code: 'stopped', message: 'The check was stopped.' });
    expect(started).toEqual([]);
    first.end();
    await Promise.all([waiting[0], waiting[2], waiting[3]]);
    expect(started).toEqual([1, 3, 4]);
  });

  it('keeps nobody waiting for more than half a minute', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = limitQueries(1);
    const first = hold(limit);
    const refused = expect(limit(async () => 'started', undefined)).rejects.toMatchObject({
      code: 'stopped',
      message: 'The check could not be made: too many other checks are running.',
    });
    vi.advanceTimersByTime(30_000);
    await refused;
    // The slot is free once the first one ends.
    first.end();
    await expect(limit(async () => 'started', undefined)).resolves.toBe('started');
  });

  it('keeps the slot of a query that has started until it ends, whatever the signal and the time say', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const limit = limitQueries(1);
    const stopping = new AbortController();
    const first = hold(limit, stopping.signal);
    const second = vi.fn(async () => undefined);
    await turn();
    stopping.abort();
    vi.advanceTimersByTime(29_000);
    const waiting = limit(second, undefined);
    vi.advanceTimersByTime(2_000);
    await turn();
    expect(second).not.toHaveBeenCalled();
    first.end();
    await Promise.all([first.ended, waiting]);
    expect(second).toHaveBeenCalledOnce();
  });

  it('gives the slot of a query that failed to the next one', async () => {
    const limit = limitQueries(1);
    const failed = limit(() => Promise.reject(new Error('no answer')), undefined);
    await expect(failed).rejects.toThrow('no answer');
    await expect(limit(async () => 'started', undefined)).resolves.toBe('started');
  });
});
