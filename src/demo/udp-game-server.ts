import { createSocket, type Socket } from 'node:dgram';
import type { FakeServer, GameStatus } from './listening.ts';

/** The answer of a game's servers to a request; undefined for no answer. */
export type Answering = (request: Buffer, status: GameStatus) => Buffer | undefined;

export class UdpGameServer implements FakeServer {
  readonly #answer: Answering;
  readonly #status: () => GameStatus;
  #socket: Socket | undefined;
  #port = 0;

  constructor(answer: Answering, status: () => GameStatus) {
    this.#answer = answer;
    this.#status = status;
  }

  get port(): number {
    return this.#port;
  }

  async start({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<void> {
    if (this.#socket) throw new Error('This fake server is already running');
    const socket = createSocket('udp4');
    const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
    socket.once('error', reject).bind(port || this.#port, host, resolve);
    await listening;
    // An answer to a client that is gone may fail.
    socket.off('error', reject).on('error', () => {});
    socket.on('message', (request, from) => {
      const answer = this.#answer(request, this.#status());
      if (answer) socket.send(answer, from.port, from.address, () => {});
    });
    this.#socket = socket;
    this.#port = socket.address().port;
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = undefined;
    await new Promise<void>((resolve) => {
      socket.close(resolve);
    });
  }
}

/** The magic bytes of RakNet packets outside a connection (wiki.vg, "Raknet Protocol"). */
const RAKNET_MAGIC = '00ffff00fefefefefdfdfdfd12345678';

export const answerOfBedrock: Answering = (request, status) =>
  request[0] === 0x01 ? bedrockPong(request.subarray(1, 9), status) : undefined;

/** `time`: the eight bytes after the first one of the ping. */
export function bedrockPong(time: Buffer, { motd, version, online, max }: GameStatus): Buffer {
  // A semicolon separates fields, so the name must not contain one.
  const name = motd.replaceAll(';', ',').replaceAll('\n', ' ');
  const status = Buffer.from(`MCPE;${name};766;${version};${online};${max};1234567890;A world;Survival`);
  return Buffer.concat([
    Buffer.from([0x1c]),
    time,
    Buffer.from(`000000000000002a${RAKNET_MAGIC}`, 'hex'),
    Buffer.from([status.length >> 8, status.length & 0xff]),
    status,
  ]);
}

/** The header of every unsplit packet of Valve's Source engine (developer.valvesoftware.com, "Server queries"). */
export const SOURCE_HEADER = Buffer.from([0xff, 0xff, 0xff, 0xff]);

const INFO = 0x54;
const PLAYERS = 0x55;
const RULES = 0x56;

/** A client must send it back before it gets an answer, against amplification with forged addresses. */
const CHALLENGE = Buffer.from([0x4b, 0xa1, 0xd5, 0x22]);

export const answerOfSource: Answering = (request, status) => {
  const question = request[4];
  if (question !== INFO && question !== PLAYERS && question !== RULES) return undefined;
  const isKnown = request.subarray(question === INFO ? -4 : 5).equals(CHALLENGE);
  if (!isKnown) return Buffer.concat([SOURCE_HEADER, Buffer.from([0x41]), CHALLENGE]);
  if (question === INFO) return sourceInfo(status);
  const empty = question === PLAYERS ? [0x44, 0] : [0x45, 0, 0];
  return Buffer.concat([SOURCE_HEADER, Buffer.from(empty)]);
};

/** One byte for the number of players, so at most 255. */
export function sourceInfo({ motd, version, online, max }: GameStatus): Buffer {
  const text = (value: string) => Buffer.from(`${value}\0`);
  return Buffer.concat([
    SOURCE_HEADER,
    Buffer.from([0x49, 17]),
    text(motd),
    text('cp_dustbowl'),
    text('tf'),
    text('Team Fortress'),
    Buffer.from([0xb8, 0x01, online, max, 0, 0x64, 0x6c, 0, 1]),
    text(version),
    Buffer.from([0]),
  ]);
}
