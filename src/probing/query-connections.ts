import type { Protocol } from 'gamedig';
import { HttpExchange, type HttpQuery, type HttpServer } from './http-query.ts';
import { refuseDatagram } from './protocol-traps.ts';
import type { QueryError } from './query-error.ts';
import { TcpConnection } from './tcp-connection.ts';
import { UdpConnection } from './udp-connection.ts';

export type QueryServer = HttpServer & { port: number };

type Connection = { roundTripMs: number | null; fail(error: Error): void };

/** Of one query: only to the checked address, limited in data, and closed when it ends. */
export class QueryConnections {
  readonly #server: QueryServer;
  readonly #timeoutMs: number;
  readonly #open: Connection[] = [];
  #udp: UdpConnection | undefined;
  #ended: Error | undefined;

  /** `timeoutMs`: of a single UDP request. */
  constructor(server: QueryServer, timeoutMs: number) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }

  /** For all network calls of a gamedig protocol, without datagrams that could trap its parser. */
  attachTo(protocol: Protocol, name: string): void {
    const isRefused = refuseDatagram(name, protocol);
    protocol.udpSend = (bytes, onPacket, onTimeout) => {
      const take = onPacket && ((datagram: Buffer) => (isRefused(datagram) ? undefined : onPacket(datagram)));
      return this.#exchangeDatagrams(bytes, take, onTimeout);
    };
    protocol.withTcp = async (talk, port) => talk(await this.connect(port));
    protocol.tcpSend = (socket, bytes, onData) => (socket as TcpConnection).exchange(bytes, onData);
    protocol.request = (query) => this.request(query as HttpQuery);
    protocol.telnetConnect = () => Promise.reject(new Error('We have no password for Telnet'));
  }

  /** The shortest, in milliseconds; for TCP, the time of connecting. */
  get roundTripMs(): number | null {
    const trips = this.#open.flatMap(({ roundTripMs }) => roundTripMs ?? []);
    return trips.length === 0 ? null : Math.min(...trips);
  }

  /** Pending requests reject with `error`. */
  end(error: QueryError): void {
    this.#ended ??= error;
    for (const connection of this.#open) connection.fail(error);
  }

  #add<C extends Connection>(connection: C): C {
    this.#open.push(connection);
    if (this.#ended) connection.fail(this.#ended);
    return connection;
  }

  #exchangeDatagrams(
    bytes: Buffer | string,
    take?: (bytes: Buffer) => unknown,
    onTimeout?: () => unknown,
    timeoutMs = this.#timeoutMs,
  ): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    const { address, port, where } = this.#server;
    this.#udp ??= this.#add(new UdpConnection(address, port, where));
    const request = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
    return this.#udp.exchange({
      bytes: request,
      timeoutMs: Math.min(timeoutMs, this.#timeoutMs),
      take,
      onTimeout,
    });
  }

  /** Sends a datagram, and once more if it is not answered. `read` gets each datagram until it returns an answer. */
  async askDatagram<T>(
    question: Buffer,
    read: (datagram: Buffer) => T | undefined,
    timeoutMs = this.#timeoutMs,
  ): Promise<T> {
    return (await this.#exchangeDatagrams(question, read, undefined, timeoutMs)) as T;
  }

  /** @throws {QueryError} when the connection cannot be opened, or the port is refused */
  async connect(port = this.#server.port): Promise<TcpConnection> {
    if (this.#ended) throw this.#ended;
    const { address, where } = this.#server;
    const connection = this.#add(new TcpConnection(address, port, where));
    await connection.opened();
    return connection;
  }

  /** @throws {QueryError} when the request fails; a SyntaxError when JSON was requested and the body is not JSON */
  async request(query: HttpQuery): Promise<unknown> {
    if (this.#ended) throw this.#ended;
    return this.#add(new HttpExchange(query, this.#server)).answer();
  }
}
