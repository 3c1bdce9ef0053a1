import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { freePort } from '../own-services/free-port.ts';

/** A TCP port of a fake server. It can be closed and opened again. */
export class Listening {
  readonly #accept: (socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  /** @param accept - receives every connection */
  constructor(accept: (socket: Socket) => void) {
    this.#accept = accept;
  }

  /** The current or last port. */
  get port(): number {
    return this.#port;
  }

  get isRunning(): boolean {
    return this.#server !== undefined;
  }

  /**
   * Starts to listen, on loopback by default. After `stop` it uses the same port again.
   *
   * @param address.port - 0 or absent: the previous port, or a free one at the first start
   */
  async start({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<void> {
    if (this.#server) throw new Error('This fake server is already running');
    const chosen = port || this.#port || (await freePort());
    const server = net.createServer((socket) => {
      this.#sockets.add(socket);
      // An error, such as a reset by the peer, is not reported.
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => socket.destroy());
      this.#accept(socket);
    });
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(chosen, host, resolve);
    await listening;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Starts to listen on a free port of loopback and ignores the previous port. */
  async startElsewhere(): Promise<void> {
    await this.start({ port: await freePort() });
  }

  /** Drops every connection and refuses new ones. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
