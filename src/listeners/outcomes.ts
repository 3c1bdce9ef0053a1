/**
 * What the end of an attempt means and what follows from it.
 *
 * - `delivered`: acknowledged (or, in v1, cleanly closed); done.
 * - `transient`: the frame was not taken; again by the schedule; counts for the breaker.
 * - `ambiguous`: the frame was written and no answer is known; again, as often as the owner allows; counts for
 *   the breaker, unless Tallyport itself caused it.
 * - `configuration`: it will fail for every vote until the owner mends it; the listener is paused.
 * - `vote-only`: this vote cannot be taken, others can; the vote is failed.
 * - `none`: a fault or a stop of ours; the attempt does not count.
 */
export type OutcomeClass = 'delivered' | 'transient' | 'ambiguous' | 'configuration' | 'vote-only' | 'none';

/** How far an attempt got, in order. `written`: the first byte of the frame was handed to the socket. */
export const STEPS = ['none', 'resolved', 'connected', 'greeted', 'written', 'acknowledged'] as const;
export type Step = (typeof STEPS)[number];

/**
 * Every end that an attempt can have, with its class. The codes are stable: they stand in the database, in
 * metrics and in `--json` output.
 */
export const OUTCOMES = {
  acknowledged: 'delivered',
  'sent-not-confirmed': 'delivered',

  'dns-not-found': 'transient',
  'dns-timeout': 'transient',
  'connection-refused': 'transient',
  'firewall-rejected': 'transient',
  unreachable: 'transient',
  'connect-timeout': 'transient',
  silent: 'transient',
  'closed-before-greeting': 'transient',
  'closed-before-written': 'transient',
  'too-slow': 'transient',
  'unknown-error': 'transient',
  'challenge-refused': 'transient',
  'http-unavailable': 'transient',
  'http-not-ready': 'transient',

  'closed-without-answer': 'ambiguous',
  reset: 'ambiguous',
  'no-answer': 'ambiguous',
  'garbage-answer': 'ambiguous',
  'lease-ran-out': 'ambiguous',
  'stopped-while-waiting': 'ambiguous',

  'bad-signature': 'configuration',
  'unknown-service': 'configuration',
  'key-invalid': 'configuration',
  'not-votifier': 'configuration',
  'v1-only': 'configuration',
  'v2-only': 'configuration',
  'address-refused': 'configuration',
  'not-http': 'configuration',
  'tls-failed': 'configuration',
  'certificate-refused': 'configuration',
  'http-redirected': 'configuration',
  'http-forbidden': 'configuration',
  'http-not-found': 'configuration',
  'http-unverified': 'configuration',
  'repeated-vote-faults': 'configuration',
  'never-acknowledged': 'configuration',

  'name-too-long': 'vote-only',
  'frame-too-long': 'vote-only',
  'vote-refused': 'vote-only',

  'stopped-before-written': 'none',
  'outgoing-limited': 'none',
  'our-fault': 'none',
} as const satisfies Record<string, OutcomeClass>;

export type OutcomeCode = keyof typeof OUTCOMES;

/** Ends after the frame was written in which the listener may have refused it without a word. */
export const SILENT_OUTCOMES = [
  'closed-without-answer',
  'reset',
  'no-answer',
] as const satisfies OutcomeCode[];

/** Whether a listener ended an attempt without a word, as many do when the token or key is wrong. */
export function isSilent({ code, words }: Pick<Outcome, 'code' | 'words'>): boolean {
  return !words && SILENT_OUTCOMES.some((silent) => silent === code);
}

/** Ends that Tallyport caused: they say nothing about the listener, whatever became of the vote. */
const OURS: ReadonlySet<OutcomeCode> = new Set(['lease-ran-out', 'stopped-while-waiting', 'our-fault']);

/** Whether an attempt ended so because of Tallyport itself, not of the listener. */
export function isOurs({ code }: Pick<Outcome, 'code'>): boolean {
  return OURS.has(code);
}

/** The end of one attempt. */
export type Outcome = {
  code: OutcomeCode;
  class: OutcomeClass;
  /** How far it got. */
  reached: Step;
  /** What the listener said, at most 200 printable characters; absent when it said nothing. */
  words?: string;
  /** What Tallyport itself found: where a redirect leads, or a fault in the words of its TLS library. */
  detail?: string;
  /** For how long the listener asked to be left alone, in milliseconds (HTTP's Retry-After), at most an hour. */
  retryAfterMs?: number;
};

/** Makes an outcome; its class follows from its code. */
export function outcome(code: OutcomeCode, reached: Step, words?: string): Outcome {
  return { code, class: OUTCOMES[code], reached, ...(words ? { words } : {}) };
}
