/**
 * The classes of outcomes and their consequences.
 *
 * - `delivered`: the listener acknowledged the vote or, in v1, closed without an error. Nothing more is sent.
 * - `transient`: the listener did not take the vote. It is retried by the schedule, and counts for the breaker.
 * - `ambiguous`: the vote may have been written, and no valid answer is known. It is retried as often as the owner
 *   allows, and counts for the breaker unless Tallyport itself caused it.
 * - `configuration`: every vote would fail until the owner corrects the settings, so the listener is paused.
 * - `vote-only`: this vote cannot be delivered, but others can. The vote fails.
 * - `none`: Tallyport failed, stopped, or reached a limit of connections. The attempt does not count.
 */
export type OutcomeClass = 'delivered' | 'transient' | 'ambiguous' | 'configuration' | 'vote-only' | 'none';

/** How far an attempt got, in order. `written`: the first byte of the frame was handed to the socket. */
export const STEPS = ['none', 'resolved', 'connected', 'greeted', 'written', 'acknowledged'] as const;
export type Step = (typeof STEPS)[number];

/** Every outcome of an attempt, with its class. Codes are stable: the database, metrics and `--json` contain them. */
export const OUTCOMES = {
  acknowledged: 'delivered',
  'sent-not-confirmed': 'delivered',

  'dns-not-found': 'transient',
  'dns-timeout': 'transient',
  'connection-refused': 'transient',
  'refused-over-ipv6': 'transient',
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
  'http-limited': 'transient',
  'http-not-ready': 'transient',
  'challenge-limited': 'transient',
  'fetch-retry': 'transient',
  'not-fetched': 'transient',

  'closed-without-answer': 'ambiguous',
  reset: 'ambiguous',
  'no-answer': 'ambiguous',
  'garbage-answer': 'ambiguous',
  'http-upgraded': 'ambiguous',
  'http-headers-too-long': 'ambiguous',
  'fetch-unknown': 'ambiguous',
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
  'tls-too-old': 'configuration',
  'tls-expected': 'configuration',
  'certificate-refused': 'configuration',
  'certificate-other-name': 'configuration',
  'certificate-expired': 'configuration',
  'certificate-not-yet-valid': 'configuration',
  'certificate-self-signed': 'configuration',
  'certificate-incomplete': 'configuration',
  'http-redirected': 'configuration',
  'http-sign-in': 'configuration',
  'http-forbidden': 'configuration',
  'http-not-found': 'configuration',
  'http-method-refused': 'configuration',
  'http-votes-refused': 'configuration',
  'http-unverified': 'configuration',
  'http-challenge-refused': 'configuration',
  'challenge-surrounded': 'configuration',
  'challenge-quoted': 'configuration',
  'challenge-compressed': 'configuration',
  'challenge-utf16': 'configuration',
  'challenge-upgraded': 'configuration',
  'challenge-headers-too-long': 'configuration',
  'repeated-vote-faults': 'configuration',
  'never-acknowledged': 'configuration',

  'name-too-long': 'vote-only',
  'frame-too-long': 'vote-only',
  'vote-refused': 'vote-only',
  'fetch-failed': 'vote-only',

  'stopped-before-written': 'none',
  'outgoing-limited': 'none',
  'our-fault': 'none',
} as const satisfies Record<string, OutcomeClass>;

export type OutcomeCode = keyof typeof OUTCOMES;

/**
 * What may answer instead of a Votifier listener. A diagnosis names it as its fault. The codes are stable: the database
 * and `--json` output contain them.
 */
export const OTHER_SERVICES = [
  'http-server',
  'minecraft-server',
  'tls-server',
  'proxy-protocol',
  'other-protocol',
] as const;
export type OtherService = (typeof OTHER_SERVICES)[number];

/** Outcomes of services that did not send Votifier's greeting. For these, Tallyport can detect the protocol. */
const NOT_GREETED: ReadonlySet<OutcomeCode> = new Set(['silent', 'closed-before-greeting', 'not-votifier']);

/** Whether something other than a Votifier listener may have answered. */
export function hasNotGreeted(code: OutcomeCode): boolean {
  return NOT_GREETED.has(code);
}

/** Outcomes without an answer after the vote was written. The listener may have refused the vote. */
export const SILENT_OUTCOMES = [
  'closed-without-answer',
  'reset',
  'no-answer',
] as const satisfies OutcomeCode[];

/** Whether an attempt ended without an answer. If the token or key is wrong, many listeners send no answer. */
export function isSilent({ code, words }: Pick<Outcome, 'code' | 'words'>): boolean {
  return !words && SILENT_OUTCOMES.some((silent) => silent === code);
}

/** Failures of Tallyport itself, and its stop while it waited for an answer. They say nothing about the listener. */
const OURS: ReadonlySet<OutcomeCode> = new Set(['lease-ran-out', 'stopped-while-waiting', 'our-fault']);

/** Whether Tallyport itself caused the outcome (`OURS`). */
export function isOurs({ code }: Pick<Outcome, 'code'>): boolean {
  return OURS.has(code);
}

/** The outcome of one attempt. */
export type Outcome = {
  code: OutcomeCode;
  class: OutcomeClass;
  /** How far the attempt got. */
  reached: Step;
  /** The listener's message, at most 200 printable characters; absent when it sent none. */
  words?: string;
  /** What Tallyport itself found, such as the target of a redirect or the error message of its TLS library. */
  detail?: string;
  /** The delay that the listener requested, in milliseconds (HTTP's Retry-After); at most an hour. */
  retryAfterMs?: number;
};

/** Makes an outcome; its class follows from its code. */
export function outcome(code: OutcomeCode, reached: Step, words?: string): Outcome {
  return { code, class: OUTCOMES[code], reached, ...(words ? { words } : {}) };
}

/** The listener's message and what Tallyport found, without absent or empty fields. */
export function saidIn({
  words,
  detail,
}: {
  words?: string | null | undefined;
  detail?: string | null | undefined;
}): Said {
  return { ...(words ? { words } : {}), ...(detail ? { detail } : {}) };
}
export type Said = Pick<Outcome, 'words' | 'detail'>;

/** The detail of an attempt without an answer at a v1 listener that greeted as one of v2, such as NuVotifier. */
export const GREETS_AS_V2 = 'It greets as Votifier v2.';
