import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { TtlCache } from '../../../src/platform/batching/ttl-cache.ts';

/** A source that counts its calls. */
function source(answer: { n: number } | null = { n: 1 }) {
  const calls = { times: 0 };
  const load = async () => {
    calls.times += 1;
    return answer && { ...answer };
  };
  return { calls, load };
}

const createCache = () => new TtlCache<{ n: number }>({ most: 2, ms: 60_000 });

test('an answer is cached, null is not', async () => {
  const answers = createCache();
  const [there, missing] = [source(), source(null)];
  for (let i = 0; i < 3; i += 1) {
    expect(await answers.read('there', there.load)).toEqual({ n: 1 });
    expect(await answers.read('missing', missing.load)).toBeNull();
  }
  expect([there.calls.times, missing.calls.times]).toEqual([1, 3]);
});

test('the TTL starts when the load starts', async () => {
  const answers = new TtlCache<{ n: number }>({ most: 2, ms: 20 });
  const { calls, load } = source();
  const slowly = async () => {
    await pause(25);
    return load();
  };
  // Each TTL is over by the time that the answer arrives.
  await answers.read('key', slowly);
  await answers.read('key', slowly);
  expect(calls.times).toBe(2);
});

test('a forgotten answer is loaded again, the others are not', async () => {
  const answers = createCache();
  const [one, two] = [source({ n: 1 }), source({ n: 2 })];
  await answers.read('one', one.load);
  await answers.read('two', two.load);
  answers.forget(({ n }) => n === 1);
  await answers.read('one', one.load);
  await answers.read('two', two.load);
  expect([one.calls.times, two.calls.times]).toEqual([2, 1]);
});

test('an answer whose load started before a change is returned and not cached', async () => {
  const answers = createCache();
  const { promise, resolve } = Promise.withResolvers<{ n: number }>();
  const before = answers.read('key', () => promise);
  answers.forget(() => true);
  resolve({ n: 1 });
  expect(await before).toEqual({ n: 1 });
  expect(await answers.read('key', async () => ({ n: 2 }))).toEqual({ n: 2 });
});

describe('an answer whose TTL ends soon', () => {
  /** A cache with an answer that is `ageMs` old, on a clock that only the test moves. */
  async function cached({ ageMs }: { ageMs: number }) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    // The library takes a start at the time 0 for none.
    await vi.advanceTimersByTimeAsync(1);
    const answers = new TtlCache<{ n: number }>({ most: 2, ms: 4_000 });
    await answers.read('key', async () => ({ n: 1 }));
    await vi.advanceTimersByTimeAsync(ageMs);
    return answers;
  }

  test('is loaded again once, and calls get the cached one meanwhile', async () => {
    const answers = await cached({ ageMs: 3_100 });
    const { calls, load } = source({ n: 2 });
    for (let i = 0; i < 3; i += 1) answers.refreshSoon('key', load);
    expect(answers.peek('key')).toEqual({ n: 1 });
    await vi.advanceTimersByTimeAsync(250);
    expect([answers.peek('key'), calls.times]).toEqual([{ n: 2 }, 1]);
    await vi.advanceTimersByTimeAsync(3_600);
    expect(answers.peek('key')).toEqual({ n: 2 });
  });

  test('is not loaded again while it is young', async () => {
    const answers = await cached({ ageMs: 2_900 });
    const { calls, load } = source({ n: 2 });
    answers.refreshSoon('key', load);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.times).toBe(0);
  });

  test('is not loaded by several calls at once, and is as old as the start of its load', async () => {
    const answers = await cached({ ageMs: 3_100 });
    const { promise, resolve } = Promise.withResolvers<{ n: number }>();
    const { calls, load } = source({ n: 3 });
    answers.refreshSoon('key', () => promise);
    await vi.advanceTimersByTimeAsync(250);
    answers.refreshSoon('key', load);
    await vi.advanceTimersByTimeAsync(3_900);
    expect(calls.times).toBe(0);
    resolve({ n: 2 });
    await vi.advanceTimersByTimeAsync(0);
    expect(answers.peek('key')).toEqual({ n: 2 });
    await vi.advanceTimersByTimeAsync(150);
    expect(answers.peek('key')).toBeUndefined();
  });

  test('is removed if there is none any more', async () => {
    const answers = await cached({ ageMs: 3_100 });
    answers.refreshSoon('key', async () => null);
    await vi.advanceTimersByTimeAsync(250);
    expect(answers.peek('key')).toBeUndefined();
  });

  test('stays until its TTL ends if the load fails', async () => {
    const answers = await cached({ ageMs: 3_100 });
    answers.refreshSoon('key', () => Promise.reject(new Error('MongoDB is away')));
    await vi.advanceTimersByTimeAsync(800);
    expect(answers.peek('key')).toEqual({ n: 1 });
    await vi.advanceTimersByTimeAsync(200);
    expect(answers.peek('key')).toBeUndefined();
  });

  test('is not cached again if it is forgotten during the load', async () => {
    const answers = await cached({ ageMs: 3_100 });
    const { promise, resolve } = Promise.withResolvers<{ n: number }>();
    answers.refreshSoon('key', () => promise);
    await vi.advanceTimersByTimeAsync(250);
    answers.forget(() => true);
    resolve({ n: 2 });
    await vi.advanceTimersByTimeAsync(0);
    expect(answers.peek('key')).toBeUndefined();
  });
});
