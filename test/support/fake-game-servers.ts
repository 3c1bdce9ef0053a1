import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import net, { type Socket } from 'node:net';
import type { GameStatus } from '../../src/demo/fake-server.ts';
import { statusPacket } from '../../src/demo/game-server.ts';
import { bedrockPong, SOURCE_HEADER as HEADER, sourceInfo } from '../../src/demo/udp-game-server.ts';
import { freePort } from '../../src/embedded/free-port.ts';

/** How a fake server handles a request. By default it does what a real server does. */
export type Manner = {
  /** It accepts every request and does not answer. */
  silent?: boolean;
  /** Sent unchanged instead of every answer. */
  answer?: Uint8Array;
  /** The last bytes of a TCP answer come this much later, in a separate segment. */
  lateSegmentMs?: number;
  /** The size of that last segment in bytes; 4 by default. */
  lateBytes?: number;
  /** A TCP answer comes one byte at a time, with this pause. */
  dripMs?: number;
  /** The connection is closed after this many bytes of the answer. */
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
  /** Requests so far, the lost ones too. */
  asked: number;
  /** Connections that are open (TCP). */
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

  /** Counts a request, and returns whether to answer it. */
  protected hears(): boolean {
    this.asked += 1;
    return this.manner.silent !== true && Math.random() >= (this.manner.lost ?? 0);
  }
}

/** A Minecraft Java server: status over TCP. */
export class JavaServer extends Responder {
  /** A whole status that replaces that of `said`. */
  status: unknown;
  /** The host names of the handshakes. */
  readonly handshakes: string[] = [];
  readonly #sockets = new Set<Socket>();
  #server: net.Server | undefined;

  get open(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    const server = net.createServer((socket) => this.#accept(socket));
    this.port ||= await freePort();
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket
      .setNoDelay(true)
      .on('close', () => this.#sockets.delete(socket))
      .on('error', () => socket.destroy())
      .on('data', (bytes) => {
        // Handshake and request come in one segment: `[length] 0 [version] [host] [port] 1`, `1 0`.
        this.handshakes.push(bytes.toString('utf8', 4, 4 + bytes.readUInt8(3)));
        if (this.hears()) this.#answer(socket);
      });
  }

  #answer(socket: Socket): void {
    const { motd, version, online, max } = this.said;
    const usual = {
      version: { name: version, protocol: 769 },
      players: { online, max },
      description: { text: motd },
    };
    const answer = Buffer.from(this.manner.answer ?? statusPacket(this.status ?? usual));
    const { lateSegmentMs, lateBytes = 4, dripMs, closeAfter } = this.manner;
    if (closeAfter !== undefined) socket.end(answer.subarray(0, closeAfter));
    else if (lateSegmentMs !== undefined) {
      socket.write(answer.subarray(0, -lateBytes));
      setTimeout(() => socket.write(answer.subarray(-lateBytes)), lateSegmentMs);
    } else if (dripMs !== undefined) drip(socket, answer, dripMs);
    else socket.write(answer);
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

  /** The answer to a request; undefined if a real server does not answer. */
  protected abstract answerTo(request: Buffer): Buffer | undefined;

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
    const answer = this.manner.answer ?? this.answerTo(request);
    if (!answer) return;
    // A long answer is split into several datagrams.
    for (let start = 0; start === 0 || start < answer.length; start += 60_000) {
      socket.send(answer.subarray(start, start + 60_000), from.port, from.address, () => {});
    }
  }
}

/** A server of Valve's Source engine: A2S with challenge (developer.valvesoftware.com, "Server queries"). */
export class SourceServer extends UdpResponder {
  /** The requests: `info`, `players`, `rules`, or `challenge` if the challenge was missing. */
  readonly questions: string[] = [];
  readonly #challenge = Buffer.from([0x4b, 0xa1, 0xd5, 0x22]);

  protected answerTo(request: Buffer): Buffer | undefined {
    const question = { 84: 'info', 85: 'players', 86: 'rules' }[request[4] ?? 0];
    if (!question) return undefined;
    const known = request.subarray(question === 'info' ? -4 : 5).equals(this.#challenge);
    this.questions.push(known ? question : 'challenge');
    if (!known) return Buffer.concat([HEADER, Buffer.from([0x41]), this.#challenge]);
    if (question === 'info') return sourceInfo(this.said);
    return question === 'players'
      ? Buffer.concat([HEADER, Buffer.from([0x44, 0])])
      : Buffer.concat([HEADER, Buffer.from([0x45, 0, 0])]);
  }
}

/** A Quake 3 server: `getstatus`. */
export class QuakeServer extends UdpResponder {
  protected answerTo(request: Buffer): Buffer | undefined {
    if (!request.toString('latin1').includes('getstatus')) return undefined;
    const { motd, version, online, max } = this.said;
    const players = Array.from({ length: online }, (_, index) => `${index} 48 "player${index}"\n`);
    const settings = `\\sv_hostname\\${motd}\\mapname\\q3dm17\\sv_maxclients\\${max}\\version\\${version}`;
    return Buffer.concat([HEADER, Buffer.from(`statusResponse\n${settings}\n${players.join('')}`, 'latin1')]);
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
