import { answerTimeoutMs } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import type { AddressRanges } from '../platform/address-guard.ts';
import { systemClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Vote } from '../votes/vote.ts';
import { parsePublicKey, secretContext } from './credentials.ts';
import type { Destination } from './destination.ts';
import type { OnStep } from './diagnosis/diagnosis.ts';
import { type HttpTarget, postVote } from './http/http-client.ts';
import { type OnRefusal, sendVote, type VotifierTarget } from './votifier/votifier-client.ts';

/** A listener's settings and opened secret. Never logged or stored (design rule 10). */
export type OpenedListener = VotifierTarget | HttpTarget;

type SendLimits = {
  /** Before the first byte of the vote is written, this ends the attempt. */
  signal: AbortSignal;
  /** Ends the wait for the answer too. */
  waitSignal: AbortSignal;
  /** The step of `answerTimeoutMs`. */
  answerStep?: number;
  /** A Votifier v1 listener that has confirmed votes before. */
  confirmsVotes?: boolean;
  /** Called right before the first byte: whether the lease leaves enough time to wait for the answer. */
  mayWrite: (answerMs: number) => boolean;
  destination: Destination;
  onStep?: OnStep | undefined;
  /** Only for HTTP. */
  onRefusal?: OnRefusal | undefined;
};

/** Never throws for anything that a listener does. */
export type SendVote = (
  listener: OpenedListener,
  vote: Pick<Vote, '_id' | 'username' | 'votedAt'>,
  limits: SendLimits,
) => Promise<Outcome>;

/** @throws {UnsealError} when the secret was sealed under a `SECRET_KEY` that is not known */
export function openListener(secrets: SecretBox, listener: Listener): OpenedListener {
  const { protocol, host, port, serviceName, url, previousSecret } = listener;
  if (protocol === 'fetch') throw new Error('nothing is sent to a listener that fetches');
  const open = (sealed: string) => secrets.open(sealed, secretContext(listener));
  const secret = open(listener.sealedSecret);
  const target = { host, port, serviceName };
  switch (protocol) {
    case 'votifier-v1':
      return { ...target, protocol, publicKey: parsePublicKey(secret).publicKey };
    case 'votifier-v2':
      return { ...target, protocol, token: secret };
    case 'http': {
      if (!url) throw new Error('an HTTP listener without a URL');
      const previous = previousSecret && { secret: open(previousSecret.sealed), until: previousSecret.until };
      const serverId = listener.serverId.toHexString();
      return { protocol, url, serverId, secret, previous: previous ?? null };
    }
  }
}

/** It connects only to addresses that the configuration allows. */
export function createVoteSender(
  config: Pick<Config, 'LISTENER_TIMEOUT_MS' | 'CLOCK_OFFSET_MS'> & AddressRanges,
): SendVote {
  const timeoutMs = config.LISTENER_TIMEOUT_MS;
  const clock = systemClock(config.CLOCK_OFFSET_MS);
  return (listener, vote, { answerStep = 0, mayWrite, destination, ...limits }) => {
    const answerMs = answerTimeoutMs(timeoutMs, answerStep);
    const forwarded = { id: vote._id.toString(), username: vote.username, votedAt: vote.votedAt };
    const options = {
      ranges: config,
      timeoutMs,
      ...limits,
      answerMs,
      mayWrite: () => mayWrite(answerMs),
      destination,
    };
    const sending =
      listener.protocol === 'http'
        ? postVote(listener, forwarded, options, clock.now())
        : sendVote(listener, forwarded, options);
    return sending.then((result) => {
      destination.onOutcome(result);
      return withoutSecrets(result, listener);
    });
  };
}

/** Shorter ones may be ordinary words that occur in any message. */
const SHORTEST_SECRET = 4;

/** What no timeline or log line may contain; a value of a URL's query may be a key. */
function secretsOf(listener: OpenedListener): string[] {
  switch (listener.protocol) {
    case 'votifier-v1':
      return [];
    case 'votifier-v2':
      return [listener.token];
    case 'http': {
      const { url, secret, previous } = listener;
      const query = [...new URL(url).searchParams.values()];
      return [secret, previous?.secret ?? '', ...query, ...query.map(encodeURIComponent)];
    }
  }
}

/** A “not found” page, for example, repeats the URL. */
export function withoutSecrets(result: Outcome, listener: OpenedListener): Outcome {
  const hidden = secretsOf(listener).filter(({ length }) => length >= SHORTEST_SECRET);
  const hide = (text: string) => hidden.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
  const { words, detail } = result;
  return { ...result, ...(words ? { words: hide(words) } : {}), ...(detail ? { detail: hide(detail) } : {}) };
}
