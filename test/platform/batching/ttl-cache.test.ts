import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
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
