import type { Config } from '../config.ts';
import type { SecretBox } from '../secrets.ts';
import type { Vote } from '../votes/vote.ts';
import { parsePublicKey } from './credentials.ts';
import type { Listener } from './listener.ts';
import type { Outcome } from './outcomes.ts';
import { sendVote, type VotifierTarget } from './votifier-client.ts';

/** A listener with its secret read: ready to send with. Never logged, never stored. */
export type OpenedListener = VotifierTarget;

export type SendLimits = {
  /** Gives the attempt up as long as nothing is written. */
  signal: AbortSignal;
  /** Gives up waiting for the answer. */
  waitSignal: AbortSignal;
  /** Asked right before the first byte: is there time enough to wait `answerMs` for the answer? */
  mayWrite: (answerMs: number) => boolean;
};

/** Makes one attempt on the wire; never throws for anything a listener does. */
export type Send = (
  listener: OpenedListener,
  vote: Pick<Vote, '_id' | 'username' | 'votedAt'>,
  limits: SendLimits,
) => Promise<Outcome>;

/** The place that a listener's sealed secret is bound to. */
export function secretContext(listener: Pick<Listener, 'serverId'>): string {
  return `listener of ${listener.serverId.toHexString()}`;
}

/**
 * Reads a listener's settings and opens its secret.
 *
 * @throws {UnsealError} when the secret was sealed under a `SECRET_KEY` that is not known
 */
export function openListener(secrets: SecretBox, listener: Listener): OpenedListener {
  const { protocol, host, port, serviceName } = listener;
  const secret = secrets.open(listener.sealedSecret, secretContext(listener));
  const target = { host, port, serviceName };
  return protocol === 'votifier-v1'
    ? { ...target, protocol, publicKey: parsePublicKey(secret).publicKey }
    : { ...target, protocol, token: secret };
}

/** Sends over the network, to addresses that the configuration allows. */
export function createSend(config: Pick<Config, 'ALLOWED_PRIVATE_RANGES' | 'LISTENER_TIMEOUT_MS'>): Send {
  const timeoutMs = config.LISTENER_TIMEOUT_MS;
  return (listener, vote, { signal, waitSignal, mayWrite }) =>
    sendVote(
      listener,
      { id: vote._id.toString(), username: vote.username, votedAt: vote.votedAt },
      {
        allowedPrivateRanges: config.ALLOWED_PRIVATE_RANGES,
        timeoutMs,
        signal,
        waitSignal,
        mayWrite: () => mayWrite(timeoutMs),
      },
    );
}
