import net, { type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP port of a fake server, which may be closed and opened again while the demo or a test goes on. */
export class Listening {
  readonly #accept: (socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  /** @param accept - is handed every connection */
  constructor(accept: (socket: Socket) => void) {
    this.#accept = accept;
  }

  /** The port it listens on, or did last. */
  get port(): number {
    return this.#port;
  }

  /**
   * Starts to listen, on loopback unless told otherwise; after `stop` on the same port again.
   *
   * @param address.port - 0 or left out: the port it had before, or else a free one
   */
  async start({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<void> {
    if (this.#server) throw new Error('This fake server is already running');
    const server = net.createServer((socket) => {
      this.#sockets.add(socket);
      // Whoever is at the other end may leave at any moment.
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => socket.destroy());
      this.#accept(socket);
    });
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(port || this.#port, host, resolve);
    await listening;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Starts to listen on a free port of loopback, whichever it had before. */
  async startElsewhere(): Promise<void> {
    this.#port = 0;
    await this.start();
  }

  /** Drops every connection; from now on the port refuses new ones. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
