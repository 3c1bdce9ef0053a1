import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LIVE, type LiveState, LiveStreams } from '../../src/api/v1/read/live-streams.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';

/** A client that follows a stream on a connection of its own, and keeps what it got. */
async function follow(url: string, headers: Record<string, string> = {}) {
  const asked = get(url, { headers, agent: false });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const seen = { text: '', ended: false };
  response.setEncoding('utf8').on('data', (chunk: string) => {
    seen.text += chunk;
  });
  response
    .on('error', () => undefined)
    .on('end', () => {
      seen.ended = true;
    });
  return {
    status: response.statusCode,
    headers: response.headers,
    seen,
    states: (): LiveState[] =>
      [...seen.text.matchAll(/^event: state\ndata: (.+)\n\n/gm)].map(([, data = '']) => JSON.parse(data)),
    leave: () => void asked.destroy(),
  };
}

/** Streams of servers whose states a test sets, over HTTP. The path is the id of the server. */
async function streamsOf(limits: Partial<typeof LIVE>) {
  const states = new Map<string, LiveState>([['a', { online_players: 1, status: 'online' }]]);
  const reads: string[][] = [];
  const failures: unknown[] = [];
  const read = vi.fn(async (ids: string[]) => {
    reads.push(ids);
    return new Map(ids.flatMap((id) => (states.has(id) ? [[id, states.get(id) as LiveState]] : [])));
  });
  const streams = new LiveStreams(read, (error) => failures.push(error), { ...LIVE, everyMs: 20, ...limits });
  const responses: ServerResponse[] = [];
  const server = createServer(async (request, response) => {
    const id = String(request.url).slice(1);
    const state = await streams.stateOf(id);
    responses.push(response);
    response.writeHead(200);
    if (state) streams.open(id, response, state);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atTheEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { streams, states, reads, read, failures, responses, port, url: `http://127.0.0.1:${port}` };
}

describe('a stream', () => {
  test('begins with all figures at once, and later has only those that changed', async () => {
    const { states, url } = await streamsOf({});
    const client = await follow(`${url}/a`);
    await vi.waitUntil(() => client.states().length === 1, EVENTUALLY);
    expect(client.seen.text).toMatch(/^retry: \d+\n\nevent: state\n/);
    states.set('a', { online_players: 2, status: 'online' });
    await vi.waitUntil(() => client.states().length === 2, EVENTUALLY);
    states.set('a', { online_players: 2, status: 'offline' });
    await vi.waitUntil(() => client.states().length === 3, EVENTUALLY);
    expect(client.states()).toEqual([
      { online_players: 1, status: 'online' },
      { online_players: 2 },
      { status: 'offline' },
    ]);
    client.leave();
  });

  test('has a comment when nothing changes, also while the database does not answer', async () => {
    const { read, failures, url } = await streamsOf({ commentMs: 40 });
    const client = await follow(`${url}/a`);
    const comments = () => client.seen.text.split(': still here\n\n').length - 1;
    await vi.waitUntil(() => comments() >= 2, EVENTUALLY);
    expect(client.states()).toHaveLength(1);
    read.mockRejectedValue(new Error('no database'));
    await vi.waitUntil(() => failures.length > 0, EVENTUALLY);
    const before = comments();
    await vi.waitUntil(() => comments() > before, EVENTUALLY);
    client.leave();
  });

  test('ends when the server is not listed any more, and after its longest time', async () => {
    const { states, url } = await streamsOf({});
    const gone = await follow(`${url}/a`);
    states.delete('a');
    await vi.waitUntil(() => gone.seen.ended, EVENTUALLY);
    const short = await streamsOf({ longestMs: 30 });
    const over = await follow(`${short.url}/a`);
    await vi.waitUntil(() => over.seen.ended, EVENTUALLY);
  });

  test('all streams share one read for each server, and without streams nothing is read', async () => {
    const { streams, states, reads, url } = await streamsOf({});
    states.set('b', { online_players: 7 });
    const clients = await Promise.all(['a', 'a', 'a', 'b'].map((id) => follow(`${url}/${id}`)));
    await vi.waitUntil(() => streams.size === 4, EVENTUALLY);
    reads.length = 0;
    await vi.waitUntil(() => reads.length >= 3, EVENTUALLY);
    for (const ids of reads) expect(ids.toSorted()).toEqual(['a', 'b']);
    for (const client of clients) client.leave();
    await vi.waitUntil(() => streams.size === 0, EVENTUALLY);
  });

  test('a client that does not read is disconnected', async () => {
    const { streams, states, responses, port } = await streamsOf({ mostUnreadBytes: 1_000 });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /a HTTP/1.1\r\nHost: x\r\n\r\n');
    await vi.waitUntil(() => streams.size === 1, EVENTUALLY);
    socket.pause();
    let version = 0;
    // Fills the buffers of the operating system, which hold megabytes.
    const filling = vi.waitUntil(
      () => {
        states.set('a', { server_version: `${++version}${'x'.repeat(2_000_000)}` });
        return responses[0]?.destroyed;
      },
      { ...EVENTUALLY, interval: 5 },
    );
    await filling;
    await vi.waitUntil(() => streams.size === 0, EVENTUALLY);
    socket.destroy();
  });
});

describe('places', () => {
  test('are limited for a network, a wider network and the process, and given back once', async () => {
    const { streams } = await streamsOf({ most: 6, mostOfNetwork: 1 });
    const take = (address: string) => {
      const place = streams.takePlace(address);
      return typeof place === 'string' ? place : place.leave;
    };
    const leave = take('192.0.2.1');
    expect(take('192.0.2.1')).toBe('network');
    for (const network of [1, 2, 3, 4]) expect(take(`2001:db8:1:${network}::1`)).toBeTypeOf('function');
    expect(take('2001:db8:1:5::1')).toBe('network');
    expect(take('192.0.2.2')).toBeTypeOf('function');
    expect(take('192.0.2.3')).toBe('process');
    for (const _ of [1, 2]) if (typeof leave === 'function') leave();
    expect(take('192.0.2.3')).toBeTypeOf('function');
    expect(take('192.0.2.4')).toBe('process');
  });

  test('none is left when the streams have ended', async () => {
    const { streams, url } = await streamsOf({});
    const client = await follow(`${url}/a`);
    await vi.waitUntil(() => streams.size === 1, EVENTUALLY);
    streams.end();
    await vi.waitUntil(() => client.seen.ended, EVENTUALLY);
    expect(streams.takePlace('192.0.2.1')).toBe('process');
  });
});

describe('GET …/live', () => {
  let tallyport: TestDeps;
  beforeAll(async () => {
    tallyport = await startApp({ TRUST_PROXY: '1' });
  });
  afterAll(() => tallyport.close());

  const live = (slug: string, network: string) =>
    follow(`${tallyport.url}/api/v1/servers/${slug}/live`, { 'x-forwarded-for': network });

  test('the first event has the figures of the server', async () => {
    const server = await tallyport.addServer({ name: 'Lively' });
    await tallyport.report(server, { online_players: 3, max_players: 9, server_version: '1.21' });
    const client = await live('lively', '192.0.2.1');
    expect(client.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(client.headers['cache-control']).toBe('no-store');
    expect(client.headers['access-control-allow-origin']).toBe('*');
    expect(client.headers.ratelimit).toMatch(/r=119/);
    await vi.waitUntil(() => client.states().length === 1, EVENTUALLY);
    expect(client.states()[0]).toEqual({
      status: 'online',
      online_players: 3,
      max_players: 9,
      monthly_votes: 0,
      votes_count: 0,
      rank_position: 1,
      average_rating: 0,
      review_count: 0,
      server_version: '1.21',
    });
    client.leave();
  });

  test('a network that has too many is 429, and gets its places back; HEAD takes none', async () => {
    await tallyport.addServer({ name: 'Crowded' });
    const network = '192.0.2.2';
    const clients = await Promise.all(
      Array.from({ length: LIVE.mostOfNetwork }, () => live('crowded', network)),
    );
    for (const { status } of clients) expect(status).toBe(200);
    const refused = await live('crowded', network);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await vi.waitUntil(() => refused.seen.ended, EVENTUALLY);
    expect(JSON.parse(refused.seen.text)).toMatchObject({ code: 'too-many-requests' });
    const head = await fetch(`${tallyport.url}/api/v1/servers/crowded/live`, {
      method: 'HEAD',
      headers: { 'x-forwarded-for': network },
    });
    expect([head.status, head.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    clients[0]?.leave();
    await vi.waitFor(async () => {
      const again = await live('crowded', network);
      expect(again.status).toBe(200);
      again.leave();
    }, EVENTUALLY);
    for (const client of clients) client.leave();
  });

  test.each([
    'destroy',
    'end',
  ] as const)('a client that leaves (%s) while its server is read takes no place', async (leave) => {
    await tallyport.addServer({ name: `Left by ${leave}` });
    const slug = `left-by-${leave}`;
    const network = leave === 'end' ? '192.0.2.5' : '192.0.2.6';
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { servers } = tallyport.deps;
    const usual = servers.findOne.bind(servers);
    const reading = vi.spyOn(servers, 'findOne').mockImplementation((async (...query: []) => {
      await isReleased;
      return usual(...query);
    }) as never);
    let left = 0;
    const noteEnd = (message: unknown) => {
      const { socket } = message as { socket: Socket };
      for (const event of ['end', 'close'])
        socket.once(event, () => {
          left += 1;
        });
    };
    subscribe('http.server.request.start', noteEnd);
    const sockets = Array.from({ length: LIVE.mostOfNetwork }, () => {
      const socket = connect(Number(new URL(tallyport.url).port), '127.0.0.1');
      socket.on('error', () => undefined).resume();
      socket.write(
        `GET /api/v1/servers/${slug}/live HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${network}\r\n\r\n`,
      );
      return socket;
    });
    try {
      await vi.waitUntil(() => reading.mock.calls.length === sockets.length, EVENTUALLY);
      for (const socket of sockets) socket[leave]();
      await vi.waitUntil(() => left >= sockets.length, EVENTUALLY);
    } finally {
      unsubscribe('http.server.request.start', noteEnd);
      release();
      reading.mockRestore();
    }
    await vi.waitUntil(() => sockets.every(({ closed }) => closed), EVENTUALLY);
    const client = await live(slug, network);
    expect(client.status).toBe(200);
    client.leave();
  });

  test('closing the application ends the streams first, while another request is still answered', async () => {
    const web = await startApp({ TRUST_PROXY: '1' });
    const server = await web.addServer({ name: 'Closing' });
    const client = await follow(`${web.url}/api/v1/servers/closing/live`);
    await vi.waitUntil(() => client.states().length === 1, EVENTUALLY);
    // Holds the close of the server: a request whose body has not arrived.
    const socket = connect(Number(new URL(web.url).port), '127.0.0.1');
    let answered = '';
    socket.on('data', (chunk) => {
      answered += chunk;
    });
    const head = `POST /api/v1/servers/${server.serverId}/vote HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"username"`);
    await vi.waitUntil(
      async () => (await web.deps.apiTokens.findOne({ _id: server.tokenId }))?.lastUsedAt,
      EVENTUALLY,
    );
    const closed = web.close();
    await vi.waitUntil(() => client.seen.ended, EVENTUALLY);
    expect(answered).toBe('');
    socket.write(':"Steve"}');
    await closed;
    expect(answered).toMatch(/^HTTP\/1\.1 200/);
  });

  test('a server that is hidden is not followed any more', async () => {
    const server = await tallyport.addServer({ name: 'Soon hidden' });
    await hideServer(tallyport.deps, server.serverId, { reason: 'Copy' }, 'test');
    expect((await live('soon-hidden', '192.0.2.3')).status).toBe(404);
  });
});
