import { type ChildProcess, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import net, { type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { OUTCOMES } from '../../src/delivery/outcomes.ts';
import { type SendOptions, sendVote, type VotifierTarget } from '../../src/delivery/votifier-client.ts';
import { VotifierListener } from '../../src/sample/votifier-listener.ts';
import { farEnd, OPTIONS, targetsOf, VOTE } from './far-end.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const end of endings.splice(0)) await end();
});

async function running() {
  const listener = new VotifierListener();
  await listener.start();
  endings.push(() => listener.stop());
  return listener;
}

/** A v2 target whose far end does as told with each connection. */
async function target(
  behave: (socket: Socket) => void,
): Promise<VotifierTarget & { protocol: 'votifier-v2' }> {
  const end = await farEnd(behave);
  endings.push(end.stop);
  return {
    protocol: 'votifier-v2',
    host: '127.0.0.1',
    port: end.port,
    serviceName: 'Tallyport',
    token: 'secret',
  };
}

const send = (to: VotifierTarget, options: Partial<SendOptions> = {}) =>
  sendVote(to, VOTE, { ...OPTIONS, ...options });

describe('finding the listener', () => {
  const anywhere = {
    protocol: 'votifier-v2',
    host: 'name.example',
    port: 8_192,
    serviceName: 'T',
    token: 't',
  } as const;

  it.each([
    ['ENOTFOUND', 'dns-not-found'],
    ['EAI_AGAIN', 'dns-timeout'],
  ])('ends with %s of the name servers as %s', async (code, outcome) => {
    const lookup = () => Promise.reject(Object.assign(new Error(code), { code }));
    expect(await send(anywhere, { lookup })).toMatchObject({
      code: outcome,
      class: 'transient',
      reached: 'none',
    });
  });

  it('gives up on silent name servers', async () => {
    const lookup = () => new Promise<never>(() => {});
    expect(await send(anywhere, { lookup })).toMatchObject({ code: 'dns-timeout', reached: 'none' });
  });

  it('dials no address that is refused', async () => {
    const connect = vi.spyOn(net, 'connect');
    const refusals = [
      send({ ...anywhere, host: '127.0.0.1' }, { allowedPrivateRanges: [] }),
      send({ ...anywhere, host: '2130706433' }, { allowedPrivateRanges: [] }),
      send(anywhere, { lookup: async () => [{ address: '127.0.0.1' }, { address: '10.0.0.1' }] }),
    ];
    for (const refusal of refusals) {
      expect(await refusal).toMatchObject({
        code: 'address-refused',
        class: 'configuration',
        reached: 'resolved',
      });
    }
    expect(connect).not.toHaveBeenCalled();
  });

  it('dials the address that was checked and asks for the name once', async () => {
    const listener = await running();
    const connect = vi.spyOn(net, 'connect');
    const lookup = vi.fn(async () => [{ address: '127.0.0.1' }]);
    const to = { ...targetsOf(listener).v2, host: 'name.example' };
    expect(await send(to, { lookup })).toMatchObject({ code: 'acknowledged' });
    expect(lookup.mock.calls).toEqual([['name.example']]);
    expect(connect.mock.calls).toEqual([[{ host: '127.0.0.1', port: listener.port }]]);
  });

  it('tries the next address when one does not let it in, and only then', async () => {
    const listener = await running();
    const to = { ...targetsOf(listener).v2, host: 'name.example' };
    const lookup = async () => [{ address: '127.0.0.2' }, { address: '127.0.0.1' }, { address: '127.0.0.3' }];
    expect(await send(to, { lookup })).toMatchObject({ code: 'acknowledged' });
    expect(listener.connections).toBe(1);

    listener.behaviour = { onFrame: 'close' };
    expect(await send(to, { lookup })).toMatchObject({ code: 'closed-without-answer' });
    expect(listener.connections).toBe(2);
  });

  it.each([
    ['ECONNREFUSED', 'connection-refused'],
    ['ECONNRESET', 'closed-before-greeting'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['EACCES', 'unreachable'],
    ['ETIMEDOUT', 'connect-timeout'],
    ['EMFILE', 'our-fault'],
  ])('ends with %s of the system as %s', async (code, expected) => {
    // The far end is faked here: no address of a test machine is sure to be unreachable.
    vi.spyOn(net, 'connect').mockImplementation(() => {
      const socket = new net.Socket();
      setImmediate(() => socket.destroy(Object.assign(new Error(code), { code })));
      return socket;
    });
    expect(await send({ ...anywhere, host: '127.0.0.1' })).toMatchObject({
      code: expected,
      reached: 'resolved',
    });
  });

  it('gives up on a host that swallows connections, and shares its time between the addresses', async () => {
    const port = await deafPort();
    const to = { ...anywhere, port };
    const lookup = async () => ['127.0.0.1', '127.0.0.1', '127.0.0.2'].map((address) => ({ address }));
    const end = await send(to, { lookup });
    // One address refused, the other swallowed: the refusal tells more.
    expect(end).toMatchObject({ code: 'connection-refused' });
    expect(await send({ ...to, host: '127.0.0.1' })).toMatchObject({
      code: 'connect-timeout',
      reached: 'resolved',
    });
  });
});

/** A port whose process never accepts and whose queue of connections is full. */
async function deafPort(): Promise<number> {
  const script = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    process.stdout.write(this.address().port + '\\n', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  })`;
  const child: ChildProcess = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endings.push(() => child.kill('SIGKILL'));
  const [printed] = await once(child.stdout ?? child, 'data');
  const port = Number(printed);
  for (;;) {
    const filler = net.connect({ port, host: '127.0.0.1' }).on('error', () => {});
    endings.push(() => filler.destroy());
    const full = await Promise.race([
      once(filler, 'connect').then(() => false),
      new Promise((resolve) => setTimeout(() => resolve(true), 100)),
    ]);
    if (full) return port;
  }
}

describe('the moment before writing', () => {
  it('asks once whether it may write, and writes nothing on a no', async () => {
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

  it('notices a listener that greets and closes, and does not write', async () => {
    const to = await target((socket) => socket.end('VOTIFIER 2 abc\n'));
    const mayWrite = vi.fn(() => true);
    expect(await send(to, { mayWrite })).toMatchObject({
      code: 'closed-before-written',
      class: 'transient',
      reached: 'greeted',
    });
    expect(mayWrite).not.toHaveBeenCalled();
  });

  it('takes a stray line end after the greeting for nothing', async () => {
    const listener = await running();
    listener.behaviour = { greeting: 'VOTIFIER 2 {challenge}\n\r\n' };
    expect(await send(targetsOf(listener).v2)).toMatchObject({ code: 'acknowledged' });
  });
});

describe('stopping', () => {
  it('ends an attempt that has written nothing, wherever it is', async () => {
    const listener = await running();
    listener.behaviour = { onConnect: 'silence' };
    const { v2 } = targetsOf(listener);
    const lookup = () => new Promise<never>(() => {});
    for (const [to, options, reached] of [
      [{ ...v2, host: 'name.example' }, { lookup }, 'none'],
      [v2, {}, 'connected'],
    ] as const) {
      const stopping = new AbortController();
      const sent = send(to, { ...options, timeoutMs: 5_000, signal: stopping.signal });
      setTimeout(() => stopping.abort(), 30);
      expect(await sent).toMatchObject({ code: 'stopped-before-written', class: 'none', reached });
      expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
    }
  });

  it('does not begin after it', async () => {
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

  it('lets an attempt that has written wait for its answer, until that is stopped too', async () => {
    const listener = await running();
    const [stopping, leaving] = [new AbortController(), new AbortController()];
    const signals = { signal: stopping.signal, waitSignal: leaving.signal, timeoutMs: 5_000 };
    listener.hold();
    const [first, second] = [send(targetsOf(listener).v2, signals), send(targetsOf(listener).v2, signals)];
    await expect.poll(() => listener.held).toBe(2);
    stopping.abort();
    listener.release();
    expect(await Promise.all([first, second])).toMatchObject([
      { code: 'acknowledged' },
      { code: 'acknowledged' },
    ]);

    listener.hold();
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

describe('whatever the far end does', () => {
  it('leaves no connection, timer or listener behind', async () => {
    const stopping = new AbortController();
    const far = await farEnd((socket) => socket.resume().write('VOTIFIER 2 abc\n'));
    endings.push(far.stop);
    const to = { ...(await target(() => {})), port: far.port };
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    await Promise.all(
      Array.from({ length: 20 }, () => send(to, { signal: stopping.signal, waitSignal: stopping.signal })),
    );
    await expect.poll(() => far.sockets.size).toBe(0);
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBeLessThanOrEqual(
      before,
    );
  });

  it('does not wait for the close after a complete answer', async () => {
    const to = await target((socket) => {
      socket.write('VOTIFIER 2 abc\n');
      socket.once('data', () => socket.write('{"status":"ok"}'));
    });
    expect(await send(to, { timeoutMs: 5_000 })).toMatchObject({ code: 'acknowledged' });
  });

  it('ends in a known outcome, and is delivered only by an exact ok', async () => {
    let script: { greeting: Uint8Array; answer: Uint8Array; reset: boolean };
    const inPieces = (socket: Socket, bytes: Uint8Array) => {
      for (const byte of bytes) socket.write(Uint8Array.of(byte));
    };
    const to = await target((socket) => {
      const { greeting, answer, reset } = script;
      inPieces(socket, greeting);
      socket.once('data', () => {
        inPieces(socket, answer);
        if (reset) socket.resetAndDestroy();
        else socket.end();
      });
    });
    const text = (words: string) => new TextEncoder().encode(words);
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
