import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import net, { type Socket } from 'node:net';
import { statusPacket } from '../../src/demo/game-server.ts';
import type { GameStatus } from '../../src/demo/listening.ts';
import { bedrockPong, SOURCE_HEADER as HEADER, sourceInfo } from '../../src/demo/udp-game-server.ts';
import { freePort } from '../../src/own-services/free-port.ts';

/** How a fake server handles a request. By default it behaves like a real server. */
export type Manner = {
  /** Accepts requests and does not answer. */
  silent?: boolean;
  /** Sent unchanged instead of every answer. */
  answer?: Uint8Array;
  /** The delay of the last bytes of a TCP answer, which come in a separate segment. */
  lateSegmentMs?: number;
  /** The number of these last bytes; 4 by default. */
  lateBytes?: number;
  /** A TCP answer is sent byte by byte, with this pause between the bytes. */
  dripMs?: number;
  /** Closes the connection after this many bytes of the answer. */
  closeAfter?: number;
  /** The share of requests, 0 to 1, that are lost. */
  lost?: number;
};

export const SAID: GameStatus = { motd: 'A quiet place', version: '1.21.4', online: 3, max: 20 };

/** A fake game server with its own socket. */
export type GameServer = {
  readonly port: number;
  said: GameStatus;
  manner: Manner;
  /** The number of requests, including lost ones. */
  asked: number;
  /** The number of open TCP connections. */
  readonly open: number;
  start(): Promise<void>;
  /** Closes the port: connections are refused. */
  stop(): Promise<void>;
};

export abstract class Responder implements GameServer {
  said: GameStatus = { ...SAID };
  manner: Manner = {};
  asked = 0;
  port = 0;
  abstract readonly open: number;
  abstract start(): Promise<void>;
  abstract stop(): Promise<void>;

  /** Counts a request. Returns whether to answer it. */
  protected hears(): boolean {
    this.asked += 1;
    return this.manner.silent !== true && Math.random() >= (this.manner.lost ?? 0);
  }
}

/** A fake game server that speaks TCP. */
abstract class TcpResponder extends Responder {
  readonly #sockets = new Set<Socket>();
  #server: net.Server | undefined;

  /** Called for each connection. */
  protected abstract accept(socket: Socket): void;

  get open(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    const server = net.createServer((socket) => {
      this.#sockets.add(socket);
      socket
        .setNoDelay(true)
        .on('close', () => this.#sockets.delete(socket))
        .on('error', () => socket.destroy());
      this.accept(socket);
    });
    this.port ||= await freePort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** The first byte of a list ping, the status request of Minecraft up to 1.6.4. */
const LIST_PING = 0xfe;

/** A kick packet: FF, the length in UTF-16 code units, then the text. */
export function kickPacket(text: string): Buffer {
  const length = Buffer.from([text.length >> 8, text.length & 0xff]);
  return Buffer.concat([Buffer.from([0xff]), length, Buffer.from(text, 'utf16le').swap16()]);
}

/** A Minecraft Java server: status over TCP. It also answers list pings of older clients, as servers since 1.7 do. */
export class JavaServer extends TcpResponder {
  /** A status that is sent instead of the usual one. */
  status: unknown;
  /** The host names of the handshakes. */
  readonly handshakes: string[] = [];
  /** If set, it is a proxy that knows only this name, and closes connections with another one. */
  knows: string | undefined;
  /** The delay of the status. List pings are answered at once. */
  statusDelayMs = 0;

  protected accept(socket: Socket): void {
    socket.on('data', (bytes) => {
      const isListPing = bytes[0] === LIST_PING;
      // Handshake and request arrive in one segment: `[length] 0 [version] [host] [port] 1`, `1 0`.
      if (!isListPing) this.handshakes.push(bytes.toString('utf8', 4, 4 + bytes.readUInt8(3)));
      if (!this.hears()) return;
      if (this.knows !== undefined && (isListPing || this.handshakes.at(-1) !== this.knows)) socket.end();
      else if (isListPing) this.#answer(socket, this.#kick());
      else if (this.statusDelayMs === 0) this.#answer(socket, this.#statusPacket());
      else setTimeout(() => this.#answer(socket, this.#statusPacket()), this.statusDelayMs);
    });
  }

  #kick(): Buffer {
    const { motd, version, online, max } = this.said;
    return kickPacket(['§1', 127, version, motd, online, max].join('\0'));
  }

  #statusPacket(): Buffer {
    const { motd, version, online, max } = this.said;
    const usual = {
      version: { name: version, protocol: 769 },
      players: { online, max },
      description: { text: motd },
    };
    return statusPacket(this.status ?? usual);
  }

  #answer(socket: Socket, usual: Buffer): void {
    const answer = Buffer.from(this.manner.answer ?? usual);
    const { lateSegmentMs, lateBytes = 4, dripMs, closeAfter } = this.manner;
    if (closeAfter !== undefined) socket.end(answer.subarray(0, closeAfter));
    else if (lateSegmentMs !== undefined) {
      socket.write(answer.subarray(0, -lateBytes));
      setTimeout(() => socket.write(answer.subarray(-lateBytes)), lateSegmentMs);
    } else if (dripMs !== undefined) drip(socket, answer, dripMs);
    else socket.write(answer);
  }
}

/** Whether a server of this era has received a complete list ping. */
function isWholePing(received: Buffer, era: OldJavaServer['era']): boolean {
  if (era === 'beta') return true;
  if (era === '1.4') return received.length >= 2;
  // The complete ping is `FE 01 FA`, `MC|PingHost` with its length, then data with its length.
  return received.length >= 29 && received.length >= 29 + received.readUInt16BE(27);
}

/**
 * A server of Minecraft up to 1.6.4. It waits until it has received a complete packet, and refuses unknown packets. Its
 * answer is a kick packet, after which it closes the connection. Like CraftBukkit, it refuses a second connection
 * within `throttleMs`, except after a list ping (DedicatedServerConnectionThread, PendingConnection).
 */
export class OldJavaServer extends TcpResponder {
  /** Which list pings it answers: `1.6` waits for the whole ping, `1.4` for its second byte, `beta` for its first. */
  era: '1.6' | '1.4' | 'beta' = '1.6';
  /** What the server does with a packet of another protocol. */
  refusal: 'waits' | 'closes' | 'kicks' = 'waits';
  throttleMs = 0;
  /** A text that is sent instead of the usual answer. */
  text: string | undefined;
  /** The first bytes of each connection, as hex. */
  readonly requests: string[] = [];
  #connectedAt = Number.NEGATIVE_INFINITY;

