import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Batcher,
  type BatchLoader,
  createBatcher,
  OverloadError,
} from '../../../src/platform/batching/batcher.ts';
import { DeadlineError } from '../../../src/platform/deadline.ts';

/** A fake loader: it records each batch and answers when the test says so. */
type FakeDatabase = { batches: number[][]; answer: ((how?: Error) => void)[] };

const fakeDatabase = (): FakeDatabase => ({ batches: [], answer: [] });

/** Doubles numbers, at most 4 in a batch; refuses negative ones alone. */
const doubling: BatchLoader<FakeDatabase, number, number> = {
  most: 4,
  async load(on, batch) {
    on.batches.push(batch);
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    on.answer.push(resolve);
    const failure = await promise;
    if (failure) throw failure;
    return batch.map((n) => (n < 0 ? new RangeError(`${n}`) : 2 * n));
  },
};

/** A batch is late only when a test says so, even on a slow machine. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function ended(work: Promise<unknown>[]): Promise<unknown[]> {
  return (await Promise.allSettled(work)).map((end) => (end.status === 'fulfilled' ? end.value : end.reason));
}

/** The wait for more requests ends with a further iteration of the event loop. */
async function passes(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await turn();
  await turn();
}

describe('requests in flight together', () => {
  test('the first one is sent at once, alone; later ones wait for the next batch, in their order', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const first = batcher.load(doubling, on, 1);
    await turn();
    const later = ended([2, -3, 4, 5, 6].map((n) => batcher.load(doubling, on, n)));
    await turn();
    expect(on.batches).toEqual([[1]]);
    on.answer[0]?.();
    expect(await first).toBe(2);
    await turn();
    expect(on.batches).toEqual([[1], [2, -3, 4, 5]]);
    on.answer[1]?.();
    await turn();
    await passes(40);
    expect(on.batches[2]).toEqual([6]);
    on.answer[2]?.();
    expect(await later).toEqual([4, new RangeError('-3'), 8, 10, 12]);
  });

  test('of one event loop iteration share a batch', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const asked = [1, 2, 3].map((n) => batcher.load(doubling, on, n));
    await turn();
    on.answer[0]?.();
    expect(await ended(asked)).toEqual([2, 4, 6]);
    expect(on.batches).toEqual([[1, 2, 3]]);
  });

  test('fail with their batch, and the next batch is still sent', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const asked = ended([1, 2].map((n) => batcher.load(doubling, on, n)));
    await turn();
    const next = batcher.load(doubling, on, 3);
    on.answer[0]?.(new Error('lost'));
    expect(await asked).toEqual([new Error('lost'), new Error('lost')]);
    await turn();
    await passes(40);
    on.answer[1]?.();
    expect(await next).toBe(6);
  });

  test('after a batch of several, the next one begins 40 ms later, or when a batch is full; a single one is not followed by a wait', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const ask = (...numbers: number[]) => numbers.map((n) => batcher.load(doubling, on, n));
    const asked = ask(1, 2);
    await turn();
    on.answer[0]?.();
    await turn();
    asked.push(...ask(3));
    await turn();
    await passes(39);
    expect(on.batches).toEqual([[1, 2]]);
    await passes(1);
    expect(on.batches).toEqual([[1, 2], [3]]);
    on.answer[1]?.();
    await turn();
    asked.push(...ask(4, 5, 6, 7));
    await turn();
    on.answer[2]?.();
    await turn();
    asked.push(...ask(8, 9, 10, 11));
    await turn();
    on.answer[3]?.();
    expect(await Promise.all(asked)).toEqual(asked.map((_, n) => 2 * (n + 1)));
    expect(on.batches).toEqual([[1, 2], [3], [4, 5, 6, 7], [8, 9, 10, 11]]);
  });

  test('that follow an answer are sent at once, several together; one that does not follow waits', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const asked: Promise<number>[] = [];
    const ask = async (...numbers: number[]) => {
      asked.push(...numbers.map((n) => batcher.load(doubling, on, n)));
      await turn();
    };
    await ask(1, 2);
    on.answer[0]?.();
    await passes(1);
    await ask(3);
    await ask(4);
    await turn();
    expect(on.batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
    on.answer[1]?.();
    await turn();
    await passes(2);
    await ask(5);
    await ask(6, 7);
    await passes(10);
    expect(on.batches).toHaveLength(2);
    // The wait ends when a batch is full.
    await ask(8);
    await turn();
    expect(on.batches[2]).toEqual([5, 6, 7, 8]);
    on.answer[2]?.();
    expect(await Promise.all(asked)).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
  });

  test('do not wait for another loader, nor for the same loader of another target', async () => {
    const [batcher, one, other] = [createBatcher(), fakeDatabase(), fakeDatabase()];
    const stuck = batcher.load(doubling, one, 1);
    const asked = batcher.load(doubling, other, 2);
    await turn();
    other.answer[0]?.();
    expect(await asked).toBe(4);
    one.answer[0]?.();
    await stuck;
  });

  test('are not delayed for long by a batch that does not end, and may end before it', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const stuck = batcher.load(doubling, on, 1);
    await turn();
    const next = batcher.load(doubling, on, 2);
    vi.advanceTimersByTime(49);
    await turn();
    expect(on.batches).toEqual([[1]]);
    vi.advanceTimersByTime(1);
    await turn();
    on.answer[1]?.();
    expect(await next).toBe(4);
    on.answer[0]?.();
    expect(await stuck).toBe(2);
  });

  test('are in at most sixteen batches, however long those take', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const asked: Promise<number>[] = [];
    for (let n = 0; n < 20; n += 1) {
      asked.push(batcher.load(doubling, on, n));
      await turn();
      vi.advanceTimersByTime(50);
      await turn();
    }
    expect(on.batches).toHaveLength(16);
    on.answer[7]?.();
    await turn();
    expect(on.batches[16]).toEqual([16, 17, 18, 19]);
    for (const answer of on.answer) answer();
    expect(await Promise.all(asked)).toEqual(asked.map((_, n) => 2 * n));
  });

  test('are refused at once when too many wait, and are not sent when they waited too long', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const first = batcher.load(doubling, on, 0);
    await turn();
    const waiting = ended(Array.from({ length: 5_000 }, () => batcher.load(doubling, on, 1)));
    await expect(batcher.load(doubling, on, 2)).rejects.toThrow(OverloadError);
    vi.advanceTimersByTime(5_000);
    on.answer[0]?.();
    await first;
    expect(new Set((await waiting).map((end) => end instanceof DeadlineError))).toEqual(new Set([true]));
    expect(on.batches).toEqual([[0]]);
  });

  test('are not sent after their own timeout', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const first = batcher.load(doubling, on, 0);
    await turn();
    const waiting = ended([batcher.load(doubling, on, 1, 30), batcher.load(doubling, on, 2, 60)]);
    vi.advanceTimersByTime(40);
    on.answer[0]?.();
    await first;
    await turn();
    on.answer[1]?.();
    expect(await waiting).toEqual([expect.any(DeadlineError), 4]);
    await expect(batcher.load(doubling, on, 3, 0)).rejects.toThrow(DeadlineError);
    expect(on.batches).toEqual([[0], [2]]);
  });

  test('are awaited when the batcher is closed, but not without limit', async () => {
    const [batcher, on] = [createBatcher(), fakeDatabase()];
    const asked = [batcher.load(doubling, on, 1)];
    await turn();
    asked.push(batcher.load(doubling, on, 2));
    let settled = false;
    const settling = (async () => {
      await batcher.settle(60_000);
      settled = true;
    })();
    on.answer[0]?.();
    await turn();
    expect(settled).toBe(false);
    on.answer[1]?.();
    await settling;
    expect(await ended(asked)).toEqual([2, 4]);
    const stuck = batcher.load(doubling, on, 3);
    await turn();
    const given = batcher.settle(10);
    vi.advanceTimersByTime(10);
    await given;
    on.answer[2]?.();
    await stuck;
  });

  test('are awaited together with the requests that follow from them in another queue', async () => {
    const [batcher, one, other] = [createBatcher(), fakeDatabase(), fakeDatabase()];
    // The batcher has this queue, and it is idle.
    const before = batcher.load(doubling, other, 0);
    await turn();
    other.answer[0]?.();
    await before;
    const asked = batcher.load(doubling, one, 1).then((n) => batcher.load(doubling, other, n));
    await turn();
    let settled = false;
    const settling = (async () => {
      await batcher.settle(60_000);
      settled = true;
    })();
    one.answer[0]?.();
    for (let i = 0; i < 5; i += 1) await turn();
    expect([other.batches, settled]).toEqual([[[0], [2]], false]);
    other.answer[1]?.();
    await settling;
    expect(await asked).toBe(4);
  });
});

