import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openSampleListener } from '../../src/demo/sample-listeners.ts';

test('a listener whose port is in use restarts on another port', async () => {
  const squatter = createServer();
  onTestFinished(() => void squatter.close());
  const seen: string[] = [];
  const places: number[] = [];
  let port = 0;
  const { listener, leave } = await openSampleListener(
    'Alpha',
    {
      arrived: () => undefined,
      received: () => undefined,
      left: () => seen.push('left'),
      returned: () => seen.push('returned'),
    },
    new AbortController().signal,
    async (moved) => void places.push(moved.port),
  );
  onTestFinished(() => listener.stop());
  port = listener.port;
  await leave(1);
  expect([listener.port, places]).toEqual([port, []]);

  await listener.stop();
  await once(squatter.listen(port, '127.0.0.1'), 'listening');
  await leave(1);
  expect(listener.port).not.toBe(port);
  expect(places).toEqual([listener.port]);
  expect(seen).toEqual(['left', 'returned', 'left', 'returned']);
  // It keeps the new port.
  await leave(1);
  expect([listener.port, places.length]).toEqual([places[0], 1]);
});
