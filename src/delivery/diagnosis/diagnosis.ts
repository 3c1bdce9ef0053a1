import type { Protocol } from '../../listeners/listener.ts';
import type { OtherService, OutcomeClass, OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';

/**
 * The steps of a diagnosis, in this order. An HTTP listener has no protocol version; its signature is `key-or-token`.
 */
export type DiagnosisStep =
  | 'name-resolution'
  | 'address-policy'
  | 'connecting'
  | 'greeting'
  | 'protocol-version'
  | 'key-or-token'
  | 'acknowledgement';

/** Called when a step begins. All earlier steps have then succeeded. Must not throw. */
export type OnStep = (step: DiagnosisStep) => void;

/** The first thing that is wrong with a listener, with its cause and what to do about it. */
export type Diagnosis = Explanation & {
  /** The class of the test vote's outcome. `sent-not-confirmed`: a v1 listener closed without an answer. */
  outcome: OutcomeClass | 'sent-not-confirmed';
  /** Whether the listener acknowledged the test vote. If a Votifier v1 listener only closed the connection: false. */
  confirmed: boolean;
  /** null when nothing is known to be wrong. */
  fault: Fault | null;
  /** The step that failed, or the last one that was checked; all earlier steps succeeded. */
  step: DiagnosisStep;
  /** The text that the service answered, at most 200 printable characters. */
  reply?: string;
  /** True if an answer is hidden from the owner, because the service may belong to somebody else. */
  isReplyHidden?: true;
  /** What Tallyport found: a redirect's target, its TLS library's error message, or the `User-Agent` of a take. */
  detail?: string;
};

/**
 * The fault of each outcome of a test vote, and the step that failed. If no step is given, it is `acknowledgement` when
 * the vote was written, and `greeting` when it was not. If an outcome is missing here, it is not a known fault. The
 * codes are stable: `--json` output contains them.
 */
export const FAULTS = {
  'dns-not-found': ['dns-not-found', 'name-resolution'],
  'dns-timeout': ['dns-not-found', 'name-resolution'],
  'address-refused': ['address-refused', 'address-policy'],
  'connection-refused': ['connection-refused', 'connecting'],
  'refused-over-ipv6': ['connection-refused', 'connecting'],
  'firewall-rejected': ['firewall-rejected', 'connecting'],
  unreachable: ['unreachable', 'connecting'],
  'connect-timeout': ['connect-timeout', 'connecting'],
  silent: ['silent', 'greeting'],
  'not-votifier': ['other-protocol', 'greeting'],
  'not-http': ['other-protocol', 'greeting'],
  'tls-failed': ['tls-server', 'greeting'],
  'tls-too-old': ['tls-server', 'greeting'],
  'tls-expected': ['tls-server', 'greeting'],
  'certificate-refused': ['tls-server', 'greeting'],
  'certificate-other-name': ['tls-server', 'greeting'],
  'certificate-expired': ['tls-server', 'greeting'],
  'certificate-not-yet-valid': ['tls-server', 'greeting'],
  'certificate-self-signed': ['tls-server', 'greeting'],
  'certificate-incomplete': ['tls-server', 'greeting'],
  'http-unverified': ['http-unverified', 'acknowledgement'],
  'http-challenge-refused': ['http-unverified', 'acknowledgement'],
  'challenge-surrounded': ['http-unverified', 'acknowledgement'],
  'challenge-quoted': ['http-unverified', 'acknowledgement'],
  'challenge-compressed': ['http-unverified', 'acknowledgement'],
  'challenge-utf16': ['http-unverified', 'acknowledgement'],
  'challenge-upgraded': ['http-unverified', 'acknowledgement'],
  'challenge-headers-too-long': ['http-unverified', 'acknowledgement'],
  'http-unavailable': ['http-server'],
  'http-not-ready': ['http-server'],
  'http-limited': ['http-server'],
  'challenge-limited': ['http-server'],
  'http-redirected': ['http-server'],
  'http-sign-in': ['http-server'],
  'http-not-found': ['http-server'],
  'http-method-refused': ['http-server'],
  'too-slow': ['too-slow'],
  'no-answer': ['too-slow'],
  'closed-before-greeting': ['closed-without-answer'],
  'closed-before-written': ['closed-without-answer'],
  'closed-without-answer': ['closed-without-answer'],
  reset: ['closed-without-answer'],
  'unknown-error': ['listener-error'],
  'v1-only': ['v1-only', 'protocol-version'],
  'v2-only': ['v2-only', 'protocol-version'],
  'key-invalid': ['key-invalid', 'key-or-token'],
  'bad-signature': ['bad-signature', 'key-or-token'],
  'http-forbidden': ['bad-signature', 'key-or-token'],
  'unknown-service': ['unknown-service', 'key-or-token'],
  'challenge-refused': ['challenge-refused', 'acknowledgement'],
  'name-too-long': ['name-too-long', 'acknowledgement'],
  'frame-too-long': ['name-too-long', 'acknowledgement'],
  'garbage-answer': ['garbage-answer', 'acknowledgement'],
  'http-upgraded': ['garbage-answer', 'acknowledgement'],
  'http-headers-too-long': ['garbage-answer', 'acknowledgement'],
  'vote-refused': ['vote-refused', 'acknowledgement'],
  'http-votes-refused': ['vote-refused', 'acknowledgement'],
  'not-fetched': ['not-fetched', 'acknowledgement'],
} as const satisfies Partial<Record<OutcomeCode, [fault: string, step?: DiagnosisStep]>>;

type Faults = typeof FAULTS;
export type Fault = Faults[keyof Faults][0] | OtherService;

/**
 * The fault of an outcome, null if it is not a known fault, and the step at which the test vote stopped.
 *
 * @param isSlow - whether a v1 listener that neither answers nor closes the connection is slow (`isSlowV1`); otherwise
 *   its key is probably different
 */
export function faultOf(
  code: OutcomeCode,
  protocol: Protocol,
  { isWritten, isSlow }: { isWritten: boolean; isSlow: boolean },
): { fault: Fault | null; step: DiagnosisStep } {
  const cause = code === 'no-answer' && protocol === 'votifier-v1' && !isSlow ? 'key-invalid' : code;
  if (isFault(cause)) {
    const [fault, step = isWritten ? 'acknowledgement' : 'greeting'] = FAULTS[cause];
    return { fault, step };
  }
  if (code === 'outgoing-limited') return { fault: null, step: 'connecting' };
  // If a v1 listener closes without an answer, it is unknown whether the key is right.
  return { fault: null, step: code === 'sent-not-confirmed' ? 'key-or-token' : 'acknowledgement' };
}

function isFault(code: OutcomeCode): code is keyof Faults {
  return code in FAULTS;
}
