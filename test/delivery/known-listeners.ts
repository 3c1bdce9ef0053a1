import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import net, { type Socket } from 'node:net';
import { readV1Vote, readV2Vote, VoteRefusal } from '../../src/demo/votifier-decoding.ts';
import { listen } from '../support/fake-http-listener.ts';

/** What a fake listener does when it has read a whole frame. */
type Answer = {
  say?: string;
  ends: 'close' | 'stay open' | 'die';
  /** Milliseconds before it answers. */
  after?: number;
};

/** A fake of a real listener: its greeting and its answer to a frame; null while the frame is incomplete. */
export type KnownListener = {
  greeting: (challenge: string) => string;
  take: (received: Buffer, challenge: string) => Answer | null;
};

/** The key pair whose public key an owner copies, and the key pair of another server. */
export const RIGHT = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const OTHER = generateKeyPairSync('rsa', { modulusLength: 2_048 });
export const TOKEN = 'r1ght-t0ken-0123456789abcdef';

/** The public key in the form in which a plugin writes it to its file. */
export function keyLine({ publicKey }: { publicKey: KeyObject }): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

const OK = '{"status":"ok"}';
const isV2 = (received: Buffer) => received.length >= 2 && received.readUInt16BE(0) === 0x733a;
const v2Greeting = (challenge: string) => `VOTIFIER 2 ${challenge}\n`;

type ReadDeps = { challenge: string; tokens?: Record<string, string>; pair?: typeof RIGHT };

/** Reads a frame of either version and returns whether its vote is valid; null while the frame is incomplete. */
function judge(
  received: Buffer,
  { challenge, tokens = { default: TOKEN }, pair = RIGHT }: ReadDeps,
): true | VoteRefusal | null {
  try {
    const vote = isV2(received)
      ? readV2Vote(received, { challenge, tokens })
      : readV1Vote(received, pair.privateKey);
    return vote === 'incomplete' ? null : true;
  } catch (error) {
    if (error instanceof VoteRefusal) return error;
    throw error;
  }
}

type NuVotifierSettings = {
  tokens?: Record<string, string>;
  /**
   * How the plugin behind the listener handles a vote: it takes `stallsFor` milliseconds, or it throws. By default it
   * returns at once.
   */
  handler?: { stallsFor: number } | 'throws';
};

/** NuVotifier: it answers v2, and for v1 always closes without an answer, even if v1 is switched off. */
export function nuVotifier({ tokens, handler }: NuVotifierSettings = {}): KnownListener {
  return {
    greeting: v2Greeting,
    take(received, challenge) {
      const judged = judge(received, { challenge, ...(tokens ? { tokens } : {}) });
      if (judged === null) return null;
      // It closes at once if it cannot decrypt a vote.
      if (!isV2(received))
        return {
          ends: 'close',
          after: judged === true && handler !== 'throws' ? (handler?.stallsFor ?? 0) : 0,
        };
      if (judged !== true) {
        const { code: cause, message: error } = judged;
        return { say: `${JSON.stringify({ status: 'error', cause, error })}\r\n`, ends: 'close' };
      }
      if (handler === 'throws')
        return { say: '{"status":"error","cause":"java.lang.IllegalStateException"}\r\n', ends: 'close' };
      return { say: `${OK}\r\n`, ends: 'close', after: handler?.stallsFor ?? 0 };
    },
  };
}

/**
 * VotifierPlus: it answers `ok` for both versions. If it refuses a vote or the plugin behind it throws, it closes
 * without an answer.
 */
export function votifierPlus({
  tokens = { default: TOKEN },
  v1 = true,
  pair = RIGHT,
  throws = false,
}: {
  tokens?: Record<string, string> | null;
  v1?: boolean;
  pair?: typeof RIGHT;
  throws?: boolean;
} = {}): KnownListener {
  return {
    greeting: (challenge) => (tokens ? v2Greeting(challenge) : 'VOTIFIER 1\n'),
    take(received, challenge) {
      const judged = judge(received, { challenge, pair, ...(tokens ? { tokens } : {}) });
      if (judged === null) return null;
      const takes = judged === true && !throws && (v1 || isV2(received));
      return takes ? { say: `${OK}\r\n`, ends: 'close' } : { ends: 'close' };
    },
  };
}

/**
 * Votifier 1.9, and a standalone version: after a valid vote it closes, and if it cannot decrypt a vote it waits for
 * ever.
 */
export function votifier19(version = '1.9'): KnownListener {
  return {
    greeting: () => `VOTIFIER ${version}\n`,
    take(received, challenge) {
      if (received.length < 256) return null;
      return { ends: judge(received, { challenge }) === true ? 'close' : 'stay open' };
    },
  };
}

/** Listeners that support v1 only and always close. VanillaVotifier sends its own version in its greeting. */
export function closing(version: string): KnownListener {
  return {
    greeting: () => `VOTIFIER ${version}\n`,
    take: (received) => (received.length < 256 ? null : { ends: 'close' }),
  };
}

/** A listener for Hytale: it answers without a line feed in both versions. */
export function hytaleVotifier({
  v1 = true,
  tokens = { default: TOKEN } as Record<string, string>,
} = {}): KnownListener {
  const error = (words: string): Answer => ({
    say: JSON.stringify({ status: 'error', cause: words, errorMessage: words }),
    ends: 'close',
  });
  return {
    greeting: v2Greeting,
    take(received, challenge) {
      // It reads two bytes before it refuses the vote.
      if (!v1 && received.length >= 2 && !isV2(received)) return error('V1 protocol is disabled');
      const judged = judge(received, { challenge, tokens });
      if (judged === null) return null;
      if (judged === true) return { say: OK, ends: 'close' };
      return error(isV2(received) ? 'Signature verification failed' : 'Decryption failed');
    },
  };
}

/** A listener in Go: a wrong token ends its process. */
export function goVotifier(tokens: Record<string, string> = { default: TOKEN }): KnownListener {
  return {
    greeting: v2Greeting,
    take(received, challenge) {
      const judged = judge(received, { challenge, tokens });
      if (judged === null) return null;
      return judged === true ? { say: `${OK}\r\n`, ends: 'close' } : { ends: 'die' };
    },
  };
}

/** A listener behind an HAProxy with `send-proxy`, which writes its header before the bytes of the client. */
export function behindProxyHeader({ greeting, take }: KnownListener): KnownListener {
  const header = Buffer.from('PROXY TCP4 203.0.113.7 198.51.100.2 50716 8192\r\n');
  return { greeting, take: (received, challenge) => take(Buffer.concat([header, received]), challenge) };
}

/** Makes a fake listen on loopback until the test ends. Returns its port. */
export function start(known: KnownListener): Promise<number> {
  const server = net.createServer((socket) => serve(known, socket, () => server.close()));
  return listen(server);
}

function serve({ greeting, take }: KnownListener, socket: Socket, die: () => void): void {
  const challenge = randomBytes(12).toString('hex');
  socket.write(greeting(challenge));
  let received = Buffer.alloc(0);
  const onData = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    const answer = take(received, challenge);
    if (!answer) return;
    socket.off('data', onData).resume();
    const { say, ends, after = 0 } = answer;
    const end = () => {
      if (say && !socket.destroyed) socket.write(say);
      if (ends === 'close') socket.destroySoon();
      if (ends !== 'die') return;
      die();
      socket.destroy();
    };
    if (after > 0) setTimeout(end, after).unref();
    else end();
  };
  socket.on('data', onData);
}
