import type { Protocol } from 'gamedig';
import { HttpExchange, type HttpQuery, type HttpServer } from './http-query.ts';
import { refuseDatagram } from './protocol-traps.ts';
import type { QueryError } from './query-error.ts';
import { TcpConnection } from './tcp-connection.ts';
import { UdpConnection } from './udp-connection.ts';

/** The destination of a query. */
export type QueryServer = HttpServer & { port: number };

type Connection = { roundTripMs: number | null; fail(error: Error): void };

/**
 * The connections of one query, for Tallyport's own protocols and for gamedig's. They reach only the checked address,
 * receive a limited amount of data, and are all closed when the query ends.
 */
export class QueryConnections {
  readonly #server: QueryServer;
  readonly #timeoutMs: number;
  readonly #open: Connection[] = [];
  #udp: UdpConnection | undefined;
  #ended: Error | undefined;

  /** @param timeoutMs - how long a single UDP request waits for its answer */
  constructor(server: QueryServer, timeoutMs: number) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Makes a gamedig protocol use these connections for all its network calls. Datagrams that could trap gamedig's
   * parser are dropped (see protocol-traps.ts).
   */
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

  /** The shortest round trip in milliseconds (for TCP, the time of connecting); null if there was none. */
  get roundTripMs(): number | null {
    const trips = this.#open.flatMap(({ roundTripMs }) => roundTripMs ?? []);
    return trips.length === 0 ? null : Math.min(...trips);
  }

  /** Closes all connections. Pending requests reject with `error`. */
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

  /**
   * Sends a datagram to the server, and once more if it is not answered.
   *
   * @param read - called with each received datagram until it returns an answer
   * @param timeoutMs - at most the time of a single UDP request
   * @throws {QueryError} when there is no answer in time, or too much data
   */
  async askDatagram<T>(
    question: Buffer,
    read: (datagram: Buffer) => T | undefined,
    timeoutMs = this.#timeoutMs,
  ): Promise<T> {
    return (await this.#exchangeDatagrams(question, read, undefined, timeoutMs)) as T;
  }

  /**
   * Opens a TCP connection to a port of the server.
   *
   * @throws {QueryError} when the connection cannot be opened, or the port is refused
   */
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
