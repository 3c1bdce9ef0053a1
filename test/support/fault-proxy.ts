import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../src/embedded/free-port.ts';

/** Whether a fault applies to a request, by its bytes. */
export type Matcher = (request: Buffer) => boolean;

/** Runs while a request or its answer is delayed; its error reaches the test. */
type Meanwhile = () => Promise<unknown>;

/**
 * A proxy between a client and mongod or Redis that makes the network fail as a test needs it.
 *
 * The faults for one request (`cut…`, `stallNext`) each meet the next request that matches, once; several may wait, in
 * the order in which they were requested. Each returns a promise of the moment at which the fault has happened; it
 * rejects when the proxy is closed before. The faults of the line (`refuse`, `hang`, `delay`) last until `restore()`.
 */
export type FaultProxy = {
  port: number;
  /** `uri` (`mongodb://127.0.0.1:27017/name`, `redis://…`) with the proxy's port. */
  through(uri: string): string;
  /**
   * The next request that matches reaches the server; when its answer arrives here, `meanwhile` runs, the answer is
   * thrown away and the connection is cut: the client cannot know the result of its request. If the connection closes
   * without an answer, because another fault killed the server, this fault has happened too.
   */
  cutAfterNext(matches: Matcher, meanwhile?: Meanwhile): Promise<void>;
  /** The next matching request is dropped, `meanwhile` runs, and the connection is closed. */
  cutBeforeNext(matches: Matcher, meanwhile?: Meanwhile): Promise<void>;
  /** The next matching request is forwarded only after `meanwhile` has ended. */
  stallNext(matches: Matcher, meanwhile: Meanwhile): Promise<void>;
  /** Cuts every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Accepts connections and bytes and forwards nothing in either direction until `restore()`. */
  hang(): void;
  /** Forwards each request `ms` milliseconds later, in order. */
  delay(ms: number): void;
  /** Ends `refuse`, `hang` and `delay`; delayed data is forwarded. */
  restore(): Promise<void>;
  /** Removes the faults that no request has met yet; their promises reject. */
  forget(): void;
  close(): Promise<void>;
};

type Fault = {
  kind: 'cut-after' | 'cut-before' | 'hold';
  matches: Matcher;
  meanwhile: Meanwhile;
  done: PromiseWithResolvers<void>;
};

/**
 * Starts a proxy in front of the service on 127.0.0.1:`serverPort`.
 *
 * @param requests - how the client's bytes fall into requests. `mongodb`: one message of the connection protocol each
 *   (a client must not compress; the driver does not by default). `chunks`: as they arrive, which suits Redis: a
 *   matcher may meet several commands at once
 */
export async function startFaultProxy(
  serverPort: number,
  requests: 'mongodb' | 'chunks',
): Promise<FaultProxy> {
  const faults: Fault[] = [];
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let hanging: PromiseWithResolvers<void> | undefined;
  let opening: Promise<void> | undefined;

  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    relay(client, upstream);
  });

  function relay(client: Socket, upstream: Socket): void {
    /** Set by the last request if its answer must be lost. */
    let losing: Fault | undefined;

    async function sendRequests(): Promise<void> {
      for await (const request of requests === 'mongodb' ? mongodbMessages(client) : client) {
        await hanging?.promise;
        if (delayMs > 0) await pause(delayMs);
        const fault = takeFault(request);
        if (fault?.kind === 'cut-after') losing = fault;
        else if (fault) await happen(fault);
        if (fault?.kind === 'cut-before') return cut();
        upstream.write(request);
      }
      upstream.end();
    }

    async function sendAnswers(): Promise<void> {
      for await (const answer of upstream) {
        await hanging?.promise;
        // Leaving this loop closes the connection.
        if (losing) await happen(losing);
        if (losing) return cut();
        client.write(answer);
      }
      client.end();
    }

    function cut(): void {
      client.destroy();
      upstream.destroy();
    }

    // A broken connection ends these with an error, which is ignored.
    void Promise.all([sendRequests().catch(cut), sendAnswers().catch(cut)]).then(() =>
      losing?.done.resolve(),
    );
  }

  function takeFault(request: Buffer): Fault | undefined {
    const index = faults.findIndex((fault) => fault.matches(request));
    return index < 0 ? undefined : faults.splice(index, 1)[0];
  }

  async function happen(fault: Fault): Promise<void> {
    try {
      await fault.meanwhile();
      // The request is forwarded, or the connection closed, before the promise resolves.
      setImmediate(fault.done.resolve);
    } catch (error) {
      fault.done.reject(error);
    }
  }

  function expect(
    kind: Fault['kind'],
    matches: Matcher,
    meanwhile: Meanwhile = async () => undefined,
  ): Promise<void> {
    const done = Promise.withResolvers<void>();
    // A test that fails before it awaits the fault must not fail twice.
    done.promise.catch(() => undefined);
    faults.push({ kind, matches, meanwhile, done });
    return done.promise;
  }

  const port = await freePort();
  await listen(server, port);

  async function shut(): Promise<void> {
    const closed = server.listening ? once(server, 'close') : undefined;
    if (closed) server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  function letGo(): void {
    delayMs = 0;
    hanging?.resolve();
    hanging = undefined;
  }

  function forget(): void {
    for (const { done } of faults.splice(0)) done.reject(new Error('no request met this fault'));
  }

  return {
    port,
    through(uri) {
      const url = new URL(uri);
      url.port = String(port);
      return url.href;
    },
    cutAfterNext: (matches, meanwhile) => expect('cut-after', matches, meanwhile),
    cutBeforeNext: (matches, meanwhile) => expect('cut-before', matches, meanwhile),
    stallNext: (matches, meanwhile) => expect('hold', matches, meanwhile),
    refuse: shut,
    hang() {
      hanging ??= Promise.withResolvers();
    },
    delay(ms) {
      delayMs = ms;
    },
    async restore() {
      letGo();
      if (!server.listening) {
        opening ??= listen(server, port).finally(() => {
          opening = undefined;
        });
      }
      await opening;
    },
    forget,
    async close() {
      await shut();
      letGo();
      forget();
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

/** The connection protocol's messages: each begins with its own length, four bytes, low byte first. */
async function* mongodbMessages(client: Socket): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of client) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  }
}

/**
 * Matches a MongoDB command on a collection, such as `mongoCommand('insert', 'votes')`.
 *
 * @param containing - texts, such as names of fields, that the message must contain too
 */
export function mongoCommand(name: string, collection: string, ...containing: string[]): Matcher {
  const value = Buffer.from(`${collection}\0`);
  const length = Buffer.alloc(4);
  length.writeInt32LE(value.length);
  // A BSON element of type text: its type, its name, its length, its text.
  const element = Buffer.concat([Buffer.from(`\x02${name}\0`), length, value]);
  return (request) => request.includes(element) && containing.every((text) => request.includes(text));
}

/** Matches requests that contain `text`, such as `matchText('evalsha')` for Redis, in any case. */
export function matchText(text: string): Matcher {
  return (request) => request.toString('latin1').toLowerCase().includes(text.toLowerCase());
}
