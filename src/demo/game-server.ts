import type { Socket } from 'node:net';
import { type GameStatus, Listening } from './listening.ts';

/** In bytes. A longer request is not a status request: the connection is closed. */
const LONGEST_REQUEST = 1_024;

/** The protocol version of Minecraft 1.21.4. Clients compare it with their own. */
const PROTOCOL = 769;

/** A fake Minecraft Java server. It answers status requests and pings (minecraft.wiki, "Server List Ping"). */
export class SampleGameServer extends Listening {
  readonly #currentStatus: () => GameStatus;

  constructor(status: () => GameStatus) {
    super();
    this.#currentStatus = status;
  }

  protected override accept(socket: Socket): void {
    let received: Buffer = Buffer.alloc(0);
    socket.setNoDelay(true).on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      if (received.length > LONGEST_REQUEST) socket.destroy();
      else received = this.#answerAll(socket, received);
    });
  }

  /** Answers the complete packets and returns the rest. */
  #answerAll(socket: Socket, received: Buffer): Buffer {
    let rest = received;
    for (let packet = firstPacket(rest); packet; packet = firstPacket(rest)) {
      rest = packet.rest;
      const [id] = packet.body;
      // A handshake is longer than a status request and gets no answer. A ping is answered with the same packet.
      if (id === 0 && packet.body.length === 1) socket.write(statusPacket(this.#status()));
      if (id === 1) socket.end(framed(packet.body));
    }
    return rest;
  }

  #status(): object {
    const { motd, version, online, max, icon } = this.#currentStatus();
    return {
      version: { name: version, protocol: PROTOCOL },
      players: { max, online, sample: [] },
      description: { text: motd },
      ...(icon === undefined ? {} : { favicon: icon }),
    };
  }
}

function firstPacket(received: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const length = readVarInt(received);
  if (!length) return undefined;
  const end = length.size + length.value;
  if (received.length < end) return undefined;
  return { body: received.subarray(length.size, end), rest: received.subarray(end) };
}

function readVarInt(bytes: Buffer): { value: number; size: number } | undefined {
  let value = 0;
  for (let index = 0; index < Math.min(5, bytes.length); index += 1) {
    const byte = bytes.readUInt8(index);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, size: index + 1 };
  }
  return undefined;
}

function varInt(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function framed(body: Buffer): Buffer {
  return Buffer.concat([varInt(body.length), body]);
}

export function statusPacket(status: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(status));
  return framed(Buffer.concat([varInt(0), varInt(json.length), json]));
}
