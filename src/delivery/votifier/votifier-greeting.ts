import { printable, readable } from '../../platform/printable.ts';

/** The first line that a listener sends, and the bytes that came after it. */
export type Greeting =
  | { version: 1; banner: string; rest: Buffer }
  | { version: 2; challenge: string; banner: string; rest: Buffer }
  /** The service does not speak Votifier. */
  | { notVotifier: string };

/** A longer first line is not a greeting. Real ones have fewer than 60 bytes. */
const LONGEST_GREETING = 256;
const LINE_FEED = 0x0a;
const OPENING = 'VOTIFIER';

/**
 * A v2 greeting names version 2 and carries a challenge. NuVotifier sends `VOTIFIER 2 <challenge>`; go-votifier
 * and others send `VOTIFIER 2.0 <challenge>`. A v1 listener sends its plugin's own version, which may be `2.9` or `2`,
 * but no challenge after it: the challenge is the difference.
 */
const VERSION_2 = /^VOTIFIER (?:2 +(\S.*)|2\.\S* +(\S+))$/;

/**
 * Reads a listener's greeting from all bytes received so far, however they were split.
 *
 * @returns `'incomplete'` until the line has ended or is too long to be a greeting
 */
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

/** Whether an unfinished line could still have become a greeting. */
export function mayBecomeGreeting(received: Buffer): boolean {
  return OPENING.startsWith(received.toString('latin1', 0, OPENING.length));
}
