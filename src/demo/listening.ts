import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { freePort } from '../own-services/free-port.ts';

export type GameStatus = {
  /** The message: text, with § codes if the game supports them. */
  motd: string;
  version: string;
  online: number;
  max: number;
  /** The icon as a data URL, if the game supports one. */
  icon?: string;
};

export type FakeServer = Pick<Listening, 'port' | 'start' | 'stop'>;

export abstract class Listening {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  protected abstract accept(socket: Socket): void;

  get port(): number {
    return this.#port;
  }

  get isRunning(): boolean {
    return this.#server !== undefined;
  }

  /** `port` 0 or absent: the previous port, or a free one at the first start. */
  async start({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<void> {
    if (this.#server) throw new Error('This fake server is already running');
    const chosen = port || this.#port || (await freePort());
    const server = net.createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => socket.destroy());
      this.accept(socket);
    });
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject).listen(chosen, host, resolve);
    await listening;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Starts to listen on another port of loopback than before. */
  async startElsewhere(): Promise<void> {
    await this.start({ port: await freePort() });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
