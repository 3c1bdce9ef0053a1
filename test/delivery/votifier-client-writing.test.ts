import { getEventListeners } from 'node:events';
import net, { type Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OUTCOMES } from '../../src/listeners/outcomes.ts';
import {
  answering,
  OPTIONS,
  peerThread,
  remotePeer,
  running,
  send,
  silent,
  targetsOf,
} from './remote-peer.ts';

afterEach(() => vi.restoreAllMocks());

const text = (words: string) => new TextEncoder().encode(words);

function writeInPieces(socket: Socket, bytes: Uint8Array): void {
  for (const byte of bytes) socket.write(Uint8Array.of(byte));
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

/** Blocks the whole process for longer than the deadline of an answer. */
function sleepPastTheDeadline(): void {
  const until = performance.now() + 2 * OPTIONS.timeoutMs;
  while (performance.now() < until);
}

describe('the moment before writing', () => {
  it('asks once whether it may write, and otherwise writes nothing', async () => {
    const listener = await running();
    const mayWrite = vi.fn(() => false);
    const end = await send(targetsOf(listener).v2, { mayWrite });
    expect(end).toMatchObject({ code: 'our-fault', class: 'none', reached: 'greeted' });
    expect(mayWrite).toHaveBeenCalledOnce();
    expect(listener.votes).toEqual([]);
  });

  it('asks only after the greeting, and writes the frame at once and in one piece', async () => {
    const listener = await running();
    listener.behaviour = { onConnect: 'silence' };
    const mayWrite = vi.fn(() => true);
    await send(targetsOf(listener).v2, { mayWrite });
    expect(mayWrite).not.toHaveBeenCalled();

    listener.behaviour = {};
    const order: string[] = [];
    const write = net.Socket.prototype.write;
    vi.spyOn(net.Socket.prototype, 'write').mockImplementation(function (this: Socket, ...given: unknown[]) {
      if (Buffer.isBuffer(given[0]) && given[0].readUInt16BE(0) === 0x733a) order.push('written');
      return Reflect.apply(write, this, given);
    });
    const asked = () => {
      order.push('asked');
      queueMicrotask(() => order.push('next tick'));
      return true;
    };
    expect(await send(targetsOf(listener).v2, { mayWrite: asked })).toMatchObject({ code: 'acknowledged' });
    expect(order).toEqual(['asked', 'written', 'next tick']);
  });

  it('notices a listener that greets and closes, and writes nothing', async () => {
    const { target: to } = await remotePeer((socket) => socket.end('VOTIFIER 2 abc\n'));
    const mayWrite = vi.fn(() => true);
    expect(await send(to, { mayWrite })).toMatchObject({
      code: 'closed-before-written',
      class: 'transient',
      reached: 'greeted',
    });
    expect(mayWrite).not.toHaveBeenCalled();
  });

  it('ignores an additional line end after the greeting', async () => {
    const listener = await running();
    listener.behaviour = { greeting: 'VOTIFIER 2 {challenge}\n\r\n' };
    expect(await send(targetsOf(listener).v2)).toMatchObject({ code: 'acknowledged' });
  });
});

describe('stopping', () => {
  it('ends an attempt that has written nothing, at any step', async () => {
    const listener = await running();
    listener.behaviour = { onConnect: 'silence' };
    const { v2 } = targetsOf(listener);
    for (const [to, options, reached] of [
      [{ ...v2, host: 'name.example' }, { lookup: silent }, 'none'],
      [v2, {}, 'connected'],
    ] as const) {
      const stopping = new AbortController();
      const sent = send(to, { ...options, timeoutMs: 5_000, signal: stopping.signal });
      setTimeout(() => stopping.abort(), 30);
      expect(await sent).toMatchObject({ code: 'stopped-before-written', class: 'none', reached });
      expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
    }
  });

  it('prevents a new attempt', async () => {
    const listener = await running();
    const { v2 } = targetsOf(listener);
    const signal = AbortSignal.abort();
    for (const options of [{ signal }, { waitSignal: signal }]) {
      expect(await send(v2, options)).toMatchObject({ code: 'stopped-before-written' });
      expect(await send({ ...v2, host: 'localhost' }, options)).toMatchObject({
        code: 'stopped-before-written',
      });
    }
    expect(listener.votes).toEqual([]);
  });

  it('lets an attempt that has written wait for its answer, until that wait is stopped too', async () => {
    const listener = await running();
    const [stopping, leaving] = [new AbortController(), new AbortController()];
    const signals = { signal: stopping.signal, waitSignal: leaving.signal, timeoutMs: 5_000 };
    listener.stall();
    const [first, second] = [send(targetsOf(listener).v2, signals), send(targetsOf(listener).v2, signals)];
    await expect.poll(() => listener.held).toBe(2);
    stopping.abort();
    listener.release();
    expect(await Promise.all([first, second])).toMatchObject([
      { code: 'acknowledged' },
      { code: 'acknowledged' },
    ]);

    listener.stall();
    const third = send(targetsOf(listener).v2, { ...signals, signal: new AbortController().signal });
    await expect.poll(() => listener.held).toBe(1);
    leaving.abort();
    expect(await third).toMatchObject({
      code: 'stopped-while-waiting',
      class: 'ambiguous',
      reached: 'written',
    });
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
  });
});

describe('whatever the remote peer does', () => {
  it('no connection, timer or event listener stays', async () => {
    const stopping = new AbortController();
    let frames = 0;
    const { target: to, sockets } = await remotePeer((socket) => {
      socket.write('VOTIFIER 2 abc\n');
      socket.on('data', () => {
        frames += 1;
      });
    });
    const before = timers();
    const options = {
      signal: stopping.signal,
      waitSignal: stopping.signal,
      timeoutMs: 60_000,
      lookup: answering('127.0.0.1'),
    };
    const sent = Array.from({ length: 20 }, () => send({ ...to, host: 'name.example' }, options));
    await expect.poll(() => frames).toBe(20);
    stopping.abort();
    await Promise.all(sent);
    await expect.poll(() => sockets.size).toBe(0);
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('the attempt ends at the deadline, however steadily bytes arrive', async () => {
    const { target: to } = await remotePeer((socket) => {
      socket.write('VOTIFIER 2 abc\n');
      socket.once('data', () => {
        socket.write('{"pad":"');
        const drip = setInterval(() => socket.write('x'), 1);
        socket.once('close', () => clearInterval(drip));
      });
    });
    const { target: silentTo } = await remotePeer((socket) => void socket.write('VOTIFIER 2 abc\n'));
    const ended: string[] = [];
    const silences = async () => {
      for (const silence of ['first silence', 'second silence']) {
        expect(await send(silentTo)).toMatchObject({ code: 'no-answer' });
        ended.push(silence);
      }
    };
    const [end] = await Promise.all([send(to).finally(() => ended.push('drip')), silences()]);
    expect(end).toMatchObject({ code: 'no-answer', words: expect.stringMatching(/^\{"pad":"x+/) });
    // The wait is as long if bytes arrive slowly as if none arrive.
    expect(ended.at(-1)).toBe('second silence');
  });

  it('the attempt does not wait for the close after a complete answer', async () => {
    const { target: to } = await remotePeer((socket) => {
      socket.write('VOTIFIER 2 abc\n');
      socket.once('data', () => socket.write('{"status":"ok"}'));
    });
    expect(await send(to, { timeoutMs: 5_000 })).toMatchObject({ code: 'acknowledged' });
  });

  it('a blocked process does not count as a silent listener', async () => {
    const to = await peerThread(`
      require('node:net').createServer((socket) => {
        socket.write('VOTIFIER 2 abc\\n');
        socket.on('data', () => setTimeout(() => socket.write('{"status":"ok"}'), 50));
      }).listen(0, '127.0.0.1', function () { listening(this.address().port); })`);
    const sent = send(to, {
      mayWrite: () => Boolean(setTimeout(() => setImmediate(sleepPastTheDeadline), 10)),
    });
    expect(await sent).toMatchObject({ code: 'acknowledged' });
  });

  it('the attempt ends with a known outcome, and is delivered only after an exact ok', async () => {
    let script: { greeting: Uint8Array; answer: Uint8Array; reset: boolean };
    const { target: to } = await remotePeer((socket) => {
      const { greeting, answer, reset } = script;
      writeInPieces(socket, greeting);
      socket.once('data', () => {
        writeInPieces(socket, answer);
        if (reset) socket.resetAndDestroy();
        else socket.end();
      });
    });
    const scripts = fc.record({
      greeting: fc.oneof(
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.from([...bytes, 0x0a])),
        fc.constant(text('VOTIFIER 2 abc\r\n')),
      ),
      answer: fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc
          .constantFrom('{"status":"ok"}', '{"status":"OK"}', '{"status":"error"}', '{"ok":true}', '')
          .map(text),
      ),
      reset: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(scripts, async (any) => {
        script = any;
        const end = await send(to, { timeoutMs: 1_000 });
        expect(Object.keys(OUTCOMES)).toContain(end.code);
        expect([...(end.words ?? '')].length).toBeLessThanOrEqual(200);
        if (end.class === 'delivered') {
          expect(new TextDecoder().decode(any.answer).trim()).toMatch(/^\{"status":"ok"\}/);
        }
      }),
      { numRuns: 100 },
    );
  });
});
