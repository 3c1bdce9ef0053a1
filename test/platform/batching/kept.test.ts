import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TtlCache } from '../../../src/platform/batching/ttl-cache.ts';

/** Something to ask that counts how often it was. */
function source(answer: { n: number } | null = { n: 1 }) {
  const asked = { times: 0 };
  const ask = async () => {
    asked.times += 1;
    return answer && { ...answer };
  };
  return { asked, ask };
}

const kept = () => new TtlCache<{ n: number }>({ most: 2, ms: 60_000 });

test('an answer is kept, what is not there is not', async () => {
  const answers = kept();
  const [there, missing] = [source(), source(null)];
  for (let i = 0; i < 3; i += 1) {
    expect(await answers.read('there', there.ask)).toEqual({ n: 1 });
    expect(await answers.read('missing', missing.ask)).toBeNull();
  }
  expect([there.asked.times, missing.asked.times]).toEqual([1, 3]);
});

test('its time counts from before it was asked for', async () => {
  const answers = new TtlCache<{ n: number }>({ most: 2, ms: 20 });
  const { asked, ask } = source();
  const slowly = async () => {
    await pause(25);
    return ask();
  };
  // Each is over by the time that it is there.
  await answers.read('key', slowly);
  await answers.read('key', slowly);
  expect(asked.times).toBe(2);
});

test('what was forgotten is asked for anew, the others are not', async () => {
  const answers = kept();
  const [one, two] = [source({ n: 1 }), source({ n: 2 })];
  await answers.read('one', one.ask);
  await answers.read('two', two.ask);
  answers.forget(({ n }) => n === 1);
  await answers.read('one', one.ask);
  await answers.read('two', two.ask);
  expect([one.asked.times, two.asked.times]).toEqual([2, 1]);
});

test('an answer that was asked for before a change is given and not kept', async () => {
  const answers = kept();
  const { promise, resolve } = Promise.withResolvers<{ n: number }>();
  const before = answers.read('key', () => promise);
  answers.forget(() => true);
  resolve({ n: 1 });
  expect(await before).toEqual({ n: 1 });
  expect(await answers.read('key', async () => ({ n: 2 }))).toEqual({ n: 2 });
});
