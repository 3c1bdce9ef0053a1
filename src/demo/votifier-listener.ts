import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Listening } from './listening.ts';
import { type ReceivedVote, readV1Vote, readV2Vote, VoteRefusal } from './votifier-decoding.ts';

export type { ReceivedVote };

/** How the listener behaves from the next event on. If a field is absent, it behaves like NuVotifier. */
export type Behaviour = {
  onConnect?: 'greet' | 'silence' | 'close' | 'reset';
  /** Sent instead of the greeting. `{challenge}` is replaced. */
  greeting?: string;
  /** Greets like the original Votifier, and does not accept v2 frames. */
  v1Only?: boolean;
  /** After a complete frame. A valid vote is always recorded. */
  onFrame?: 'answer' | 'silence' | 'close' | 'reset';
  /** Sent instead of the answer, also for v1. Then the connection closes. */
  answer?: string | Uint8Array;
  answerDelayMs?: number;
  /** The pause between single bytes of the greeting and the answer. */
  dripMs?: number;
};

type ListenerOptions = {
  /** By service name; `default` is for all others. If left out: a random default token. */
  tokens?: Record<string, string>;
  /** RSA of 2048 bits. If left out, it is made at first use. */
  keyPair?: { publicKey: KeyObject; privateKey: KeyObject };
  onVote?: (vote: ReceivedVote) => void;
};

/**
 * A fake vote listener for the demo and the tests. It speaks Votifier v1 and v2 as NuVotifier does (in its sources:
 * VotifierProtocolDifferentiator, VotifierProtocol1Decoder, VotifierProtocol2Decoder and VoteInboundHandler). It shares
 * no code with our client, because tests do not notice an error in shared code.
 */
export class VotifierListener extends Listening {
  /** Oldest first, with duplicates: no listener removes them. */
  readonly votes: ReceivedVote[] = [];
  behaviour: Behaviour = {};
  tokens: Record<string, string>;
  connections = 0;

  readonly #onVote: ((vote: ReceivedVote) => void) | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  #keyPair: ListenerOptions['keyPair'];
  #held: (() => void)[] | undefined;

  constructor({ tokens, keyPair, onVote }: ListenerOptions = {}) {
    super();
    this.tokens = tokens ?? { default: randomBytes(16).toString('hex') };
    this.#keyPair = keyPair;
    this.#onVote = onVote;
  }

  get token(): string {
    return this.tokens.default ?? '';
  }

  get keyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
    this.#keyPair ??= generateKeyPairSync('rsa', { modulusLength: 2_048 });
    return this.#keyPair;
  }

  /** As NuVotifier writes it to `rsa/public.key`. */
  get publicKeyLine(): string {
    return this.keyPair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  }

  get held(): number {
    return this.#held?.length ?? 0;
  }

  override async stop(): Promise<void> {
    this.#held = undefined;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await super.stop();
  }

  /** Until `release` is called, the listener receives votes but delays its answers. */
  stall(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const answer of held) answer();
  }

  protected override accept(socket: Socket): void {
    this.connections += 1;
    const { onConnect = 'greet', v1Only = false, greeting } = this.behaviour;
    if (onConnect === 'reset') return void socket.resetAndDestroy();
    if (onConnect === 'close') return void socket.destroySoon();
    const challenge = BigInt(`0x${randomBytes(16).toString('hex')}`).toString(32);
    const usual = v1Only ? 'VOTIFIER 1.9\n' : 'VOTIFIER 2 {challenge}\n';
    if (onConnect === 'greet') this.#say(socket, (greeting ?? usual).replace('{challenge}', challenge));
    this.#receive(socket, challenge, v1Only);
  }

  /** Like NuVotifier, it answers an incomplete frame only if its length is too large. */
  #receive(socket: Socket, challenge: string, v1Only: boolean): void {
    let received = Buffer.alloc(0);
    const onData = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const isV2 = !v1Only && received.length >= 2 && received.readUInt16BE(0) === 0x733a;
      try {
        const vote = isV2
          ? readV2Vote(received, { challenge, tokens: this.tokens })
          : readV1Vote(received, this.keyPair.privateKey);
        if (vote === 'incomplete') return;
        this.votes.push(vote);
        this.#onVote?.(vote);
        this.#end(socket, isV2 ? '{"status":"ok"}\r\n' : '');
      } catch (refusal) {
        if (!(refusal instanceof VoteRefusal)) throw refusal;
        const { code: cause, message } = refusal;
        this.#end(socket, isV2 ? `${JSON.stringify({ status: 'error', cause, error: message })}\r\n` : '');
      }
      // A connection carries one vote, so further data is ignored.
      socket.off('data', onData).resume();
    };
    socket.on('data', onData);
  }

  #end(socket: Socket, usual: string): void {
    const { onFrame = 'answer', answer = usual, answerDelayMs = 0 } = this.behaviour;
    if (onFrame === 'reset') socket.resetAndDestroy();
    if (onFrame === 'close') socket.destroySoon();
    if (onFrame !== 'answer') return;
    const send = () => this.#say(socket, answer, () => socket.destroySoon());
    if (this.#held) this.#held.push(send);
    else if (answerDelayMs > 0) this.#later(answerDelayMs, send);
    else send();
  }

  #say(socket: Socket, said: string | Uint8Array, then: () => void = () => {}): void {
    const { dripMs } = this.behaviour;
    const bytes = Buffer.from(said);
    const piece = dripMs === undefined ? bytes : bytes.subarray(0, 1);
    if (socket.destroyed) return;
    if (piece.length > 0) socket.write(piece);
    if (piece.length === bytes.length) then();
    else this.#later(dripMs ?? 0, () => this.#say(socket, bytes.subarray(1), then));
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }
}
