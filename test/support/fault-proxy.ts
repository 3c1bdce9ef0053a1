import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../src/own-services/free-port.ts';

/** Whether a fault applies to a request, by its bytes. */
export type Matcher = (request: Buffer) => boolean;

/** Runs while a request or its answer is delayed. If it fails, the test fails. */
type Meanwhile = () => Promise<unknown>;

/**
 * A proxy between a client and mongod or Redis, with which a test makes the network fail.
 *
 * The faults for one request (`cut…`, `stallNext`) apply to the next matching request, once. Several may be pending;
 * they apply in the order in which they were requested. Each returns a promise that resolves when the fault has
 * happened, and rejects if the proxy is closed before. The faults of all connections (`refuse`, `hang`, `delay`) last
 * until `restore()`.
 */
export type FaultProxy = {
  port: number;
  /** Replaces the port in `uri` (`mongodb://127.0.0.1:27017/name`, `redis://…`) with the proxy's port. */
  through(uri: string): string;
  /**
   * Forwards the next matching request. When its answer arrives at the proxy, `meanwhile` runs, the answer is thrown
   * away and the connection is cut: the client cannot know the result of its request. If the connection closes without
   * an answer, because another fault killed the server, this fault has happened too.
   */
  cutAfterNext(matches: Matcher, meanwhile?: Meanwhile): Promise<void>;
  /** Drops the next matching request, runs `meanwhile`, and closes the connection. */
  cutBeforeNext(matches: Matcher, meanwhile?: Meanwhile): Promise<void>;
  /** Runs `meanwhile`, and only then forwards the next matching request. */
  stallNext(matches: Matcher, meanwhile: Meanwhile): Promise<void>;
  /** Cuts every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Accepts connections and bytes and forwards nothing in either direction until `restore()`. */
  hang(): void;
  /** Forwards each request `ms` milliseconds later, in order. */
  delay(ms: number): void;
  /** Ends `refuse`, `hang` and `delay`; delayed data is forwarded. */
  restore(): Promise<void>;
  /** Removes the faults that have not applied to any request yet. Their promises reject. */
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
 * @param requests - how the client's bytes are split into requests. `mongodb`: one message of the wire protocol each (a
 * client must not compress; the driver does not by default). `chunks`: as the bytes arrive, for Redis; a chunk may
 * contain several commands
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
    /** Set if the answer to the last request must be lost. */
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

    // If a connection breaks, these end with an error, which is ignored.
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
      // Resolve the promise only after the request was forwarded, or the connection closed.
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
    // If the test fails before it awaits the fault, the rejection must not be a second failure.
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

/** Splits bytes into messages of MongoDB's wire protocol: each begins with its length, four bytes, low byte first. */
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
 * @param containing - texts that the message must also contain, such as names of fields
 */
export function mongoCommand(name: string, collection: string, ...containing: string[]): Matcher {
  const value = Buffer.from(`${collection}\0`);
  const length = Buffer.alloc(4);
  length.writeInt32LE(value.length);
  // A BSON element of type string: its type, its name, its length, its text.
  const element = Buffer.concat([Buffer.from(`\x02${name}\0`), length, value]);
  return (request) => request.includes(element) && containing.every((text) => request.includes(text));
}

/** Matches requests that contain `text` in upper or lower case, such as `matchText('evalsha')` for Redis. */
export function matchText(text: string): Matcher {
  return (request) => request.toString('latin1').toLowerCase().includes(text.toLowerCase());
}
