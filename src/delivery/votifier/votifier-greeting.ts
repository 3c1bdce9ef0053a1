import { printable, readable } from '../../platform/printable.ts';

/** `rest`: what came after the first line. */
export type Greeting =
  | { version: 1; banner: string; rest: Buffer }
  | { version: 2; challenge: string; banner: string; rest: Buffer }
  /** What the service sent, made readable. */
  | { notVotifier: string };

/** Real greetings have fewer than 60 bytes. */
const LONGEST_GREETING = 256;
const LINE_FEED = 0x0a;
const OPENING = 'VOTIFIER';

/**
 * NuVotifier sends `VOTIFIER 2 <challenge>`; go-votifier and others `VOTIFIER 2.0 <challenge>`. A v1 listener sends the
 * version of its plugin, which may also be `2` or `2.9`, but no challenge.
 */
const VERSION_2 = /^VOTIFIER (?:2 +(\S.*)|2\.\S* +(\S+))$/;

/** From all bytes received so far. */
export function readGreeting(received: Buffer): Greeting | 'incomplete' {
  const end = received.subarray(0, LONGEST_GREETING).indexOf(LINE_FEED);
  if (end === -1) {
    return received.length < LONGEST_GREETING
      ? 'incomplete'
      : { notVotifier: readable(received.subarray(0, LONGEST_GREETING)) };
  }
  const line = received.toString('utf8', 0, end).trimEnd();
  if (line !== OPENING && !line.startsWith(`${OPENING} `))
    return { notVotifier: readable(received.subarray(0, end)) };

  const [, challenge = '', dottedChallenge = ''] = VERSION_2.exec(line) ?? [];
  const greeting = { banner: printable(line), rest: received.subarray(end + 1) };
  return challenge || dottedChallenge
    ? { version: 2, challenge: challenge || dottedChallenge, ...greeting }
    : { version: 1, ...greeting };
}

export function isGreetingStart(received: Buffer): boolean {
  return OPENING.startsWith(received.toString('latin1', 0, OPENING.length));
}
