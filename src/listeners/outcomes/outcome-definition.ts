import type { Text } from '../../language/t.ts';
import { LONGEST_USUAL_NAME } from '../delivery-limits.ts';
import type { Explanation } from '../explanation.ts';

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
export const OUTCOME_CLASSES = [
  'delivered',
  'transient',
  'ambiguous',
  'configuration',
  'vote-only',
  'none',
] as const;
export type OutcomeClass = (typeof OUTCOME_CLASSES)[number];

/** In this order. An HTTP listener has no protocol version; its signature is `key-or-token`. */
export type DiagnosisStep =
  | 'name-resolution'
  | 'address-policy'
  | 'connecting'
  | 'greeting'
  | 'protocol-version'
  | 'key-or-token'
  | 'acknowledgement';

/** Cases with another explanation, as docs/delivery.md names them. */
export const SPECIAL_CASES = {
  v1: 'Votifier v1',
  slowV1: 'Votifier v1, if it took votes before or greets as v2',
  provenVotifier: 'Votifier, after it has taken a vote',
  provenHttp: 'HTTP, after it has taken a vote',
  http: 'HTTP',
  fetch: 'Fetch',
  longName: `Votifier and Fetch, if the name has over ${LONGEST_USUAL_NAME} characters`,
} as const;
export type SpecialCase = keyof typeof SPECIAL_CASES;

/** Whatever depends on an outcome is read from here. */
export type OutcomeDefinition = {
  class: OutcomeClass;
  /** Absent if it is no known fault. Stable: `--json` output contains it. */
  fault?: string;
  /** By default `greeting` for a fault before the vote was written, else `acknowledgement`. */
  step?: DiagnosisStep;
  /** The refusal may be because of the player. */
  mayBeOfOneVote?: true;
  /** No answer came after the vote was written: it may have been refused. */
  isSilent?: true;
  /** It says nothing about the listener. */
  isOurs?: true;
  /** Votifier's greeting did not come: Tallyport can detect the protocol. */
  hasNotGreeted?: true;
  text: Explanation;
  textFor?: Partial<Record<SpecialCase, Explanation>>;
  /** If a plugin has a token for each service name. */
  textWithName?: (service: string) => Explanation;
  /** Only real votes are sent again automatically. */
  testAdvice?: Text;
};
