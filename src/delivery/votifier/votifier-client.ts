import type { KeyObject } from 'node:crypto';
import { GREETS_AS_V2, type Outcome, type OutcomeCode, outcome } from '../../listeners/outcomes.ts';
import type { AddressRanges } from '../../platform/address-guard.ts';
import { readable } from '../../platform/printable.ts';
import type { ResolveOptions } from '../../platform/resolve-address.ts';
import type { Destination } from '../destination.ts';
import type { OnStep } from '../diagnosis/diagnosis.ts';
import {
  type Deadline,
  deadlineIn,
  type PeerConnection,
  type ReadResult,
  resolveAndConnect,
} from '../peer-connection.ts';
import { assertSendable, type ForwardedVote } from '../vote-message.ts';
import { type Greeting, isGreetingStart, readGreeting } from './votifier-greeting.ts';
import { v1Block } from './votifier-v1.ts';
import { meaningOfError, readVotifierReply, tokenKey, type VotifierReply, v2Frame } from './votifier-v2.ts';

/** A listener with its secret opened. */
export type VotifierTarget = {
  host: string;
  port: number;
  /** Of the voting site. A v2 listener chooses its token by this name. */
  serviceName: string;
} & ({ protocol: 'votifier-v1'; publicKey: KeyObject } | { protocol: 'votifier-v2'; token: string });

export type SendOptions = {
  ranges: AddressRanges;
  /** Of each step: resolving the name, connecting, the TLS handshake, the greeting. */
  timeoutMs: number;
  /** For the acknowledgement; `timeoutMs` by default. */
  answerMs?: number;
  /** A v1 listener confirmed votes before: a close without an answer is no delivery. */
  confirmsVotes?: boolean | undefined;
  /** Ends the attempt if nothing is written yet. Otherwise it still waits for the answer. */
  signal?: AbortSignal;
  /** Also ends the wait for the answer. */
  waitSignal?: AbortSignal;
  /** Called right before the first byte is written. */
  mayWrite: () => boolean;
  onStep?: OnStep | undefined;
  /** Without it there are neither limits nor challenges. */
  destination?: Destination | undefined;
  /** Only for HTTP. Without it the outcome of a refusal follows from the answer alone. */
  onRefusal?: OnRefusal | undefined;
  /** The system's resolver by default. */
  lookup?: ResolveOptions['lookup'];
};

/** What a website's refusal means. `challenge` asks for its consent again: null if it repeats the challenge. */
export type OnRefusal = (refused: Outcome, challenge: () => Promise<Outcome | null>) => Promise<Outcome>;

export type TimedOutcome = Outcome & { durationMs: number };

/**
 * Makes one attempt to forward a vote to a Votifier listener. Before the first byte is written, the vote cannot have
 * arrived; after that, only an answer shows whether it did.
 *
 * @throws {TypeError} when the vote or the service name can never be sent (`assertSendable`)
 */
export async function sendVote(
  target: VotifierTarget,
  vote: ForwardedVote,
  options: SendOptions,
): Promise<TimedOutcome> {
  assertSendable(vote, target.serviceName);
  const began = performance.now();
  const end = await attempt(target, vote, options);
  return { ...end, durationMs: Math.round(performance.now() - began) };
}

async function attempt(target: VotifierTarget, vote: ForwardedVote, options: SendOptions): Promise<Outcome> {
  const connection = await resolveAndConnect(target.host, target.port, options);
  if ('code' in connection) return connection;
  try {
    return await exchange(connection, target, vote, options);
  } finally {
    connection.destroy();
  }
}

async function exchange(
  connection: PeerConnection,
  target: VotifierTarget,
  vote: ForwardedVote,
  options: SendOptions,
): Promise<Outcome> {
  options.onStep?.('greeting');
  const greeting = await readGreetingFrom(connection, deadlineIn(options.timeoutMs, options.signal));
  if ('code' in greeting) return greeting;

  options.onStep?.('protocol-version');
  const frame = frameFor(target, vote, greeting);
  if (frame === 'frame-too-long') return outcome(frame, 'greeted');
  if ('code' in frame) return frame;

  const interruption = await readInterruption(connection, greeting.rest);
  if (interruption) return interruption;

  if (options.signal?.aborted || options.waitSignal?.aborted)
    return outcome('stopped-before-written', 'greeted');
  if (!options.mayWrite()) return outcome('our-fault', 'greeted');
  options.onStep?.('key-or-token');
  connection.write(frame);
  options.onStep?.('acknowledgement');
  const end = await readAnswerFrom(connection, target, vote, options);
  const greetsAsV2 = target.protocol === 'votifier-v1' && greeting.version === 2;
  return greetsAsV2 && end.code === 'no-answer' ? { ...end, detail: GREETS_AS_V2 } : end;
}

type Welcome = Exclude<Greeting, { notVotifier: string }>;

