import { createSocket, type Socket } from 'node:dgram';
import type { FakeServer, Said } from './fake-server.ts';

/** What a game's servers answer to a request; undefined where they keep quiet. */
export type Answering = (request: Buffer, said: Said) => Buffer | undefined;

/** Stands in for a server of a game that is asked over UDP. */
export class UdpGameServer implements FakeServer {
  readonly #answer: Answering;
  readonly #says: () => Said;
  #socket: Socket | undefined;
  #port = 0;

  /** @param says - asked anew for every answer */
  constructor(answer: Answering, says: () => Said) {
    this.#answer = answer;
    this.#says = says;
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
    // Whoever asked may be gone by the time of the answer.
    socket.off('error', reject).on('error', () => {});
    socket.on('message', (request, from) => {
      const answer = this.#answer(request, this.#says());
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

/** RakNet's mark of packets outside a connection (wiki.vg, "Raknet Protocol"). */
const RAKNET_MAGIC = '00ffff00fefefefefdfdfdfd12345678';

/** What a Minecraft Bedrock server answers to an unconnected ping. */
export const answerOfBedrock: Answering = (request, said) =>
  request[0] === 0x01 ? bedrockPong(request.subarray(1, 9), said) : undefined;

/**
 * The answer to an unconnected ping.
 *
 * @param time - the eight bytes that the ping brought
 */
export function bedrockPong(time: Buffer, { motd, version, online, max }: Said): Buffer {
  // A semicolon ends a field.
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

/** What every packet of Valve's Source engine begins with that is whole (developer.valvesoftware.com, "Server queries"). */
export const SOURCE_HEADER = Buffer.from([0xff, 0xff, 0xff, 0xff]);

const INFO = 0x54;
const PLAYERS = 0x55;
const RULES = 0x56;

/** What whoever asks must send back, so that nobody is flooded with answers to questions in their name. */
const CHALLENGE = Buffer.from([0x4b, 0xa1, 0xd5, 0x22]);

/** What a server of Valve's Source engine, and of the many games that speak its protocol, answers. */
export const answerOfSource: Answering = (request, said) => {
  const question = request[4];
  if (question !== INFO && question !== PLAYERS && question !== RULES) return undefined;
  const isKnown = request.subarray(question === INFO ? -4 : 5).equals(CHALLENGE);
  if (!isKnown) return Buffer.concat([SOURCE_HEADER, Buffer.from([0x41]), CHALLENGE]);
  if (question === INFO) return sourceInfo(said);
  // Nobody by name, and no settings.
  const empty = question === PLAYERS ? [0x44, 0] : [0x45, 0, 0];
  return Buffer.concat([SOURCE_HEADER, Buffer.from(empty)]);
};

/** The packet that tells of a server; of players it can tell up to 255. */
export function sourceInfo({ motd, version, online, max }: Said): Buffer {
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
