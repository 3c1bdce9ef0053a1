import type { OutcomeCode } from '../../listeners/outcomes.ts';

/** A listener's whole answer to a frame. Its text is untrusted: show it with printable.ts only. */
export type Reply =
  | { status: 'ok' }
  | { status: 'error'; text: string }
  /** Not JSON, or JSON that says neither `ok` nor `error`. */
  | { status: 'garbage'; text: string };

const LONGEST_REPLY = 4_096;

/**
 * Reads a listener's answer from all bytes received so far, however they were split. An answer is one JSON
 * object; it ends with its last brace, so that nothing depends on a line feed or on the connection's end. What
 * follows it is ignored.
 *
 * @returns `'incomplete'` until the object has ended, a line that is no object has ended, or 4 KiB were read
 */
export function readReply(received: Buffer): Reply | 'incomplete' {
  const bytes = received.subarray(0, LONGEST_REPLY);
  const text = bytes.toString('utf8').trimStart();
  const end = text.startsWith('{') ? objectEnd(text) : text.indexOf('\n');
  if (end !== -1) return parseReply(text.slice(0, end + 1));
  return received.length < LONGEST_REPLY ? 'incomplete' : { status: 'garbage', text };
}

/** The index of the brace that closes the object at the beginning of `text`, or -1. Braces in strings do not count. */
function objectEnd(text: string): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function parseReply(text: string): Reply {
  const answer = parseObject(text);
  if (answer?.status === 'ok') return { status: 'ok' };
  if (answer?.status === 'error') return { status: 'error', text: errorText(answer) || text };
  return { status: 'garbage', text };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** NuVotifier sends `cause` and `error`, without `error` when its plugin failed; others send `errorMessage`. */
function errorText({ cause, error, errorMessage }: Record<string, unknown>): string {
  const texts = [cause, error, errorMessage].filter((text) => typeof text === 'string' && text.trim() !== '');
  return [...new Set(texts)].join(': ');
}

/**
 * What the error texts of the known listeners mean (docs/delivery.md names the listeners). The more specific ones come first: the
 * text for an unknown service repeats the name of the service.
 */
const MEANINGS: [RegExp, OutcomeCode][] = [
  [/only accepts well-formed votifier v2|v1 protocol is disabled/i, 'v2-only'],
  [/unknown service|no token configured for service/i, 'unknown-service'],
  [/adjusted frame length exceeds/i, 'frame-too-long'],
  [/username too long/i, 'name-too-long'],
  [/\bchallenge\b/i, 'challenge-refused'],
  [/\bsignature\b/i, 'bad-signature'],
  [/\bdecrypt/i, 'key-invalid'],
];

/**
 * The outcome for an error answer.
 *
 * @param username - the player's name. A listener may repeat it in its text, and a player called "signature"
 *   must not be able to pause the listener; so a pattern that the name itself matches is ignored.
 */
export function meaningOfError(text: string, username: string): OutcomeCode {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text) && !pattern.test(username));
  return meaning?.[1] ?? 'unknown-error';
}
