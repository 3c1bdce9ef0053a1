import { expect, test } from 'vitest';
import { createPasswordSlots, hashingFor } from '../../src/accounts/password-slots.ts';

/** Work that runs until the test ends it, and the names of the work that has started. */
function controlledWork() {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    started.push(name);
    const { promise, resolve } = Promise.withResolvers<string>();
    ends.set(name, () => resolve(name));
    return promise;
  };
  return { started, work, end: (name: string) => ends.get(name)?.() };
}

const from = (network: string, knownAs: string | null = null) => ({ network, knownAs });

test('one network cannot use more than its share', async () => {
  const { started, work, end } = controlledWork();
  const inSlot = createPasswordSlots({ atOnce: 2, waiting: 8, perNetwork: 4, perAccount: 2 });
  const tries = Array.from({ length: 14 }, (_, n) =>
    hashingFor(from('192.0.2.1'), () => inSlot(work(`attacker ${n}`))).catch((error) => error.statusCode),
  );
  const honest = hashingFor(from('198.51.100.7'), () => inSlot(work('honest')));
  // Ten of the fourteen calls are refused at once. Two run, and two wait before the honest one.
  expect(await Promise.all(tries.slice(4))).toEqual(Array.from({ length: 10 }, () => 503));
  expect(started).toEqual(['attacker 0', 'attacker 1']);
  for (let n = 0; n < 4; n += 1) {
    end(`attacker ${n}`);
    expect(await tries[n]).toBe(`attacker ${n}`);
  }
  end('honest');
  expect(await honest).toBe('honest');
});

test('a network gets its whole share back when its work ends', async () => {
  const inSlot = createPasswordSlots({ atOnce: 1, waiting: 8, perNetwork: 1, perAccount: 1 });
  const once = () => hashingFor(from('192.0.2.1'), () => inSlot(async () => 'done'));
  const failing = hashingFor(from('192.0.2.1'), () => inSlot(() => Promise.reject(new Error('wrong'))));
  await expect(failing).rejects.toThrow('wrong');
  expect([await once(), await once()]).toEqual(['done', 'done']);
});

test('a known device runs before all waiting networks', async () => {
  const { started, work, end } = controlledWork();
  const inSlot = createPasswordSlots({ atOnce: 1, waiting: 8, perNetwork: 4, perAccount: 2 });
  const tries = Array.from({ length: 20 }, (_, n) =>
    hashingFor(from(`192.0.2.${n}`), () => inSlot(work(`attacker ${n}`))).catch((error) => error.statusCode),
  );
  const known = hashingFor(from('192.0.2.1', 'nora'), () => inSlot(work('known')));
  expect(await tries[19]).toBe(503);
  end('attacker 0');
  await expect.poll(() => started).toEqual(['attacker 0', 'known']);
  end('known');
  expect(await known).toBe('known');
  for (let n = 1; n <= 8; n += 1) {
    await expect.poll(() => started).toContain(`attacker ${n}`);
    end(`attacker ${n}`);
  }
  expect(await Promise.all(tries)).toContain('attacker 8');
});

test('the known devices of one account and of one network are limited to a share', async () => {
  const { started, work, end } = controlledWork();
  const inSlot = createPasswordSlots({ atOnce: 2, waiting: 8, perNetwork: 4, perAccount: 2 });
  const runKnown = (network: string, account: string, name: string) =>
    hashingFor(from(network, account), () => inSlot(work(name))).catch((error) => error.statusCode);
  const own = Array.from({ length: 5 }, (_, n) => runKnown('192.0.2.1', 'mallory', `own ${n}`));
  expect(await Promise.all(own.slice(2))).toEqual([503, 503, 503]);
  const many = Array.from({ length: 5 }, (_, n) => runKnown('192.0.2.1', `mallory ${n}`, `many ${n}`));
  expect(await Promise.all(many.slice(2))).toEqual([503, 503, 503]);
  const honest = runKnown('198.51.100.7', 'nora', 'honest');
  for (const [n, name] of ['own 0', 'own 1', 'many 0', 'many 1', 'honest'].entries()) {
    await expect.poll(() => started[n]).toBe(name);
    end(name);
  }
  expect(await honest).toBe('honest');
});

test('a steady flow of known devices leaves every second slot to other clients', async () => {
  const { started, work, end } = controlledWork();
  const inSlot = createPasswordSlots({ atOnce: 1, waiting: 8, perNetwork: 4, perAccount: 2 });
  const run = (network: string, account: string | null, name: string) =>
    hashingFor(from(network, account), () => inSlot(work(name)));
  const all = [0, 1, 2, 3, 4].map((n) => run(`192.0.2.${n}`, `known ${n}`, `known ${n}`));
  all.push(run('198.51.100.1', null, 'other 0'), run('198.51.100.2', null, 'other 1'));
  const order = ['known 0', 'known 1', 'other 0', 'known 2', 'other 1', 'known 3', 'known 4'];
  for (const [n, name] of order.entries()) {
    await expect.poll(() => started[n]).toBe(name);
    end(name);
  }
  expect(await Promise.all(all)).toHaveLength(7);
});
