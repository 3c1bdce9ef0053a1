import { expect, onTestFinished, test, vi } from 'vitest';
import { HOUR } from '../../src/platform/clock.ts';
import { whileWorkIsSafe } from '../../workers/while-work-is-safe.ts';
import { setRestore } from '../backup/restoring.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { testDeps } from '../support/test-deps.ts';

/** Work that records when it is started and closed, with a clock that is wrong by `skew`. */
async function startWork(skew: () => Promise<number>) {
  const seen: string[] = [];
  const deps = await testDeps();
  const stopping = new AbortController();
  const work = await whileWorkIsSafe({ ...deps, clockSkew: skew }, stopping.signal, (signal) => {
    seen.push('started');
    return {
      async close() {
        seen.push(signal.aborted ? 'closed' : 'closed without a signal');
      },
    };
  });
  const close = async () => {
    stopping.abort();
    await work.close();
  };
  onTestFinished(close);
  return { seen, close, deps };
}

const until = (seen: string[], wanted: string[]) =>
  vi.waitFor(() => expect(seen).toEqual(wanted), EVENTUALLY);

test.each([
  HOUR,
  -HOUR,
])('work stops while the clock is %s ms ahead, and continues afterwards', async (ms) => {
  let skew = 0;
  const { seen, close } = await startWork(async () => skew);
  expect(seen).toEqual(['started']);
  skew = ms;
  await until(seen, ['started', 'closed']);
  skew = 0;
  await until(seen, ['started', 'closed', 'started']);
  await close();
  expect(seen).toEqual(['started', 'closed', 'started', 'closed']);
});

test('work stops while a restore into the database is unfinished, and continues afterwards', async () => {
  const { seen, deps } = await startWork(async () => 0);
  expect(seen).toEqual(['started']);
  await setRestore(deps, {});
  await until(seen, ['started', 'closed']);
  await setRestore(deps, { finishedAt: new Date() });
  await until(seen, ['started', 'closed', 'started']);
});

test('work starts only when the clock is right', async () => {
  let skew = HOUR;
  const { seen } = await startWork(async () => skew);
  expect(seen).toEqual([]);
  skew = 0;
  await until(seen, ['started']);
});

test('while MongoDB does not return its time, work continues', async () => {
  let calls = 0;
  const { seen } = await startWork(async () => {
    calls += 1;
    if (calls === 2) throw new Error('away');
    return 0;
  });
  await vi.waitUntil(() => calls > 2, EVENTUALLY);
  expect(seen).toEqual(['started']);
});

test('a MongoDB that does not answer does not delay the shutdown', async () => {
  let calls = 0;
  const { seen, close } = await startWork(() => {
    calls += 1;
    return calls === 1 ? Promise.resolve(0) : new Promise(() => undefined);
  });
  await vi.waitUntil(() => calls > 1, EVENTUALLY);
  await close();
  expect(seen).toEqual(['started', 'closed']);
});

test('a process that starts waits for an unavailable MongoDB', async () => {
  let calls = 0;
  const { seen } = await startWork(async () => {
    calls += 1;
    if (calls < 3) throw new Error('connection 1 to 127.0.0.1:27017 closed');
    return 0;
  });
  expect({ calls, seen }).toEqual({ calls: 3, seen: ['started'] });
});
