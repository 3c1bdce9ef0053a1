import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { whileClockIsRight } from '../../workers/while-clock-is-right.ts';
import { EVENTUALLY } from '../support/eventually.ts';

/** Work that notes when it is started and closed, under a clock that is `skew` off. */
async function held(skew: () => Promise<number>) {
  const seen: string[] = [];
  const stopping = new AbortController();
  const work = await whileClockIsRight(
    { clockSkew: skew, log: createLogger({ LOG_LEVEL: 'silent' }, 'test') },
    stopping.signal,
    (signal) => {
      seen.push('started');
      return {
        async close() {
          seen.push(signal.aborted ? 'closed' : 'closed without a signal');
        },
      };
    },
  );
  const close = async () => {
    stopping.abort();
    await work.close();
  };
  onTestFinished(close);
  return { seen, close };
}

const until = (seen: string[], wanted: string[]) =>
  vi.waitFor(() => expect(seen).toEqual(wanted), EVENTUALLY);

test.each([HOUR, -HOUR])('work stops while the clock is %s ms ahead, and goes on after', async (ms) => {
  let skew = 0;
  const { seen, close } = await held(async () => skew);
  expect(seen).toEqual(['started']);
  skew = ms;
  await until(seen, ['started', 'closed']);
  skew = 0;
  await until(seen, ['started', 'closed', 'started']);
  await close();
  expect(seen).toEqual(['started', 'closed', 'started', 'closed']);
});

test('work does not begin before the clock is right', async () => {
  let skew = HOUR;
  const { seen } = await held(async () => skew);
  expect(seen).toEqual([]);
  skew = 0;
  await until(seen, ['started']);
});

test('while MongoDB does not say what time it is, work goes on', async () => {
  let asked = 0;
  const { seen } = await held(async () => {
    asked += 1;
    if (asked === 2) throw new Error('away');
    return 0;
  });
  await vi.waitUntil(() => asked > 2, EVENTUALLY);
  expect(seen).toEqual(['started']);
});

test('a MongoDB that hangs does not hold up the end', async () => {
  let asked = 0;
  const { seen, close } = await held(() => {
    asked += 1;
    return asked === 1 ? Promise.resolve(0) : new Promise(() => undefined);
  });
  await vi.waitUntil(() => asked > 1, EVENTUALLY);
  await close();
  expect(seen).toEqual(['started', 'closed']);
});

test('a MongoDB that goes away while a process starts is waited for', async () => {
  let asked = 0;
  const { seen } = await held(async () => {
    asked += 1;
    if (asked < 3) throw new Error('connection 1 to 127.0.0.1:27017 closed');
    return 0;
  });
  expect({ asked, seen }).toEqual({ asked: 3, seen: ['started'] });
});
