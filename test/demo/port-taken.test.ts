import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openSampleListener } from '../../src/demo/sample-listeners.ts';

test('a listener whose port is in use restarts on another port, says so, and tries again until the server points there', async () => {
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
      moved: (_name, to) => seen.push(`moved to ${to}`),
      stuck: (_name, reason) => seen.push(reason),
    },
    new AbortController().signal,
    async (moved) => {
      places.push(moved.port);
      if (places.length === 1) throw new Error('no database');
    },
  );
  onTestFinished(() => listener.stop());
  port = listener.port;
  await leave(1);
  expect([listener.port, places]).toEqual([port, []]);

  await listener.stop();
  await once(squatter.listen(port, '127.0.0.1'), 'listening');
  await leave(1);
  expect(listener.port).not.toBe(port);
  expect(places).toEqual([listener.port, listener.port]);
  const moved = `moved to ${listener.port}`;
  expect(seen).toEqual(['left', 'returned', 'left', 'Error: no database', moved, 'returned']);
  // It keeps the new port.
  await leave(1);
  expect([listener.port, places.length]).toEqual([places[0], 2]);
});
