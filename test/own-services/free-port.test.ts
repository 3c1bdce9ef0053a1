import { expect, onTestFinished, test, vi } from 'vitest';

test('free ports are below those of game servers, of MongoDB and of outgoing connections', async () => {
  // The search begins at the last port of the range.
  vi.doMock('node:crypto', () => ({ randomInt: (count: number) => count - 1 }));
  onTestFinished(() => void vi.doUnmock('node:crypto'));
  // The query makes it a module that is not loaded yet.
  const path = '../../src/own-services/free-port.ts?again';
  const { freePort } = await import(path);
  for (let n = 0; n < 3; n += 1) {
    const port = await freePort();
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(25_000);
  }
});
