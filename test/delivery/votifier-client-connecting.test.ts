import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, deafTarget, running, send, silent, targetsOf } from './remote-peer.ts';

afterEach(() => vi.restoreAllMocks());

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

  it('gives up if the name servers do not answer', async () => {
    expect(await send(anywhere, { lookup: silent })).toMatchObject({ code: 'dns-timeout', reached: 'none' });
  });

  it.each([22, 25, 465, 587])('never connects to port %s, even if it is stored', async (port) => {
    const connect = vi.spyOn(net, 'connect');
    expect(await send({ ...anywhere, host: '127.0.0.1', port })).toMatchObject({
      code: 'address-refused',
      reached: 'resolved',
    });
    expect(connect).not.toHaveBeenCalled();
  });

  it('never connects to a refused address', async () => {
    const connect = vi.spyOn(net, 'connect');
    const refusals = [
      send(
        { ...anywhere, host: '127.0.0.1' },
        { ranges: { ALLOWED_PRIVATE_RANGES: [], REFUSED_RANGES: [] } },
      ),
      send(
        { ...anywhere, host: '2130706433' },
        { ranges: { ALLOWED_PRIVATE_RANGES: [], REFUSED_RANGES: [] } },
      ),
      send(anywhere, { lookup: answering('127.0.0.1', '10.0.0.1') }),
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

  it('connects to the checked address and resolves the name once', async () => {
    const listener = await running();
    const connect = vi.spyOn(net, 'connect');
    const lookup = vi.fn(answering('127.0.0.1'));
    const to = { ...targetsOf(listener).v2, host: 'name.example' };
    expect(await send(to, { lookup })).toMatchObject({ code: 'acknowledged' });
    expect(lookup.mock.calls).toEqual([['name.example']]);
    expect(connect.mock.calls).toEqual([[{ host: '127.0.0.1', port: listener.port }]]);
  });

  it('tries the next address if one refuses, and only then', async () => {
    const listener = await running();
    const to = { ...targetsOf(listener).v2, host: 'name.example' };
    const lookup = answering('127.0.0.2', '127.0.0.1', '127.0.0.3');
    expect(await send(to, { lookup })).toMatchObject({ code: 'acknowledged' });
    expect(listener.connections).toBe(1);

    listener.behaviour = { onFrame: 'close' };
    expect(await send(to, { lookup })).toMatchObject({ code: 'closed-without-answer' });
    expect(listener.connections).toBe(2);
  });

  it.each([
    ['ECONNREFUSED', 'connection-refused'],
    ['ECONNRESET', 'closed-before-greeting'],
    ['EHOSTUNREACH', 'firewall-rejected'],
    ['ENETUNREACH', 'unreachable'],
    ['EACCES', 'firewall-rejected'],
    ['ETIMEDOUT', 'connect-timeout'],
    ['EMFILE', 'our-fault'],
  ])('ends with %s of the system as %s', async (code, expected) => {
    // The remote peer is faked, because a test machine has no address that is certainly unreachable.
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

  it('gives up on an address that does not answer connection requests, and leaves no socket open', async () => {
    const deaf = await deafTarget();
    const connect = vi.spyOn(net, 'connect');
    expect(await send(deaf)).toMatchObject({ code: 'connect-timeout', reached: 'resolved' });

    const stopping = new AbortController();
    const sent = send(deaf, { timeoutMs: 5_000, signal: stopping.signal });
    await expect.poll(() => connect.mock.calls).toHaveLength(2);
    stopping.abort();
    expect(await sent).toMatchObject({ code: 'stopped-before-written', reached: 'resolved' });
    for (const { value } of connect.mock.results) expect(value).toMatchObject({ destroyed: true });
  });

  it('keeps time for the next address if one does not answer', async () => {
    const { port, host } = await deafTarget();
    const listener = await running();
    await listener.stop();
    await listener.start({ port, host: '127.0.0.3' });
    const to = { ...targetsOf(listener).v2, host: 'name.example' };
    const order: string[] = [];
    const { connect } = net;
    const spy = vi.spyOn(net, 'connect').mockImplementation(((options: net.TcpNetConnectOpts) => {
      order.push(`dial ${options.host}`);
      return connect(options);
    }) as typeof connect);
    const deadline = setTimeout(() => order.push('deadline'), 1_000);
    const sent = await send(to, { lookup: answering(host, '127.0.0.3'), timeoutMs: 1_000 });
    clearTimeout(deadline);
    spy.mockRestore();
    expect(sent).toMatchObject({ code: 'acknowledged' });
    expect(order.slice(0, 2)).toEqual([`dial ${host}`, 'dial 127.0.0.3']);
    // One address does not answer, the other one refuses: the refusal says more.
    const refused = await send(to, { lookup: answering(host, '127.0.0.4') });
    expect(refused).toMatchObject({ code: 'connection-refused' });
  });
});