  protected accept(socket: Socket): void {
    const now = performance.now();
    const isThrottled = now - this.#connectedAt < this.throttleMs;
    this.#connectedAt = now;
    if (isThrottled) {
      socket.destroy();
      return;
    }
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes) => {
      if (received.length === 0) this.requests.push(bytes.toString('hex', 0, 3));
      received = Buffer.concat([received, bytes]);
      if (!this.hears()) return;
      if (received[0] !== LIST_PING) this.#refuse(socket);
      else if (isWholePing(received, this.era)) {
        this.#connectedAt = Number.NEGATIVE_INFINITY;
        socket.end(this.manner.answer ?? kickPacket(this.text ?? this.#text()));
      }
    });
  }

  #text(): string {
    const { motd, version, online, max } = this.said;
    if (this.era === 'beta') return `${motd}§${online}§${max}`;
    const protocol = { '1.6': 78, '1.4': 61 }[this.era];
    return ['§1', protocol, version, motd, online, max].join('\0');
  }

  #refuse(socket: Socket): void {
    if (this.refusal === 'closes') socket.end();
    else if (this.refusal === 'kicks') socket.end(kickPacket('Protocol error'));
  }
}

function drip(socket: Socket, bytes: Buffer, pauseMs: number): void {
  if (bytes.length === 0 || socket.destroyed) return;
  socket.write(bytes.subarray(0, 1));
  setTimeout(() => drip(socket, bytes.subarray(1), pauseMs), pauseMs);
}

/** A fake game server that speaks UDP. */
export abstract class UdpResponder extends Responder {
  #socket: UdpSocket | undefined;
  readonly open = 0;
  /** Called with the port from which a request came. */
  onRequest: (port: number) => void = () => {};

  /** The answer to a request; undefined if a real server would not answer. */
  protected abstract answerTo(request: Buffer): Buffer | Buffer[] | undefined;

  async start(): Promise<void> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1_024 * 1_024 });
    socket.on('message', (request, from) => this.#receive(socket, request, from)).on('error', () => {});
    await new Promise<void>((resolve) => socket.bind(this.port, '127.0.0.1', resolve));
    this.port = socket.address().port;
    this.#socket = socket;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#socket?.close(() => resolve());
    });
  }

  #receive(socket: UdpSocket, request: Buffer, from: RemoteInfo): void {
    this.onRequest(from.port);
    if (!this.hears()) return;
    for (const answer of [this.manner.answer ?? this.answerTo(request) ?? []].flat()) {
      // A long answer is split into several datagrams.
      for (let start = 0; start === 0 || start < answer.length; start += 60_000) {
        socket.send(answer.subarray(start, start + 60_000), from.port, from.address, () => {});
      }
    }
  }
}

/** A server of Valve's Source engine: A2S with challenge (developer.valvesoftware.com, "Server queries"). */
export class SourceServer extends UdpResponder {
  /** The received requests: `info`, `players`, `rules`; or `challenge` for a request without a challenge. */
  readonly questions: string[] = [];
  /** How many challenges the server sends before it answers. Each is different. */
  challenges = 1;
  /** Datagrams that are sent instead of the usual answer to `info`. */
  info: Buffer[] | undefined;
  #challenge = Buffer.from([0x4b, 0xa1, 0xd5, 0x22]);
  #sent = 0;

  protected answerTo(request: Buffer): Buffer | Buffer[] | undefined {
    const question = { 84: 'info', 85: 'players', 86: 'rules' }[request[4] ?? 0];
    if (!question) return undefined;
    const known = request.subarray(question === 'info' ? -4 : 5).equals(this.#challenge);
    const answers = this.challenges === 0 || (known && this.#sent >= this.challenges);
    this.questions.push(answers ? question : 'challenge');
    if (!answers) {
      if (known) this.#challenge = Buffer.from(this.#challenge.map((byte) => byte + 1));
      this.#sent += 1;
      return Buffer.concat([HEADER, Buffer.from([0x41]), this.#challenge]);
    }
    if (question === 'info') return this.info ?? sourceInfo(this.said);
    return question === 'players'
      ? Buffer.concat([HEADER, Buffer.from([0x44, 0])])
      : Buffer.concat([HEADER, Buffer.from([0x45, 0, 0])]);
  }
}

/** A Minecraft Bedrock server: RakNet's unconnected ping. */
export class BedrockServer extends UdpResponder {
  /** Its answer to gamedig's ping. */
  usualAnswer(): Buffer {
    return bedrockPong(Buffer.from('1122334455667788', 'hex'), this.said);
  }

  protected answerTo(request: Buffer): Buffer | undefined {
    return request[0] === 0x01 ? bedrockPong(request.subarray(1, 9), this.said) : undefined;
  }
}