/** A fake database of numbers: a batch takes a while and may fail before or after it was written. */
type Register = {
  seen: Set<number>;
  log: number[];
  faults: ('none' | 'before' | 'after')[];
  running: number;
};

const registering: BatchLoader<Register, number, 'new'> = {
  most: 5,
  async load(register, batch) {
    register.running += 1;
    expect(register.running).toBe(1);
    expect(batch.length).toBeGreaterThan(0);
    const fault = register.faults.shift() ?? 'none';
    await turn();
    register.running -= 1;
    if (fault === 'before') throw new Error('before');
    const ends = batch.map((n): 'new' | Error => {
      if (register.seen.has(n)) return new Error('duplicate');
      register.seen.add(n);
      register.log.push(n);
      return 'new';
    });
    if (fault === 'after') throw new Error('after');
    return ends;
  },
};

const arrivals = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ ask: fc.integer({ min: 0, max: 15 }) }) },
    { weight: 2, arbitrary: fc.constant({ ask: null }) },
  ),
  { maxLength: 60 },
);
const faults = fc.array(fc.constantFrom('none', 'none', 'before', 'after'), { maxLength: 20 });

test('however requests arrive and batches fail, each request gets the result of its own batch', async () => {
  const play = async (batcher: Batcher, register: Register, steps: { ask: number | null }[]) => {
    const asked: { n: number; end: Promise<unknown> }[] = [];
    for (const { ask } of steps) {
      if (ask === null) await turn();
      else
        asked.push({
          n: ask,
          end: batcher.load(registering, register, ask).catch((error: unknown) => error),
        });
    }
    const ending = Promise.all(asked.map(({ end }) => end));
    const next = async () => {
      await turn();
      // So little that no batch counts as late.
      vi.advanceTimersByTime(5);
    };
    while ((await Promise.race([ending, next()])) === undefined);
    const ends = await ending;
    return asked.map(({ n }, i) => ({ n, end: ends[i] instanceof Error ? ends[i].message : ends[i] }));
  };
  await fc.assert(
    fc.asyncProperty(arrivals, faults, async (steps, faults) => {
      const register: Register = { seen: new Set(), log: [], faults: [...faults] as never, running: 0 };
      const ends = await play(createBatcher(), register, steps);
      // Every request has a result, and a result never claims more than was written.
      expect(ends.every(({ end }) => ['new', 'duplicate', 'before', 'after'].includes(String(end)))).toBe(
        true,
      );
      const told = Map.groupBy(ends, ({ n }) => n);
      for (const [n, own] of told) {
        const news = own.filter(({ end }) => end === 'new').length;
        const unknown = own.filter(({ end }) => end === 'after').length;
        expect(news).toBeLessThanOrEqual(1);
        if (news === 0 && unknown === 0) expect(register.seen.has(n)).toBe(false);
        if (register.seen.has(n)) expect(news + unknown).toBeGreaterThan(0);
      }
      expect(register.log).toHaveLength(register.seen.size);
    }),
    { numRuns: 200 },
  );
});