async function readGreetingFrom(connection: PeerConnection, waiting: Deadline): Promise<Welcome | Outcome> {
  const { read: greeting, received, end } = await readUntil(connection, readGreeting, waiting);
  if (end?.kind === 'stopped') return outcome('stopped-before-written', 'connected');
  if (greeting && !('notVotifier' in greeting)) return greeting;
  if (greeting) return outcome('not-votifier', 'connected', greeting.notVotifier);
  if (!isGreetingStart(received)) return outcome('not-votifier', 'connected', readable(received));
  if (end?.kind !== 'late') return outcome('closed-before-greeting', 'connected', readable(received));
  return outcome(received.length === 0 ? 'silent' : 'too-slow', 'connected', readable(received));
}

/** A v1 block is sent after either greeting: most listeners that speak v2 accept v1 as well. */
function frameFor(
  target: VotifierTarget,
  vote: ForwardedVote,
  greeting: Welcome,
): Buffer | 'frame-too-long' | Outcome {
  const { serviceName } = target;
  if (target.protocol === 'votifier-v1') return v1Block(vote, serviceName, target.publicKey);
  if (greeting.version === 1) return outcome('v1-only', 'greeted', greeting.banner);
  return v2Frame(vote, { serviceName, key: keyOf(target), challenge: greeting.challenge });
}

/** Made once for each target. */
const keys = new WeakMap<VotifierTarget, KeyObject>();

function keyOf(target: Extract<VotifierTarget, { protocol: 'votifier-v2' }>): KeyObject {
  const key = keys.get(target) ?? tokenKey(target.token);
  keys.set(target, key);
  return key;
}

/**
 * Nothing is written if the listener closed the connection or sent something after its greeting: a write would make the
 * outcome ambiguous although no vote was sent, and a message before the frame, even an `ok`, confirms nothing.
 */
async function readInterruption(connection: PeerConnection, afterGreeting: Buffer) {
  const received = await connection.readArrived();
  const said = readable(
    received.kind === 'bytes' ? Buffer.concat([afterGreeting, received.bytes]) : afterGreeting,
  );
  if (said) return outcome('unknown-error', 'greeted', said);
  if (received.kind === 'closed' || received.kind === 'broken')
    return outcome('closed-before-written', 'greeted');
  return undefined;
}

async function readAnswerFrom(
  connection: PeerConnection,
  target: VotifierTarget,
  vote: ForwardedVote,
  options: SendOptions,
): Promise<Outcome> {
  const waiting = deadlineIn(options.answerMs ?? options.timeoutMs, options.waitSignal);
  const { read: reply, received, end } = await readUntil(connection, readVotifierReply, waiting);
  if (reply) return outcomeOfReply(reply, vote);
  // Most v1 listeners close the connection after a vote that they accept, and also after one with the wrong key. If
  // this one confirmed votes before, its key has changed or its plugin failed.
  const isSent = target.protocol === 'votifier-v1' && !options.confirmsVotes;
  const bareClose = isSent ? 'sent-not-confirmed' : 'closed-without-answer';
  const said = readable(received);
  return outcome(codeWithoutReply(end, said, bareClose), 'written', said);
}

/** Some v1 listeners answer in the form of v2: an `ok` from them confirms the vote too. */
function outcomeOfReply(reply: VotifierReply, { username }: ForwardedVote): Outcome {
  if (reply.status === 'ok') return outcome('acknowledged', 'acknowledged');
  const code = reply.status === 'error' ? meaningOfError(reply.text, username) : 'garbage-answer';
  return outcome(code, 'written', readable(Buffer.from(reply.text)));
}

/**
 * No answer or only a part of one came. After other data, something that is not Votifier may have read the frame. After
 * a reset it is unknown whether the vote arrived, in v1 too: who has read the 256 bytes has no reason for a reset.
 */
function codeWithoutReply(end: ReadResult | undefined, said: string, bareClose: OutcomeCode): OutcomeCode {
  switch (end?.kind) {
    case 'stopped':
      return 'stopped-while-waiting';
    case 'broken':
      return end.code === 'ETIMEDOUT' ? 'no-answer' : 'reset';
    case 'closed':
      return said ? 'garbage-answer' : bareClose;
    default:
      return said && !said.startsWith('{') ? 'garbage-answer' : 'no-answer';
  }
}

/** `read` gets all bytes received so far. Bytes that arrive do not extend the deadline. */
async function readUntil<T extends object>(
  connection: PeerConnection,
  read: (received: Buffer) => T | 'incomplete',
  waiting: Deadline,
): Promise<{ read?: T; received: Buffer; end?: ReadResult }> {
  let received = Buffer.alloc(0);
  for (;;) {
    const next = await connection.next(waiting);
    if (next.kind !== 'bytes') return { received, end: next };
    received = Buffer.concat([received, next.bytes]);
    const result = read(received);
    if (result !== 'incomplete') return { read: result, received };
  }
}
