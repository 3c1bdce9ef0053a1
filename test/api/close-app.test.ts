import { once } from 'node:events';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';
import { closeApp } from '../../src/http/requests.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';

describe('stopping', () => {
  test('waits at most 10 s for a client that never finishes its request', async () => {
    const app = Fastify();
    app.post('/', async () => 'answered');
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(url.port), url.hostname);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).resume();
    const arrived = once(app.server, 'request');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\n');
    await arrived;

    const ended = once(socket, 'close');
    useFastClock();
    const { tookMs } = await timed(closeApp(app));
    // Not at once: it waits for requests that are answered within 5 s.
    expect(tookMs).toBeGreaterThan(5_000);
    expect(tookMs).toBeLessThan(10_000);
    await ended;
  });
});
